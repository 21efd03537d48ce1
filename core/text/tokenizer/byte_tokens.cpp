#include "core/text/tokenizer/byte_tokens.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "core/base/unicode.h"

namespace triescope::tokenizer {

int byte_of(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>') return -1;
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

std::vector<std::int32_t> byte_token_ids(const TokenizerSpec& spec) {
  std::vector<std::int32_t> ids(256, -1);
  std::unordered_set<std::int32_t> outside;
  for (const AddedToken& token : spec.added)
    if (!token.in_model) outside.insert(token.id);
  for (std::size_t id = 0; id < spec.vocab.size(); ++id) {
    const std::string& token = spec.vocab[id];
    const int byte = byte_of(token);
    // A text becomes byte tokens in capitals alone.
    const bool small =
        std::any_of(token.begin(), token.end(), [](char c) { return c >= 'a' && c <= 'f'; });
    if (byte < 0 || small || outside.contains(static_cast<std::int32_t>(id))) continue;
    std::int32_t& there = ids[static_cast<std::size_t>(byte)];
    if (there < 0) there = static_cast<std::int32_t>(id);
  }
  return ids;
}

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
