// Where the texts of two runs part: how far they are the same, and the step of each run that brought
// the first token that differs. Pure.
#pragma once

#include <cstdint>

#include "core/capture/capture.h"

namespace triescope::viz {

struct TextParting {
  bool same_prompt = true;  // false: the texts are not compared, and the rest is as it is here
  bool same_text = false;   // to the end of both
  std::int64_t tokens = 0;  // with which both begin
  std::int32_t step = -1;  // of the second run; -1 = its text ended there, or the step is not known
  std::int32_t first_step = -1;  // likewise, of the first run
};

// Compares the best texts at the ends of both runs: those of the tree, or the returned ones where none was recorded.
TextParting text_parting(const capture::Capture& first, const capture::Capture& second);

}  // namespace triescope::viz
