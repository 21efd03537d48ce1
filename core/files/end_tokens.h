// The tokens that end a text of a GGUF model, as llama.cpp determines them: those that the file's
// keys name, and those whose text tells, because many files name only one of several. Source:
// llama.cpp, src/llama-vocab.cpp (special_eog_ids).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/gguf.h"

namespace triescope::formats {

// The special token that a key names, for a vocabulary of `vocab_size` tokens. nullopt: the file
// lacks the key, or the id is outside the vocabulary, which means "none" (-1, 2^32 - 1) or a token
// that can never occur.
std::optional<std::int32_t> special_token(const GgufFile& file, std::string_view key,
                                          std::int64_t vocab_size);

// eos_token_id first, then the other keys' tokens, then those known by their texts, by id. `notes`:
// gets one for each end token that a key names outside the vocabulary; may be null.
std::vector<std::int32_t> end_tokens(const GgufFile& file, std::int64_t vocab_size,
                                     std::vector<std::string>* notes);

}  // namespace triescope::formats
