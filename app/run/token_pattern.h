// TokenPattern: a regular expression over the text of one token, for breakpoints. ECMAScript's
// syntax, over characters rather than bytes; searched for anywhere in the token. Whatever the pattern,
// a match takes time linear in the token's length: no backtracking, so back references, look-aheads and
// many repetitions in braces are refused. Immutable, safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace triescope::app {

class TokenPattern {
 public:
  static constexpr std::size_t kMaxPatternBytes = 200, kMaxTokenChars = 256, kMaxRepetitions = 100;

  // Error{kInvalidArgument}: empty, too long, not a regular expression, or one that only backtracking
  // could match; says which.
  explicit TokenPattern(const std::string& pattern);

  // Of a token longer than kMaxTokenChars the first ones are looked at. Bytes that are not UTF-8 are
  // U+FFFD each.
  bool matches(std::string_view token) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace triescope::app
