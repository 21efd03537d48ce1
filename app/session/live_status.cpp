#include "app/session/live_status.h"

#include <cstddef>

namespace triescope::app {

const char* to_string(LiveState state) {
  static constexpr const char* kNames[] = {"idle", "loading", "paused", "running", "done"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace triescope::app
