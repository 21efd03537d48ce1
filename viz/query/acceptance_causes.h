// Why drafts failed, as groups of Acceptance: every group has the same n, the failures, and
// `accepted` counts those of its cause.
#pragma once

#include "viz/query/acceptance.h"
#include "viz/query/draft_causes.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// by: kCause (places) or kRefused (drafts); in the order of the run.
std::vector<DraftFailure> draft_failures(const capture::Capture& capture, AcceptanceBy by,
                                         capture::Tick cursor, StepRange range = {});
// The same, counted. A group for every cause that there is, also where it counts none, so that
// groups of several runs add up.
Acceptance acceptance_by_cause(const capture::Capture& capture, AcceptanceBy by,
                               capture::Tick cursor, StepRange range = {});

}  // namespace triescope::viz
