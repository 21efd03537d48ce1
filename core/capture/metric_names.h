// Names of figures (MetricRow) that more than a curve is drawn of. Any recorder may write them.
#pragma once

#include <string_view>

namespace triescope::capture {

// The number of a layer, from 0, that the drafting model leaves out: a row for each such layer, all of
// one tick. They hold until the next tick that has such rows.
inline constexpr std::string_view kLeftOutLayer = "left-out layer";

}  // namespace triescope::capture
