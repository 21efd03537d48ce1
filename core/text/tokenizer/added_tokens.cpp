#include "core/text/tokenizer/added_tokens.h"

#include "core/base/unicode.h"

namespace triescope::tokenizer {

namespace {

std::vector<std::pair<std::string_view, std::int32_t>> places(
    const std::vector<std::string>& contents) {
  std::vector<std::pair<std::string_view, std::int32_t>> entries;
  for (std::size_t i = 0; i < contents.size(); ++i)
    entries.emplace_back(contents[i], static_cast<std::int32_t>(i));
  return entries;
}

}  // namespace

AddedTokens::AddedTokens(const std::vector<AddedToken>& tokens,
                         const std::vector<std::string>& contents, bool split_special)
    : tokens_(tokens), split_special_(split_special), trie_(places(contents)) {
  for (const std::string& content : contents)
    if (!content.empty()) first_[static_cast<unsigned char>(content[0])] = true;
}

std::vector<AddedTokens::Match> AddedTokens::find(std::string_view text) const {
  std::vector<Match> matches;
  std::size_t taken = 0;  // end of the last match
  for (std::size_t at = 0; at < text.size();) {
    if (!first_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    std::int32_t node = trie_.root(), best = -1;
    std::size_t best_end = at;
    for (std::size_t i = at; i < text.size(); ++i) {
      node = trie_.next(node, static_cast<unsigned char>(text[i]));
      if (node < 0) break;
      if (trie_.value(node) >= 0) {
        best = trie_.value(node);
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
