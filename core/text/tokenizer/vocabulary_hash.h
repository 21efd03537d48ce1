// The hash of a vocabulary, by which files of token ids say for which tokenizer they were made.
#pragma once

#include <cstdint>

#include "core/base/hash.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope {

// A hash of all pieces in the order of their ids.
inline std::uint64_t vocabulary_hash(const Tokenizer& tokenizer) {
  std::uint64_t hash = hash_bytes({});
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const auto piece = tokenizer.piece(id);
    hash = hash_bytes(std::as_bytes(std::span(piece.data(), piece.size())), hash);
    const std::uint64_t size = piece.size();
    hash = hash_bytes(std::as_bytes(std::span(&size, 1)), hash);
  }
  return hash;
}

}  // namespace triescope
