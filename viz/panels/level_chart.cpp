#include "viz/panels/level_chart.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/query/draft_places.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

class LevelChart final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "acceptance-by-level", "Acceptance by level",
        "Of the places that drafts of a level could be accepted at, because the draft before it was, "
        "the share at which one was; the line is the 95 % interval.",
        "Find the level at which the drafter loses.",
        "No draft has been verified yet: drafting methods have levels."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    const auto levels = levels_of(scene);
    if (levels.empty()) return draw_empty_state(canvas, area, info().empty, scene);
    draw_level_chart(canvas, area, levels, scene);
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const auto levels = static_cast<float>(levels_of(scene).size());
    return {scene.em * std::max(40.0f, 5 + levels * 5), scene.em * 20};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "level,reached,accepted,share,low,high\n";
    for (const LevelShares& level : levels_of(scene)) {
      const ShareInterval interval = wilson_interval(level.accepted, level.reached);
      out << level.level << ',' << level.reached << ',' << level.accepted << ','
          << csv_number(static_cast<double>(level.accepted) / level.reached) << ','
          << csv_number(interval.low) << ',' << csv_number(interval.high) << '\n';
    }
    return out.str();
  }

 private:
  std::vector<LevelShares> levels_of(const Scene& scene) const {
    return scene.capture ? reached_levels(history_.shares(scene)) : std::vector<LevelShares>{};
  }

  mutable LevelHistory history_;  // built once per capture, for drawing, extent and CSV
};

}  // namespace

std::vector<LevelShares> reached_levels(std::vector<LevelShares> levels) {
  std::erase_if(levels, [](const LevelShares& level) { return level.reached == 0; });
  return levels;
}

void draw_level_chart(Canvas& canvas, Rect area, const std::vector<LevelShares>& levels,
                      const Scene& scene) {
  const float em = scene.em;
  const TextStyle bold = bold_text(scene, 0.9f);
  const std::string steps = scene.range ? ", " + range_text(scene.range) : "";
  // A narrow chart has fewer words.
  std::string title;
  for (const char* const words :
       {"P(draft of level d accepted | level d − 1 accepted), 95 % interval (Wilson)",
        "P(level d accepted | level d − 1 accepted), 95 % interval", "P(level d | level d − 1)"}) {
    title = words + steps;
    if (canvas.measure(title, bold).x <= area.w) break;
  }
  text_in(canvas, {area.x, area.y, area.w, em * 1.4f}, title, bold);
  const Rect plot{area.x + em * 3, area.y + em * 2.2f, std::max(1.0f, area.w - em * 3.5f),
                  std::max(1.0f, area.h - em * 5.6f)};
  const AxisScale x{0.5, levels.back().level + 0.5, plot.x, plot.right()},
      y{0, 1, plot.bottom(), plot.y};
  const TextStyle small = dim_text(scene, 0.78f);
  for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    canvas.line({plot.x, y.px(tick)}, {plot.right(), y.px(tick)}, scene.theme.grid, 1);
    text_in(canvas, {area.x, y.px(tick) - em * 0.5f, em * 2.7f, em},
            number_text(100 * tick, 0) + " %", small, Align::kRight);
  }
  const float pitch = x.px(2) - x.px(1), width = std::clamp(pitch * 0.5f, 2.0f, em * 3);
  const Color color = scene.theme.mark(capture::NodeState::kAccepted).color;
  for (const LevelShares& level : levels) {
    const float at = x.px(level.level);
    const double share = static_cast<double>(level.accepted) / level.reached;
    const ShareInterval interval = wilson_interval(level.accepted, level.reached);
    canvas.fill_rect({at - width / 2, y.px(share), width, plot.bottom() - y.px(share)},
                     color.with_alpha(0.55f));
    canvas.line({at, y.px(interval.low)}, {at, y.px(interval.high)}, scene.theme.text, 1.5f);
    for (const double end : {interval.low, interval.high})
      canvas.line({at - em * 0.3f, y.px(end)}, {at + em * 0.3f, y.px(end)}, scene.theme.text, 1.5f);
    const Rect below{at - pitch / 2, plot.bottom() + em * 0.2f, pitch, em * 1.1f};
    text_in(canvas, below, std::to_string(level.level), ui_text(scene, 0.84f), Align::kCenter);
    text_in(canvas, {below.x, below.bottom(), pitch, em},
            std::to_string(level.accepted) + " of " + std::to_string(level.reached), small,
            Align::kCenter);
  }
  canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1);
  text_in(canvas, {plot.x, area.bottom() - em * 1.1f, plot.w, em},
          "level of the draft (below it: accepted of the places reached)", small, Align::kCenter);
}

std::unique_ptr<Panel> make_level_chart() { return std::make_unique<LevelChart>(); }

}  // namespace triescope::viz
