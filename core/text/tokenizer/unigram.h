// Unigram: of all ways to cut a word into tokens, the one whose scores (log p) sum to most. Source:
// Kudo 2018; semantics of Hugging Face `tokenizers` (models/unigram) and, with
// TokenizerSpec::sentencepiece, of SentencePiece's unigram model: scores summed in single
// precision, and user-defined symbols nearly free.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/byte_trie.h"
#include "core/text/tokenizer/word_model.h"

namespace triescope::tokenizer {

class Unigram final : public WordModel {
 public:
  // Error{kCorruption}: the scores are not those of the vocabulary's tokens.
  explicit Unigram(const TokenizerSpec& spec);

  // O(n) times the length of the longest token.
  void encode(std::string_view word, std::vector<std::int32_t>& out,
              WordScratch& scratch) const override;

 private:
  void find_best(std::string_view word, std::vector<WordScratch::Place>& places) const;
  std::int32_t id_of(std::string_view token) const;  // -1 = no such token
  void append_unknown(std::string_view text, std::vector<std::int32_t>& out) const;
  double step_score(std::int32_t id, std::size_t length) const;

  ByteTrie trie_;
  std::vector<double> scores_;
  std::vector<bool> user_defined_;      // by id; empty: none is
  std::vector<std::int32_t> byte_ids_;  // <0x00> … <0xFF>; empty: no byte fallback
  std::int32_t unk_id_;
  double unk_score_, most_;
  bool single_precision_;
};

}  // namespace triescope::tokenizer
