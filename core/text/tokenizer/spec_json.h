// Functions that read the parts of a tokenizer.json into the spec. `file` is for messages. Internal
// to spec_*.cpp; other code uses spec.h. Errors: kCorruption, kNotSupported, and nlohmann's own if
// a field is missing or has another type (the readers of spec.h turn those into kCorruption).
// Source: Hugging Face `tokenizers`, the file format and its defaults.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

inline constexpr std::uint64_t kMaxTokenizerBytes = 128u << 20;  // for a tokenizer.json

[[noreturn]] void corrupt(const std::string& file, const std::string& what);
[[noreturn]] void unsupported(const std::string& file, const std::string& what);

// One more than the highest id that a vocabulary of this many tokens may have: ids may have gaps, but
// not 2 million ids for three tokens.
std::size_t highest_ids(std::size_t tokens);
void check_length(const std::string& file, const std::string& token);
// An integer that names an id or counts something.
std::int64_t integer_of(const std::string& file, const nlohmann::json& value,
                        const std::string& what);

// Reads "model": the vocabulary with its merges or scores. Must be first, because the others look up tokens in
// it.
void read_model(const std::string& file, const nlohmann::json& model, TokenizerSpec& spec);
void read_normalizer(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
void read_pre_tokenizer(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
void read_post_processor(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
void read_decoder(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
// Reads {"content", "lstrip", "rstrip", "normalized", "single_word", "special"}. Missing flags are
// false, and a missing `normalized` is the opposite of `special`.
AddedToken added_token_of(const std::string& file, const nlohmann::json& entry);

}  // namespace triescope::tokenizer
