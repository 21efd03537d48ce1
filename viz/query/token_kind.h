// The kind of a token, by its letters: drafters do well on some kinds and badly on others. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace triescope::viz {

enum class TokenKind : std::uint8_t {
  kLetters,      // a letter in it, and no sign of code
  kDigits,       // a digit, no letter
  kPunctuation,  // neither
  kCode,         // a sign that prose hardly has: _ { } [ ] ( ) < > = + * / \ | & ^ % $ # @ ~ ` ;
  kSpace,        // white space alone
  kBytes,        // a part of a character: not UTF-8
};
inline constexpr int kTokenKindCount = static_cast<int>(TokenKind::kBytes) + 1;
const char* to_string(TokenKind kind);  // "letters", "digits", …

// The first of: kSpace, kBytes, kCode, kLetters, kDigits, kPunctuation that fits the bytes.
TokenKind token_kind(std::string_view bytes);

}  // namespace triescope::viz
