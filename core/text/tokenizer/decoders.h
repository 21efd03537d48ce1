// Decoders: how tokens become a text again. No state. Source: tokenizers, decoders/*.
#pragma once

#include <string>
#include <vector>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// The text of these tokens, each as the vocabulary spells it. Without steps they are joined by
// spaces. Error{kNotSupported}: the text grows beyond growth_limit().
std::string decoded_text(std::vector<std::string> tokens, const std::vector<DecoderStep>& steps);

}  // namespace triescope::tokenizer
