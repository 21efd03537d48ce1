// Finds added (special) tokens in a text: leftmost first, then the longest. Immutable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/byte_trie.h"
#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

class AddedTokens {
 public:
  struct Match {
    // In bytes, with the white space that lstrip and rstrip take. A match may begin before the end
    // of the previous one, where that took white space that belongs to this token.
    std::size_t begin, end;
    std::int32_t id;
  };
  // `contents`: the text to look for, one for each entry of `tokens`. `split_special`: special
  // tokens are not matched.
  AddedTokens(const std::vector<AddedToken>& tokens, const std::vector<std::string>& contents,
              bool split_special = false);
  std::vector<Match> find(std::string_view text) const;

 private:
  std::vector<AddedToken> tokens_;
  bool split_special_;
  ByteTrie trie_;  // values: places in tokens_
  bool first_[256] = {};
};

}  // namespace triescope::tokenizer
