// The tokenizer of a model that comes without one: tokens have no text, so their pieces are their
// ids, "<42>". Prompts are given as ids, and a text cannot be encoded. Immutable, safe from any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/text/tokenizer/tokenizer.h"

namespace triescope {

// Whether load_tokenizer has anything to read: a folder with tokenizer.json, or with vocab.json and
// merges.txt; a .gguf with tokenizer.ggml.tokens; a .json. load_tokenizer may still refuse it.
// Errors: those of GgufFile::open.
bool has_tokenizer(const std::string& path);

// The ids are 0 to vocab_size - 1. `path` is the model's, for messages. As in any tokenizer,
// special ids are decoded only if special tokens are asked for. REQUIRES: vocab_size >= 1.
std::unique_ptr<Tokenizer> make_id_tokenizer(const std::string& path, int vocab_size,
                                             std::int32_t bos_token_id,
                                             std::vector<std::int32_t> eos_token_ids);

}  // namespace triescope
