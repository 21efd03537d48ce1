// Byte-pair encoding of one word. Immutable once made; any number of threads may encode.
// Source: Sennrich et al. 2016; semantics of Hugging Face `tokenizers` (models/bpe).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tokenizer/spec.h"

namespace triescope::tokenizer {

class Bpe {
 public:
  explicit Bpe(const TokenizerSpec& spec);

  // Appends the ids of `word` (in the vocabulary's own spelling). O(n log n).
  void encode(std::string_view word, std::vector<std::int32_t>& out) const;
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

  std::unordered_map<std::string, std::int32_t, StringHash, std::equal_to<>> ids_;
  std::vector<Merge> merges_;           // open addressing, size a power of two
  std::vector<std::int32_t> byte_ids_;  // <0x00> … <0xFF>; -1 = none
  bool byte_fallback_, ignore_merges_, fuse_unk_;
  std::int32_t unk_id_;
};

}  // namespace triescope::tokenizer
