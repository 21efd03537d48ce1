// What the window shows, as files for scripts and tests: its state as JSON, its picture as PNG.
#pragma once

#include <cstdint>
#include <string>

#include "app/window/shell/ui.h"

namespace triescope::app {

// The workspace's state and what the last frame drew. `frames` is how many were drawn so far.
// Error{kIoError}: the file cannot be written.
void write_window_state(const std::string& path, const Ui& ui, std::int64_t frames,
                        bool fullscreen);

// Writes the back buffer as PNG. REQUIRES: a current OpenGL context, the frame drawn and not yet swapped.
// Error{kIoError}: path and reason.
void write_screenshot(const std::string& path, int width_px, int height_px);

}  // namespace triescope::app
