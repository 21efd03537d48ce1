#include "viz/panels/timeline_marks.h"

#include <algorithm>

#include "viz/draw/drawing.h"

namespace triescope::viz {

void draw_bookmarks(Canvas& canvas, Rect plot, const Scene& scene,
                    const std::function<float(double step)>& px_of,
                    const std::function<float(float px, float width)>& lower) {
  const float em = scene.em;
  const Color color = scene.theme.mark(capture::NodeState::kBonus).color;
  const TextStyle style = ui_text(scene, 0.74f);
  const auto bookmarks = scene.capture->bookmarks();
  const auto px = [&](std::size_t i) {
    return px_of(static_cast<double>(bookmarks[i].tick) / capture::kPhaseCount);
  };
  for (std::size_t i = 0; i < bookmarks.size(); ++i) {
    const float at = px(i), down = lower(at, em * 0.7f);
    draw_glyph(canvas, "★", {at, plot.y + em * 0.4f + down}, em * 0.7f, color);
    if (bookmarks[i].note.empty() || at < plot.x || plot.h < em * 3) continue;
    const float left = at + em * 0.55f;
    const float right =
        std::min(plot.right(), i + 1 < bookmarks.size() ? px(i + 1) - em * 0.6f : plot.right());
    if (right - left < em * 2.5f) continue;
    const std::string note = fit_text(canvas, bookmarks[i].note, style, right - left);
    const float width = canvas.measure(note, style).x;
    const Rect box = {left, plot.y + lower(left + width / 2, width), width, em * 0.95f};
    text_over_lines(canvas, box, note, style, scene);
  }
}

}  // namespace triescope::viz
