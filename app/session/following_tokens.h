// The tokens of a text that follows another. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

// Empty: there is no tokenizer (null), it takes no text, or the text ends within a character, as while
// it is being typed.
std::vector<std::int32_t> following_tokens(const Tokenizer* tokenizer, const std::string& text);

}  // namespace triescope::app
