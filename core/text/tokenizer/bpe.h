// Byte-pair encoding of one word. Source: Sennrich et al. 2016; semantics of Hugging Face `tokenizers`
// (models/bpe).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/text/tokenizer/word_model.h"

namespace triescope::tokenizer {

class Bpe final : public WordModel {
 public:
  using Symbol = WordScratch::Symbol;  // rank kNoMerge: none
  using Scratch = WordScratch;

  explicit Bpe(const TokenizerSpec& spec);

  // Appends the ids of `word` (valid UTF-8, in the vocabulary's own spelling). O(n log n).
  void encode(std::string_view word, std::vector<std::int32_t>& out,
              Scratch& scratch) const override;
  // No merge crosses the end of a piece.
  std::size_t piece_end(std::string_view word, std::size_t at) const override;
  // -1 = no such token.
  std::int32_t id_of(std::string_view token) const;

 private:
  struct Merge {
    std::uint64_t pair;  // left << 32 | right; kEmpty = free
    std::int32_t rank, result;
  };
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  const Merge* find(std::int32_t left, std::int32_t right) const;
  bool lacks(char32_t code) const;
  void find_joints(const TokenizerSpec& spec);
  void start(std::string_view word, std::vector<Symbol>& symbols) const;

  std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>> ids_;
  std::vector<Merge> merges_;           // open addressing, size a power of two
  std::vector<std::int32_t> byte_ids_;  // <0x00> … <0xFF>; -1 = none
  std::vector<std::int32_t> ascii_ids_;
  bool byte_fallback_, ignore_merges_, fuse_unk_;
  std::int32_t unk_id_;
  // Pairs of neighbouring characters that some merge joins: usual ones (ASCII and the space sign)
  // in a table, the others in a set.
  bool pieces_ = false;
  // Neighbouring characters outside the vocabulary depend on each other: they become one <unk>, or
  // the <unk> of one follows the byte tokens of the next.
  bool unknowns_meet_ = false;
  std::vector<bool> usual_joints_;
  std::unordered_set<std::uint64_t> joints_;
};

}  // namespace triescope::tokenizer
