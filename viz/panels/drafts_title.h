// The drafts panel's title: how much a step proposed, and what became of it.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/draft_levels.h"

namespace triescope::viz {

inline constexpr float kDraftsTitleEm = 1.3f;  // a line of it

// Its lines, none wider than `width` px where so many have room: a narrow pane breaks the title rather than cut it.
std::vector<std::string> drafts_title(Canvas& canvas, const DraftLevels& drafts, float width,
                                      float most_lines, const Scene& scene);

}  // namespace triescope::viz
