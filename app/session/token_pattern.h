// TokenPattern: a regular expression over the text of one token, for breakpoints, in ECMAScript's
// syntax, over characters rather than bytes. It is searched for anywhere in the token. Whatever the
// pattern, a match takes time linear in the token's length: there is no backtracking, so back
// references, look-aheads and many repetitions in braces are refused. Immutable, safe from any
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace triescope::app {

class TokenPattern {
 public:
  static constexpr std::size_t kMaxPatternBytes = 200, kMaxTokenChars = 256, kMaxRepetitions = 100;

  // Error{kInvalidArgument}: the pattern is empty, too long, not a regular expression, or one that
  // only backtracking could match; says which.
  explicit TokenPattern(const std::string& pattern);

  // Only the first kMaxTokenChars characters of a token are searched. Bytes that are not UTF-8 are
  // U+FFFD each.
  bool matches(std::string_view token) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace triescope::app
