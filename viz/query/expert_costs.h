// What a mixture's forward costs by the experts that a run's steps read together: where reading weights
// takes the time, n rows pay for the different experts they go through. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/capture/capture.h"
#include "viz/query/forward_costs.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// A mixture of experts on a GPU: 64 experts a layer, 8 a row, four fifths of a row's weights in them.
inline constexpr RowCosts kExpertCosts{.of_experts = 0.8, .chosen = 8.0 / 64};

// The experts that one or several runs of a model read after prefill.
struct ExpertReads {
  struct Sum {
    double different = 0;    // experts a layer that the step's rows read together, added up
    std::int64_t steps = 0;  // over which
  };
  std::map<std::int32_t, Sum> by_rows;
  double used = 0, experts = 0;  // of a layer: a row's, and all; 0 = nothing is recorded
  // The share of a one-row forward that goes into its experts; NaN: the capture does not say it.
  double of_experts = 0;
};
// Counts the finished steps in `range`.
ExpertReads expert_reads(const capture::Capture& capture, capture::Tick cursor,
                         StepRange range = {});
void add_expert_reads(ExpertReads& sum, const ExpertReads& more);

// C(n) = 1 + (n − 1)·r + S·(D(n) / k − 1): D(n) the different experts a layer of n rows as recorded, k
// those of one row, S of_experts (kExpertCosts' where the capture does not say it), r what a row
// costs beside its weights on a GPU. With D(n) by chance that is ForwardCosts(RowCosts). nullopt: no
// step with two rows or more.
std::optional<ForwardCosts> expert_costs(const ExpertReads& reads);

}  // namespace triescope::viz
