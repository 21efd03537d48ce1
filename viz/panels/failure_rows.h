// Why drafts failed, a row a failure, as CSV.
#pragma once

#include <string>
#include <vector>

#include "viz/query/draft_causes.h"

namespace triescope::viz {

// Header line and a row each: step,node,parent,token,text,cause,p,drafter_rank,drafter_q,
// drafter_score. The drafter's columns are about the token that came; ranks are from 1.
std::string failures_csv(const capture::Capture& capture,
                         const std::vector<DraftFailure>& failures);

}  // namespace triescope::viz
