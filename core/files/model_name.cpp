#include "core/files/model_name.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

namespace triescope::formats {
namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// The words of a text in lower case: letters and digits between anything else.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : lower_case(text)) {
    const bool part = is_word_character(c);
    if (part && !within) words.emplace_back();
    if (part) words.back() += c;
    within = part;
  }
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c); });
}

// Whether a word names the type of a file's weights: "q4_1", "q4_k_m", "iq4_nl", "bf16", "f32".
bool is_type(std::string_view word) {
  if (word == "bf16" || word == "mxfp4") return true;
  const bool i = word.size() > 2 && word[0] == 'i' && word[1] == 'q';
  if (i) word.remove_prefix(1);
  return word.size() >= 2 && (word[0] == 'q' || (word[0] == 'f' && is_number(word.substr(1)))) &&
         std::isdigit(static_cast<unsigned char>(word[1]));
}

// The file's name without ".gguf", "-00001-of-00002" and the type at the end.
std::string stem_of(std::string_view path) {
  std::string stem(path.substr(path.find_last_of('/') + 1));
  const auto drop_last = [&](std::size_t length) { stem.resize(stem.size() - length); };
  if (lower_case(stem).ends_with(".gguf")) drop_last(5);
  constexpr std::string_view kShard = "-00001-of-00002";
  if (stem.size() > kShard.size()) {
    const std::string end = stem.substr(stem.size() - kShard.size());
    if (end[0] == '-' && is_number(end.substr(1, 5)) && end.substr(6, 4) == "-of-" &&
        is_number(end.substr(10)))
      drop_last(kShard.size());
  }
  // The type is one word between '-' or '.', with '_' in it.
  const std::size_t at = stem.find_last_of("-.");
  if (at != std::string::npos && at > 0 && is_type(lower_case(stem.substr(at + 1))))
    stem.resize(at);
  return stem;
}

}  // namespace

std::string gguf_model_name(std::string_view general_name, std::string_view path) {
  const std::string stem = stem_of(path);
  const std::vector<std::string> said = words_of(general_name), file = words_of(stem);
  // These words may be in any file's name.
  const bool telling = std::ranges::any_of(file, [](const std::string& word) {
    return word != "model" && word != "ggml" && word != "gguf" && word != "merged" &&
           !is_number(word) && !is_type(word);
  });
  if (said.empty()) return telling ? stem : std::string(path.substr(path.find_last_of('/') + 1));
  const bool in_file = std::ranges::all_of(
      said, [&](const std::string& word) { return std::ranges::find(file, word) != file.end(); });
  return !telling || in_file ? std::string(general_name) : stem;
}

std::string folder_model_name(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ec;
  fs::path path = fs::absolute(folder, ec);  // "." has no name of its own
  path = (ec ? fs::path(folder) : path).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  constexpr std::string_view kModels = "models--", kSeparator = "--";
  const std::string repository = path.parent_path().parent_path().filename().string();
  if (path.parent_path().filename() != "snapshots" || !repository.starts_with(kModels) ||
      repository.size() == kModels.size())
    return path.filename().string();
  std::string name = repository.substr(kModels.size());
  // A name may itself contain "--"; the first one separates it from its publisher.
  if (const std::size_t at = name.find(kSeparator); at != std::string::npos)
    name.replace(at, kSeparator.size(), "/");
  return name;
}

}  // namespace triescope::formats
