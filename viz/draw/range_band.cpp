#include "viz/draw/range_band.h"

namespace triescope::viz {

void draw_range_band(Canvas& canvas, Rect area, const Scene& scene) {
  canvas.fill_rect(area, scene.theme.accent.with_alpha(0.18f), 0);
  for (const float x : {area.x, area.right()})
    canvas.line({x, area.y}, {x, area.bottom()}, scene.theme.accent, 1.5f, LineStyle::kSolid);
}

}  // namespace triescope::viz
