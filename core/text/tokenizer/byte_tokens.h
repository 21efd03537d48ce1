// The tokens that stand for single bytes where a vocabulary lacks a character: <0x00> … <0xFF>.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// "<0xE2>" -> 0xE2; -1 = not a byte token.
int byte_of(std::string_view token);
// The ids of the 256 byte tokens; -1 = the vocabulary lacks it.
std::vector<std::int32_t> byte_token_ids(const TokenizerSpec& spec);

}  // namespace triescope::tokenizer
