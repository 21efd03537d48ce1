// The window's state as JSON, for scripts and tests.
#pragma once

#include <cstdint>
#include <string>

#include "app/window/shell/ui.h"

namespace triescope::app {

// The workspace's state and what the last frame drew. `frames` is how many were drawn so far.
// Error{kIoError}: the file cannot be written.
void write_window_state(const std::string& path, const Ui& ui, std::int64_t frames,
                        bool fullscreen);

}  // namespace triescope::app
