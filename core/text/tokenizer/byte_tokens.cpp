#include "core/text/tokenizer/byte_tokens.h"

#include <algorithm>
#include <unordered_set>

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

}  // namespace triescope::tokenizer
