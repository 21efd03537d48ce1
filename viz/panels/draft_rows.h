// DraftRows: the drafts of one step, a row a level. A row has the token that came, the place that the level had
// given it, and the level's drafts, likeliest first. Drafts go on in further lines if there is room; else the row
// ends with the number of those that are left.
#pragma once

#include <cstdint>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/draft_levels.h"

namespace triescope::viz {

class DraftRows {
 public:
  // The height with one line for each of so many levels.
  static float height_em(std::size_t levels);

  void clear();  // the mouse meets nothing until the next draw()
  void draw(Canvas& canvas, Rect area, const DraftLevels& drafts, const Scene& scene);
  // Returns whether the mouse was over a draft.
  bool input(const Input& in, const DraftLevels& drafts, const Scene& scene, Reaction& reaction);

 private:
  // One draft as drawn, for the mouse.
  struct Chip {
    Rect box;
    std::int32_t node;
  };
  void draw_came(Canvas& canvas, Rect box, const DraftLevel& level, const Scene& scene);
  // Draws a level in so many lines, each `area.h` px high, the first one in `area`.
  void draw_chips(Canvas& canvas, Rect area, int lines, const DraftLevel& level,
                  const Scene& scene);

  std::vector<Chip> chips_;
  Rect list_;
  float scroll_ = 0;
};

}  // namespace triescope::viz
