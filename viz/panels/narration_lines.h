// Breaks a narration into lines, which the narration panel draws. Sizes in px, from the top left of
// the whole text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/narration/narration.h"

namespace triescope::viz {

// A piece of a line that belongs to one part of a sentence.
struct NarrationSpan {
  Rect box;
  std::string text;
  TextStyle style;
  std::size_t sentence = 0, part = 0;
};
struct NarrationLines {
  std::vector<NarrationSpan> spans;  // from top to bottom
  float height = 0;
};
NarrationLines lay_out_narration(Canvas& canvas, float width, const Scene& scene,
                                 const Narration& narration);

}  // namespace triescope::viz
