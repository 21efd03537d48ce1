#include "app/window/workspace/messages.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace triescope::app {
namespace {
constexpr std::size_t kMaxMessages = 500;
}  // namespace

void Messages::say(LogLevel level, const std::string& said, std::uint64_t about) {
  const std::string text = in_window_words(said);
  all.push_back({all.empty() ? 1 : all.back().serial + 1, level, text, about});
  if (all.size() > kMaxMessages) all.erase(all.begin());
  if (level == LogLevel::kError) problems.push_back(text);
}

void Messages::failed(Action action, const std::string& why, std::uint64_t about) {
  say(LogLevel::kError, why, about);
  failures_.emplace_back(action, all.back().text);
}

void Messages::succeeded(Action action) {
  for (const auto& [of, text] : failures_)
    if (of == action)
      if (const auto found = std::ranges::find(problems, text); found != problems.end())
        problems.erase(found);
  std::erase_if(failures_, [&](const auto& failure) { return failure.first == action; });
}

std::string Messages::newest(std::uint64_t shown) const {
  for (auto message = all.rbegin(); message != all.rend() && message->serial > before_run_;
       ++message)
    if (message->document == 0 || message->document == shown) return message->text;
  return "";
}

void Messages::begin_run() {
  problems.clear();
  failures_.clear();
  before_run_ = all.empty() ? 0 : all.back().serial;
}

namespace {

// Longer options come first, because an option may begin with another one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kWords = {{
    {"with --draft PATH, or in the run bar", "in the run bar, below the method"},
    {"with --draft MODEL, or in the run bar", "in the run bar, below the method"},
    {"--draft PATH", "the draft field of the run bar"},
    {"--draft", "the draft field of the run bar"},
    {"or pass --model with", "or open"},
    {"one of `triescope info --list`", "one of the run bar's list"},
    {"--model", "the run bar's model"},
    {"which --method ", "which method "},
    {"--method ", "method "},
    {"--prompt-ids 1,2,3, or in the window's prompt field", "1, 2, 3 in the prompt field"},
    {"give --prompt some text", "type a prompt"},
    {"--prompt-ids", "a prompt of token ids"},
    {"--prompt", "the prompt"},
    {"try --set ", "try "},
    {"(--set ", "("},
    {"--set ", ""},
    {"leave --chat out", "untick Chat template"},
    {"--max-new-tokens", "max_new_tokens"},
    {"(--chat-template FILE)", "(open a .jinja file)"},
}};

}  // namespace

std::string in_window_words(std::string text) {
  for (const auto& [option, words] : kWords)
    for (std::size_t at = text.find(option); at != std::string::npos;
         at = text.find(option, at + words.size()))
      text.replace(at, option.size(), words);
  return text;
}

}  // namespace triescope::app
