// What lecture mode shows where: the size of its letters, the places of its panels, and which panels
// suit a run. Pure geometry, no ImGui; sizes in px. Nothing here depends on the cursor: a step never
// moves a panel.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"

namespace triescope::app {

// The em of the panels and of the narration in a window of this size. The smallest letters of a panel have
// 0.74 em, those of the narration 0.86: 24 px in 1920 x 1080, and in proportion elsewhere. `scale` >= 1: the
// lecturer's own, for still larger ones.
float lecture_em(viz::Point window, float scale);
float narration_em(float lecture_em);

struct LecturePlaces {
  std::vector<viz::Rect> panels;  // with their titles
  viz::Rect narration;
  viz::Rect lesson;  // empty without one
};
// `panels`: one or two. Beside each other where there is room for that, else one above the other; the
// narration stands below, in the same place with one panel as with two. With a lesson its text has a column on
// the right, from top to bottom.
LecturePlaces lecture_places(viz::Point window, float em, std::size_t panels, bool lesson = false);

// The same with one panel of each of two runs: two columns of equal width, the lesson's beside them (of the
// first one).
std::array<LecturePlaces, 2> lecture_pair(viz::Point window, float em, bool lesson = false);

// The panels that the digits 1 to 9 show.
const std::vector<std::string>& lecture_panels();
// One or two panels at a time, to go through by a key: first those that tell most about the run, as on a
// handout.
std::vector<std::vector<std::string>> lecture_arrangements(const capture::Capture& run);

}  // namespace triescope::app
