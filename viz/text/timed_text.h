// The mark of a run whose times are longer than its method's.
#pragma once

namespace triescope::viz {

// Stands beside every displayed time of a run with RunInfo::timed_while_drawing.
inline constexpr const char* kTimedWhileDrawing = "timed while drawing";
// Says why, and what to do about it.
inline constexpr const char* kTimedWhileDrawingHelp =
    "the window drew while this run was decoded and took a share of the cores; Run, Measure again "
    "without drawing takes the times of the method alone";

}  // namespace triescope::viz
