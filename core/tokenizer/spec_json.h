// The parts of a tokenizer.json, each read into the spec. `file` is for messages. Internal to
// spec_*.cpp; spec.h is the way in. Errors: kCorruption, kNotSupported, nlohmann's own where a
// field is missing or of another type (the readers of spec.h turn those into kCorruption). Source:
// Hugging Face `tokenizers`, the file format and its defaults.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/tokenizer/spec.h"

namespace triescope::tokenizer {

inline constexpr std::uint64_t kMaxTokenizerBytes = 128u << 20;  // of a tokenizer.json

[[noreturn]] void corrupt(const std::string& file, const std::string& what);
[[noreturn]] void unsupported(const std::string& file, const std::string& what);

void check_length(const std::string& file, const std::string& token);
// A number that names an id or counts something.
std::int64_t integer_of(const std::string& file, const nlohmann::json& value,
                        const std::string& what);

// "model": the vocabulary and its merges. First of all: the others look tokens up in it.
void read_model(const std::string& file, const nlohmann::json& model, TokenizerSpec& spec);
void read_normalizer(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
void read_pre_tokenizer(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
void read_post_processor(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
void read_decoder(const std::string& file, const nlohmann::json& part, TokenizerSpec& spec);
// {"content", "lstrip", "rstrip", "normalized", "single_word", "special"}: flags that are left out are
// false, `normalized` the opposite of `special`.
AddedToken added_token_of(const std::string& file, const nlohmann::json& entry);

}  // namespace triescope::tokenizer
