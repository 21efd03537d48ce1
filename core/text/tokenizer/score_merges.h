// Merges of a SentencePiece vocabulary, which has scores and no merges: the pair is merged whose
// result has the best score. Pure function.
#pragma once

#include <string>
#include <vector>

#include "core/text/tokenizer/spec.h"

namespace triescope::tokenizer {

// Every way to split a token in two is a merge, ranked by the token's score. `scores`: by id, no
// NaN. `ids`: the tokens that take part. `ranks_by_score`: ways of one score have one rank, so that
// the leftmost pair wins, as in SentencePiece; otherwise the best left part does, as in
// transformers. `source` is for the message. Error{kNotSupported}: too many long tokens.
void merges_from_scores(const std::string& source, const std::vector<float>& scores,
                        const TokenIds& ids, TokenizerSpec& spec, bool ranks_by_score = false);

}  // namespace triescope::tokenizer
