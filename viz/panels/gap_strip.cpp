#include "viz/panels/gap_strip.h"

#include <algorithm>

namespace triescope::viz {

void draw_gap_strip(Canvas& canvas, Rect box, const std::vector<LeftOut>& gaps,
                    const Scene& scene) {
  if (gaps.empty()) return;
  const float pitch = std::min(scene.em * 0.7f, box.w / static_cast<float>(gaps.size()));
  const float side = std::max(pitch * 0.74f, pitch - scene.em * 0.2f);
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const Rect square{box.x + pitch * static_cast<float>(i), box.y + (box.h - side) / 2, side,
                      side};
    if (gaps[i] == LeftOut::kNothing) {
      canvas.fill_rect(square, scene.theme.accent, scene.em * 0.08f);
      continue;
    }
    const Rect below{square.x, square.y + side / 2, side, side / 2};
    if (gaps[i] == LeftOut::kMlp)
      canvas.fill_rect({square.x, square.y, side, side / 2}, scene.theme.accent);
    if (gaps[i] == LeftOut::kAttention) canvas.fill_rect(below, scene.theme.accent);
    canvas.stroke_rect(square, scene.theme.text_dim, 1, LineStyle::kSolid, scene.em * 0.08f);
  }
}

}  // namespace triescope::viz
