// A verdict's reason as a sentence for people. Captures hold a code and its numbers (see
// capture::Reason); this file adds the words and the texts of tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/capture/capture.h"
#include "viz/query/drafter_view.h"

namespace triescope::viz {

// How a token is written in a sentence.
using TokenName = std::function<std::string(std::int32_t)>;

// "argmax is '·the' (p 0.41), this has p 0.0032, rank 4". Empty if the row has no reason; the
// recorder's own words if it has some.
std::string reason_text(const capture::VerdictRow& row, const TokenName& token);
// Whether the row's p and value are p′, after processors and warpers: what the rule draws from or
// compares.
bool is_after_warpers(capture::Reason reason);
// min(1, p′/q), min(1, r/q) after other drafts, or a block's h: what the rule compares u with; NaN = it
// compares nothing.
float acceptance_chance(const capture::VerdictRow& row);
// What that is called where it stands alone: "min(1, p′/q)", or "h" of block verification.
const char* acceptance_limit(capture::Reason reason);
// Whether the row is one of block verification, whose `value` is p of the block up to its draft.
bool compares_block(capture::Reason reason);
// Why the drafter did not send the token of the verdict, as far as its rows tell: "the head had it
// 5th (q 0.012), withdrawn by reranking". "" if they tell nothing, or if the drafter sent it.
std::string drafter_reason(const DrafterView& view, capture::Verdict verdict);
// The same with tokens as the capture spells them, in quotes.
std::string reason_text(const capture::VerdictRow& row, const capture::Capture& capture);

}  // namespace triescope::viz
