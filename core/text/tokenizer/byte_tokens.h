// How vocabularies write single bytes. Immutable; any thread may call.
//
// Byte tokens <0x00> … <0xFF> stand for a character that the vocabulary lacks. In GPT-2's byte-level
// alphabet every byte is a printable character (openai/gpt-2, encoder.py, bytes_to_unicode).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// "<0xE2>" -> 0xE2; -1 = not a byte token.
int byte_of(std::string_view token);
// The ids of the 256 byte tokens; -1 = the vocabulary lacks it.
std::vector<std::int32_t> byte_token_ids(const TokenizerSpec& spec);

// A byte's character in GPT-2's alphabet.
const std::string& byte_to_text(unsigned char byte);
// The bytes that a text in the alphabet encodes. A text with a character outside the alphabet is
// returned unchanged.
std::string text_to_bytes(std::string_view text);

}  // namespace triescope::tokenizer
