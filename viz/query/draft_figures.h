// The figures that a drafter noted of a step's drafts, by the names in core/capture/metric_names.h. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "core/capture/capture.h"

namespace triescope::viz {

// The rows of a step's draft phase.
using DraftFigures = std::span<const capture::MetricRow>;
DraftFigures draft_figures(const capture::Capture& capture, std::int32_t step);

// A figure that counts something, as a file holds it; `otherwise` where it is no whole number from 0 on.
std::int64_t whole_figure(double value, std::int64_t otherwise);

// The word of a drafter that looks things up about one of its drafts.
struct FoundMatch {
  std::int32_t tokens =
      0;  // how many of the text's last tokens were found before it; 0 = it does not say
  std::int64_t place =
      -1;                  // the number of their first one in another text; -1 = none, or not known
  std::int64_t count = 0;  // in how many places the draft stood behind them; 0 = not counted
};
FoundMatch found_match(DraftFigures figures, std::int32_t node);

// By node its place, from 1, in the order in which the step's tree grew. Empty: the drafter does not say.
std::unordered_map<std::int32_t, std::int64_t> growth_order(DraftFigures figures);

}  // namespace triescope::viz
