#include "app/window/workspace/window_words.h"

#include <array>
#include <string_view>
#include <utility>

namespace triescope::app {
namespace {

// Longer options come first, because an option may begin with another one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kWords = {{
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
