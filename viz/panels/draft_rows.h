// The drafts of one step, a row a level: what came there, the place that the level had given it, and its drafts,
// likeliest first. Where there is room a level's drafts go on in further lines; else the row ends with how many
// there are besides.
#pragma once

#include <cstdint>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/draft_levels.h"

namespace triescope::viz {

class DraftRows {
 public:
  // With one line for each of so many levels.
  static float height_em(std::size_t levels);

  void clear();  // nothing is drawn: the mouse meets nothing
  void draw(Canvas& canvas, Rect area, const DraftLevels& drafts, const Scene& scene);
  // Whether the mouse was over a draft.
  bool input(const Input& in, const DraftLevels& drafts, const Scene& scene, Reaction& reaction);

 private:
  // One draft as drawn, for the mouse.
  struct Chip {
    Rect box;
    std::int32_t node;
  };
  void draw_came(Canvas& canvas, Rect box, const DraftLevel& level, const Scene& scene);
  // In so many lines, each `area.h` px high, the first one in `area`.
  void draw_chips(Canvas& canvas, Rect area, int lines, const DraftLevel& level,
                  const Scene& scene);

  std::vector<Chip> chips_;
  Rect list_;
  float scroll_ = 0;
};

}  // namespace triescope::viz
