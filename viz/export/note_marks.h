// The bookmarks of a run in a figure: a numbered mark where the bookmark's step or node is drawn, and
// the notes listed under the figure. The panel itself is asked where that is, with the mouse on what
// it drew, so every figure whose axis is steps, and every figure of nodes, has them.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/panels/panel.h"

namespace triescope::viz {

struct NoteMark {
  int number = 0;  // from 1, along the run
  Point at;        // the step's middle at the upper edge of the plot; the node's upper left corner
  float foot = 0;  // the plot's lower edge; 0 = the mark is a node's
  std::string words;  // "step 12: here it parts"
};

// Those that the panel shows in `area`, by number: set before the cursor and within the range. Draws
// the panel to find them, on no canvas that anyone sees; its view state stays. `measure` measures
// letters.
std::vector<NoteMark> note_marks(Panel& panel, Rect area, const Scene& scene, Canvas& measure);

void draw_note_marks(Canvas& canvas, Rect area, const std::vector<NoteMark>& marks,
                     const Scene& scene);
// A line or more for each mark. Returns the height; `draws` false: only that.
float draw_notes(Canvas& canvas, Rect area, const std::vector<NoteMark>& marks, const Scene& scene,
                 bool draws);

}  // namespace triescope::viz
