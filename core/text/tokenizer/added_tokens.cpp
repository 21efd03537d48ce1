#include "core/text/tokenizer/added_tokens.h"

#include <algorithm>

#include "core/base/unicode.h"

namespace triescope::tokenizer {

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens,
                         const std::vector<std::string>& contents, bool split_special)
    : tokens_(tokens), split_special_(split_special), nodes_(1) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (contents[i].empty()) continue;
    first_[static_cast<unsigned char>(contents[i][0])] = true;
    std::int32_t node = 0;
    for (const char c : contents[i]) {
      const auto byte = static_cast<unsigned char>(c);
      std::int32_t next = child(node, byte);
      if (next < 0) {
        next = static_cast<std::int32_t>(nodes_.size());
        auto& list = nodes_[static_cast<std::size_t>(node)].next;
        list.insert(std::lower_bound(list.begin(), list.end(), std::pair(byte, std::int32_t{0})),
                    {byte, next});
        nodes_.emplace_back();
      }
      node = next;
    }
    nodes_[static_cast<std::size_t>(node)].token = static_cast<std::int32_t>(i);
  }
}

std::int32_t AddedTokens::child(std::int32_t node, unsigned char byte) const {
  const auto& list = nodes_[static_cast<std::size_t>(node)].next;
  const auto found = std::lower_bound(list.begin(), list.end(), std::pair(byte, std::int32_t{0}));
  return found != list.end() && found->first == byte ? found->second : -1;
}

std::vector<AddedTokens::Match> AddedTokens::find(std::string_view text) const {
  std::vector<Match> matches;
  std::size_t taken = 0;  // end of the last match
  for (std::size_t at = 0; at < text.size();) {
    if (!first_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    std::int32_t node = 0, best = -1;
    std::size_t best_end = at;
    for (std::size_t i = at; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node < 0) break;
      if (nodes_[static_cast<std::size_t>(node)].token >= 0) {
        best = nodes_[static_cast<std::size_t>(node)].token;
        best_end = i + 1;
      }
    }
    if (best < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(best)];
    std::size_t begin = at, end = best_end;
    at = best_end;
    if (split_special_ && token.special) continue;
    if (token.single_word) {
      const bool left = begin > 0 && is_word(decode_utf8(text, utf8_before(text, begin)));
      const bool right = end < text.size() && is_word(decode_utf8(text, end));
      if (left || right) continue;
    }
    if (token.lstrip)
      while (begin > taken && is_whitespace(decode_utf8(text, utf8_before(text, begin))))
        begin = utf8_before(text, begin);
    if (token.rstrip)
      while (end < text.size() && is_whitespace(decode_utf8(text, end)))
        end += utf8_length(text, end);
    matches.push_back({begin, end, token.id});
    taken = end;
  }
  return matches;
}

}  // namespace triescope::tokenizer
