// Document: one open capture with its own cursor, focus and panels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/run/breakpoints.h"
#include "app/run/request.h"
#include "core/capture/capture.h"
#include "viz/look/scene.h"
#include "viz/panels/panel.h"
#include "viz/questions/comparison.h"

namespace triescope::app {

// What a run branched off from: another run, decoded in this window.
struct BranchOrigin {
  std::uint64_t run_serial = 0;  // of the run it left
  std::int32_t node = -1;        // of that run: the last one that both share
  std::int32_t token = -1;       // forced in place of what followed
};

struct Document {
  std::uint64_t serial = 0;
  std::string path, title;
  std::unique_ptr<capture::Capture> capture;
  std::vector<std::unique_ptr<viz::Panel>> panels;
  capture::Tick cursor = 0;
  bool follow = true;  // the cursor stays at the newest tick
  viz::Focus focus;
  std::optional<std::pair<std::int32_t, std::int32_t>> range;
  std::uint64_t run_serial = 0;  // of the run decoded into it; 0 = opened from a file
  // What the run was started with; empty for a file and for a branch, which cannot be run again.
  std::optional<RunRequest> request;
  std::optional<BranchOrigin> origin;       // of a branch
  std::vector<viz::BreakMark> breaks = {};  // what stopped it so far, oldest first
  std::optional<BreakStop> stopped;         // a breakpoint held playback, or a search, there
  bool playing = false;                     // replay goes on by itself
  double next_play_time = 0;
  viz::Twins twins;    // as seen from the other run, while two are compared
  float enlarged = 1;  // how much larger than elsewhere its maximised panel is drawn

  viz::Panel* panel(const std::string& name) const;
};

}  // namespace triescope::app
