// A row of the target as a search over beams sees it: log-softmax of fp32 logits, then the logits processors
// (rule 1 of beam.h). With one beam the processors come first, as in greedy decoding.
#pragma once

#include <span>

#include "core/method/step_view.h"
#include "core/sampling/logits_processors.h"

namespace triescope {

// `out`: [vocab]. Errors: those of finite_log_softmax().
void beam_logprobs(const StepView& view, int row, const LogitsProcessors& processors, bool one_beam,
                   std::span<float> out);

}  // namespace triescope
