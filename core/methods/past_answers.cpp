#include "core/methods/past_answers.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/base/unicode.h"
#include "core/capture/capture.h"
#include "core/lookup/documents.h"

namespace triescope {
namespace {

namespace fs = std::filesystem;

bool is_capture(const fs::path& path) { return path.extension() == ".tscap"; }

std::vector<fs::path> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::tuple<fs::file_time_type, std::string>> found;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // a file that vanished meanwhile has no time
    const bool takes = is_capture(at->path()) || at->path().extension() == ".txt";
    if (takes && at->is_regular_file(gone))
      found.emplace_back(at->last_write_time(gone), at->path().string());
  }
  if (error)
    throw Error(ErrorCode::kNotFound, path + ": cannot read the folder: " + error.message());
  std::ranges::sort(found);
  std::vector<fs::path> files;
  for (const auto& [time, name] : found) files.emplace_back(name);
  return files;
}

// The best text of a capture; empty where none was returned.
std::string answer_of(const std::string& path) {
  const auto capture = capture::Capture::open(path);
  std::string text;
  for (const capture::SequenceRow& row : capture->sequences()) {
    if (row.rank != 0) continue;
    text.clear();
    for (const std::int32_t token : row.tokens) text += capture->piece(token);
  }
  // A text that a cap ended may lack the last bytes of a character.
  text.resize(std::min(invalid_utf8_offset(text), text.size()));
  return text;
}

}  // namespace

std::vector<std::vector<std::int32_t>> read_past_answers(
    const std::string& path, std::size_t most_tokens,
    const std::function<std::vector<std::int32_t>(std::string_view)>& encode) {
  std::vector<std::vector<std::int32_t>> newest_first;
  std::size_t tokens = 0;
  auto files = files_of(path);
  std::ranges::reverse(files);
  for (const fs::path& file : files) {
    std::string text =
        is_capture(file) ? answer_of(file.string()) : read_text_file(file.string(), "a text file");
    std::vector<std::string_view> documents;
    if (is_capture(file)) {
      documents.push_back(text);
    } else {
      for (std::string_view rest = text; !rest.empty();) documents.push_back(take_document(rest));
    }
    for (; !documents.empty(); documents.pop_back()) {
      std::vector<std::int32_t> answer = encode(documents.back());
      if (answer.empty()) continue;
      tokens += answer.size();
      if (tokens > most_tokens) {
        std::ranges::reverse(newest_first);
        return newest_first;
      }
      newest_first.push_back(std::move(answer));
    }
  }
  std::ranges::reverse(newest_first);
  return newest_first;
}

}  // namespace triescope
