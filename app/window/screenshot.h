// Screenshot: the back buffer as a PNG file.
#pragma once

#include <string>

namespace triescope::app {

// Writes the back buffer. REQUIRES: a current OpenGL context, the frame drawn and not yet swapped.
// Error{kIoError}: path and reason.
void write_screenshot(const std::string& path, int width_px, int height_px);

}  // namespace triescope::app
