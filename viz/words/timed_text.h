// How a run whose times are longer than its method's is marked.
#pragma once

namespace triescope::viz {

// Beside every time that is shown of a run with RunInfo::timed_while_drawing.
inline constexpr const char* kTimedWhileDrawing = "timed while drawing";
// Why, and what to do about it.
inline constexpr const char* kTimedWhileDrawingHelp =
    "the window drew while this run was decoded and took a share of the cores; Run, Measure again "
    "without drawing takes the times of the method alone";

}  // namespace triescope::viz
