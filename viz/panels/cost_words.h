// The sentences about a cost model, for the panel and the command line.
#pragma once

#include <string>

#include "viz/panels/cost_chart.h"

namespace triescope::viz {

// "Costs, measured in 38 forwards: a forward of 2, 5 and 9 rows costs 1.33, 2.31 and 3.62 of one row
// (3.40 ms here)."
std::string costs_sentence(const CostModel& model);
// "My drafts: a step of 5.0 rows costs 1.92 (the drafter 0.02) and gives 2.40 tokens: 1.25 × plain
// decoding."
std::string worth_sentence(const CostSeries& series);
// "It pays from 1.92 tokens a step on: from 0.47 accepted (here 0.61). 3 drafts would pay best: 1.31 ×."
std::string needs_sentence(const CostModel& model);

}  // namespace triescope::viz
