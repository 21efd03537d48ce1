// The tokens that end a text by a GGUF file, as llama.cpp takes them: those that its keys name, and
// those whose text says so, because many files name one of several. Source: llama.cpp,
// src/llama-vocab.cpp (special_eog_ids).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/gguf.h"

namespace triescope::formats {

// The special token that a key names, for a vocabulary of `vocab_size` tokens. nullopt: the file has
// no such key, or an id outside the vocabulary, which means "none" (-1, 2^32 - 1) or a token that
// cannot come.
std::optional<std::int32_t> special_token(const GgufFile& file, std::string_view key,
                                          std::int64_t vocab_size);

// eos_token_id first, then the other keys', then those known by their texts, by id. `notes`: one for
// each end token that a key names outside the vocabulary; null: nobody asks.
std::vector<std::int32_t> end_tokens(const GgufFile& file, std::int64_t vocab_size,
                                     std::vector<std::string>* notes);

}  // namespace triescope::formats
