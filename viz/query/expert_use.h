// Which experts the rows of a mixture's forwards went through (core/capture/expert_use.h), of a capture up to a
// moment. Steps after prefill; pure functions of a capture.
#pragma once

#include <cstdint>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/expert_use.h"

namespace triescope::viz {

using capture::ExpertStep;
using capture::MixtureSize;

MixtureSize mixture_size(const capture::Capture& capture);

// By step, of the rows before `cursor`. Steps without such rows are left out.
std::vector<ExpertStep> expert_steps(const capture::Capture& capture, capture::Tick cursor);
// One of them; layers 0: it has no rows.
ExpertStep expert_step(const capture::Capture& capture, std::int32_t step, capture::Tick cursor);

// The experts that a node's row chose in its newest forward before `cursor`, layer by layer; empty: not recorded.
std::vector<capture::ExpertRow> experts_of(const capture::Capture& capture, std::int32_t node,
                                           capture::Tick cursor);

}  // namespace triescope::viz
