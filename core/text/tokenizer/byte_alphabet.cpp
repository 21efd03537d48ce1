#include "core/text/tokenizer/byte_alphabet.h"

#include <array>
#include <unordered_map>

#include "core/base/unicode.h"

namespace triescope::tokenizer {
namespace {

struct ByteAlphabet {
  std::array<std::string, 256> texts;
  std::unordered_map<char32_t, unsigned char> bytes;
  ByteAlphabet() {
    char32_t next = 256;
    for (unsigned b = 0; b < 256; ++b) {
      const bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      const char32_t code = printable ? b : next++;
      append_utf8(texts[b], code);
      bytes[code] = static_cast<unsigned char>(b);
    }
  }
};

const ByteAlphabet& alphabet() {
  static const ByteAlphabet instance;
  return instance;
}

}  // namespace

const std::string& byte_to_text(unsigned char byte) { return alphabet().texts[byte]; }

std::string text_to_bytes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto found =
        length ? alphabet().bytes.find(decode_utf8(text, at)) : alphabet().bytes.end();
    if (found == alphabet().bytes.end()) return std::string(text);
    out += static_cast<char>(found->second);
    at += length;
  }
  return out;
}

}  // namespace triescope::tokenizer
