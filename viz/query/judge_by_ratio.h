// Drafts that were judged with random numbers draft by draft (u < min(1, p/q)) or as a block: judged
// again with the numbers that were drawn, as long as these answer. Pure.
#pragma once

#include "viz/query/judge_drafts.h"

namespace triescope::viz {

// Whether a rule judges this run's drafts so: those drawn at random, and every draft under
// multi_round.
bool judges_by_ratio(const JudgedText& text, const std::string& verify);

JudgedDrafts judge_by_ratio(const JudgedText& text, const StepProposals& step, std::int32_t number,
                            const std::set<std::int32_t>& sent, const std::string& verify);

}  // namespace triescope::viz
