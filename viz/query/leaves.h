// The ends of the paths that are in force at a cursor. Pure: the same capture and cursor give the
// same answer.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

struct Leaf {
  std::int32_t node = 0;
  std::int32_t rank = 0;
  float score = 0;          // NaN = none
  bool returned = false;    // one of the run's results
  std::string_view finish;  // "" = not finished; borrowed from the capture
};

// Best first: once the run is over, the returned sequences; before that the live frontier; in a
// last step that only finished sequences, those.
std::vector<Leaf> leaves_at(const capture::Capture& capture, capture::Tick cursor);

// The text at the cursor: the best leaf's nodes from depth 1 on.
std::vector<std::int32_t> text_at(const capture::Capture& capture, capture::Tick cursor);

}  // namespace triescope::viz
