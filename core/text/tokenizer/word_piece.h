// WordPiece: the longest token that begins a word, then the longest that goes on, to its end; a word
// that cannot be cut so is unknown. Source: Hugging Face `tokenizers` (models/wordpiece).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/byte_trie.h"
#include "core/text/tokenizer/word_model.h"

namespace triescope::tokenizer {

class WordPiece final : public WordModel {
 public:
  // Error{kCorruption}: no unknown token.
  explicit WordPiece(const TokenizerSpec& spec);
  void encode(std::string_view word, std::vector<std::int32_t>& out,
              WordScratch& scratch) const override;

 private:
  ByteTrie trie_;
  std::int32_t inner_;  // the node behind the prefix of what goes on a word; kNone: no such token
  std::size_t max_characters_;
  std::int32_t unk_id_;
};

}  // namespace triescope::tokenizer
