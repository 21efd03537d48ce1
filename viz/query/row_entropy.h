// The entropy of a recorded row of the model.
#pragma once

#include <span>

#include "core/capture/records.h"

namespace triescope::viz {

// The entropy of the next token, in nats, from a row's recorded candidates. The rest of the
// probability counts as one token, so that the true entropy is at least this.
double entropy_of(std::span<const capture::CandidateRow> candidates);

}  // namespace triescope::viz
