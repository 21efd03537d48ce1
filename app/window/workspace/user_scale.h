// The factors by which the user may change the size of the window's text.
#pragma once

namespace triescope::app {

inline constexpr float kLeastUserScale = 0.5f, kMostUserScale = 4;

}  // namespace triescope::app
