#include "app/window/workspace/document_names.h"

#include <filesystem>

#include "core/capture/run_fields.h"
#include "viz/text/token_text.h"

namespace triescope::app {

std::string first_words(std::string_view text, std::size_t most) {
  std::string line;
  for (const char c : viz::plain_text(text)) {
    const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!space)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  std::size_t characters = 0, word = 0, at = 0;
  for (; at < line.size() && characters < most; ++characters) {
    if (line[at] == ' ') word = at;
    const std::size_t length = viz::utf8_length(line, at);
    at += length > 0 ? length : 1;
  }
  if (at >= line.size()) return line;
  return line.substr(0, line[at] == ' ' || word == 0 ? at : word) + "…";
}

std::string recent_name(const RecentCapture& recent) {
  return recent.prompt.empty() ? std::filesystem::path(recent.path).filename().string()
                               : recent.prompt;
}

std::string window_title(const capture::RunInfo& run) {
  std::string title;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) title += (title.empty() ? "" : " · ") + part;
  };
  add(capture::RunFields(run.model_json).text("name"));
  add(run.method_title.empty() ? run.method : run.method_title);
  add(first_words(run.prompt_text));
  return title + (title.empty() ? "triescope" : " - triescope");
}

}  // namespace triescope::app
