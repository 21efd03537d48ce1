// Where a draft stands in its step's tree, as ranks among siblings from the frontier down. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/step_drafts.h"

namespace triescope::viz {

using RankPath = std::vector<int>;  // {0, 1}: the second-best below the best

// By node, of these drafts of one step. Siblings stand by their score, the likeliest first; where
// that is unknown, as they were hung.
std::map<std::int32_t, RankPath> rank_paths(const capture::Capture& capture,
                                            const std::vector<StepDraft>& drafts);

// "1.2": ranks from 1, as charts have them.
std::string rank_text(const RankPath& path);
// "0,1": ranks from 0, as the setting "tree" has them.
std::string tree_text(const RankPath& path);
// Shorter paths first, then by ranks.
bool stands_before(const RankPath& a, const RankPath& b);

}  // namespace triescope::viz
