// Tokens added to a vocabulary as `tokenizers` does it (Tokenizer.add_tokens).
#pragma once

#include <string>
#include <vector>

#include "core/tokenizer/spec.h"

namespace triescope::tokenizer {

// A token that is there keeps its id and takes the flags of the newest; a new one gets the next id: after
// the model's tokens and after those added before. A token that was special once is always left out with
// the special ones, one that was normalised once always decodes to its normalised spelling. `file`: for
// messages. Error{kCorruption}: a token is too long, or its id is another's.
void add_tokens(const std::string& file, const std::vector<AddedToken>& tokens,
                TokenizerSpec& spec);

}  // namespace triescope::tokenizer
