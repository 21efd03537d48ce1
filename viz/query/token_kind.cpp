#include "viz/query/token_kind.h"

#include "core/base/unicode.h"

namespace triescope::viz {

const char* to_string(TokenKind kind) {
  static constexpr const char* kNames[] = {"letters", "digits",      "punctuation",
                                           "code",    "white space", "bytes"};
  return kNames[static_cast<int>(kind)];
}

TokenKind token_kind(std::string_view bytes) {
  if (invalid_utf8_offset(bytes) != std::string_view::npos) return TokenKind::kBytes;
  constexpr std::string_view kCodeSigns = "_{}[]()<>=+*/\\|&^%$#@~`;";
  bool visible = false, letter = false, digit = false;
  for (std::size_t at = 0; at < bytes.size(); at += utf8_step(bytes, at)) {
    const char32_t code = decode_utf8(bytes, at);
    if (is_whitespace(code)) continue;
    visible = true;
    if (code < 0x80 && kCodeSigns.find(static_cast<char>(code)) != std::string_view::npos)
      return TokenKind::kCode;
    if (code >= '0' && code <= '9')
      digit = true;
    else if (is_word(code))
      letter = true;
  }
  if (!visible) return TokenKind::kSpace;
  return letter ? TokenKind::kLetters : digit ? TokenKind::kDigits : TokenKind::kPunctuation;
}

}  // namespace triescope::viz
