// Adds tokens to a vocabulary as `tokenizers` does (Tokenizer.add_tokens).
#pragma once

#include <string>
#include <vector>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// An existing token keeps its id and takes the newest flags. A new one gets the next id, after the
// model's tokens and those added before. A token that was special once is always left out with the
// special ones; one that was normalised once always decodes to its normalised spelling. `file` is
// for messages. Error{kCorruption}: a token is too long, or its id belongs to another.
void add_tokens(const std::string& file, const std::vector<AddedToken>& tokens,
                TokenizerSpec& spec);

}  // namespace triescope::tokenizer
