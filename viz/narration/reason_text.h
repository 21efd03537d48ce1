// Why a verdict fell, in the few words that a table's cell has room for: the short forms of
// assets/narration. reason_story.cpp tells the same in full.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/capture/capture.h"
#include "viz/query/drafter_view.h"

namespace triescope::viz {

// How a token is written in a sentence.
using TokenName = std::function<std::string(std::int32_t)>;

// "argmax is '·the' (p 0.41), this has p 0.0032, rank 4". Empty if the row has no reason; the
// recorder's own words if it has some.
std::string reason_text(const capture::VerdictRow& row, const TokenName& token);
// The same with tokens as the capture spells them, in quotes.
std::string reason_text(const capture::VerdictRow& row, const capture::Capture& capture);
// The name of the sentence that tells the row's reason: "reason.drawn". Empty: it has none.
std::string reason_sentence(const capture::VerdictRow& row);

// The bound that the row compares u with: min(1, p′/q), min(1, r/q) after other drafts, or a block's
// h. NaN = it compares nothing.
float acceptance_limit(const capture::VerdictRow& row);
// The name of that limit: "min(1, p′/q)", "min(1, r/q)", "h".
const char* acceptance_limit_name(capture::Reason reason);

// Why the drafter did not send the token of the verdict, as far as its rows tell: "the head had it
// 5th (q 0.012), withdrawn by reranking". "" if they tell nothing, or if the drafter sent it.
std::string drafter_reason(const DrafterView& view, capture::Verdict verdict);
// "a near tie: its p is 0.93 of what came", of a refused draft; of the token that came "a near tie: the
// refused draft has 0.93 of its p"; "": it was none.
std::string tie_reason(const DrafterView& view, capture::Verdict verdict);
// The name of the sentence that tells drafter_reason(): "drafter.reranked". Empty: there is nothing to tell.
std::string_view drafter_sentence(const DrafterView& view, capture::Verdict verdict);

}  // namespace triescope::viz
