// Geometry of lecture mode: the size of its letters, the places of its panels, and which panels
// suit a run. Pure, no ImGui; sizes in px. Nothing here depends on the cursor, so a step never
// moves a panel.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"

namespace triescope::app {

// The em of the panels, and of the narration, in a window of this size. A panel's smallest letters
// have 0.74 em, the narration's 0.86: 24 px in 1920 x 1080, and in proportion elsewhere. `scale` >=
// 1 is the lecturer's own, for still larger letters.
float lecture_em(viz::Point window, float scale);
float narration_em(float lecture_em);

struct LecturePlaces {
  std::vector<viz::Rect> panels;  // titles included
  viz::Rect narration;
  viz::Rect lesson;  // empty without a lesson
};
// Places one or two panels beside each other where there is room for that, else one above the
// other. The narration stands below them, in the same place with one panel as with two. A lesson's
// text has a column on the right, from top to bottom.
LecturePlaces lecture_places(viz::Point window, float em, std::size_t panels, bool lesson = false);

// Places one panel of each of two runs in two columns of equal width. A lesson's column stands
// beside them and is the first one's.
std::array<LecturePlaces, 2> lecture_pair(viz::Point window, float em, bool lesson = false);

// The panels that the digits 1 to 9 show.
const std::vector<std::string>& lecture_panels();
// One or two panels at a time, in the order in which a key goes through them. First come those that
// tell most about the run, as on a handout.
std::vector<std::vector<std::string>> lecture_arrangements(const capture::Capture& run);

}  // namespace triescope::app
