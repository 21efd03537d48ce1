// The drafts panel's title: how much a step proposed, and what became of it.
#pragma once

#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/draft_levels.h"

namespace triescope::viz {

inline constexpr float kDraftsTitleEm = 1.3f;  // a line of it

// The title's lines, at most `most_lines`. A narrow pane breaks the title rather than cut it; where its lines are too
// few, the last one is wider than `width` px.
std::vector<std::string> drafts_title(Canvas& canvas, const DraftLevels& drafts, float width,
                                      float most_lines, const Scene& scene);

}  // namespace triescope::viz
