#include "app/session/token_pattern.h"

#include <algorithm>
#include <regex>

#include "core/base/error.h"
#include "core/base/unicode.h"

namespace triescope::app {
namespace {

constexpr auto kSyntax = std::regex_constants::ECMAScript
#ifdef __GLIBCXX__
                         // Breadth first over the automaton's states: no backtracking, no deep
                         // recursion over the text.
                         | std::regex_constants::__polynomial
#endif
    ;

// The characters of a text, one in each wchar_t, so that . and [] mean characters.
std::wstring characters(std::string_view text, std::size_t most) {
  std::wstring out;
  for (std::size_t at = 0; at < text.size() && out.size() < most; at += utf8_step(text, at))
    out += static_cast<wchar_t>(decode_utf8(text, at));
  return out;
}

// The most that the repetitions in braces repeat a character, multiplied where they nest.
std::size_t most_repetitions(const std::string& pattern) {
  std::size_t product = 1;
  for (std::size_t at = pattern.find('{'); at != std::string::npos;
       at = pattern.find('{', at + 1)) {
    std::size_t most = 1, number = 0;
    for (std::size_t i = at + 1; i < pattern.size() && pattern[i] != '}'; ++i) {
      const bool digit = pattern[i] >= '0' && pattern[i] <= '9';
      number = digit ? std::min<std::size_t>(number * 10 + (pattern[i] - '0'), 100000) : 0;
      most = std::max(most, number);
    }
    product = std::min<std::size_t>(product * most, 100000);
  }
  return product;
}

[[noreturn]] void refuse(const std::string& pattern, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "pattern '" + pattern + "': " + why);
}

const char* reason_of(std::regex_constants::error_type code) {
  namespace rc = std::regex_constants;
  if (code == rc::error_brack) return "a [ or ] has no partner";
  if (code == rc::error_paren)
    return "a ( or ) has no partner, or a *, + or ? has nothing to repeat";
  if (code == rc::error_brace || code == rc::error_badbrace)
    return "the repetition in braces is not one of {n}, {n,} and {n,m}";
  if (code == rc::error_range) return "a range in [] has its ends the wrong way round";
  if (code == rc::error_escape) return "a \\ has nothing to escape; a backslash itself is \\\\";
  if (code == rc::error_badrepeat) return "a *, + or ? has nothing to repeat";
  if (code == rc::error_complexity || code == rc::error_backref)
    return "back references are not supported";
  if (code == rc::error_space || code == rc::error_stack)
    return "it is too large: take smaller repetitions";
  return "it is not a regular expression of ECMAScript's syntax";
}

}  // namespace

struct TokenPattern::Compiled {
  std::wregex expression;
};

TokenPattern::TokenPattern(const std::string& pattern) {
  if (pattern.empty())
    refuse(pattern, "expected a regular expression, such as ^\\s*[A-Z]; found none");
  if (pattern.size() > kMaxPatternBytes)
    refuse(pattern.substr(0, 20) + "…", "expected at most " + std::to_string(kMaxPatternBytes) +
                                            " bytes, found " + std::to_string(pattern.size()));
  if (invalid_utf8_offset(pattern) != std::string::npos) refuse("…", "expected UTF-8");
  // Each look-ahead searches by itself, and nested ones multiply.
  if (pattern.find("(?=") != std::string::npos || pattern.find("(?!") != std::string::npos)
    refuse(pattern, "look-aheads are not supported");
  // The automaton has a state for each repetition.
  if (most_repetitions(pattern) > kMaxRepetitions)
    refuse(pattern, "expected at most " + std::to_string(kMaxRepetitions) +
                        " repetitions in braces, all of them multiplied");
  try {
    compiled_ = std::make_shared<const Compiled>(
        Compiled{std::wregex(characters(pattern, kMaxPatternBytes), kSyntax)});
  } catch (const std::regex_error& error) {
    refuse(pattern, reason_of(error.code()));
  }
}

bool TokenPattern::matches(std::string_view token) const {
  return std::regex_search(characters(token, kMaxTokenChars), compiled_->expression);
}

}  // namespace triescope::app
