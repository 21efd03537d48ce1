#include <algorithm>
#include <cmath>

#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/panels/bar_layouts.h"
#include "viz/text/number_text.h"
#include "viz/text/plot_number.h"

namespace triescope::viz {
namespace {

constexpr Point kBarSlideEm{66.5f, 32};  // 16:9 with the title, the export's margins and caption
constexpr float kLeastBarEm = 1.1f;      // more bars than a slide has room for make it wider
constexpr float kScaleEm = 3.2f, kNamesEm = 3;

// "n = 5", "n = 5 to 9"; "" where no bar says it.
std::string n_text(const std::vector<std::optional<BarValue>>& bars) {
  std::int64_t least = 0, most = 0;
  for (const auto& value : bars) {
    if (!value || value->n == 0) continue;
    least = most ? std::min(least, value->n) : value->n;
    most = std::max(most, value->n);
  }
  if (most == 0) return "";
  return "n = " + std::to_string(least) + (most > least ? " to " + std::to_string(most) : "");
}

// Returns the upper end of what it drew.
float draw_bar(Canvas& canvas, Rect bar, const BarValue& value, Color color, const AxisScale& y,
               const Scene& scene) {
  const float em = scene.em, middle = bar.x + bar.w / 2;
  canvas.fill_rect(bar, color);
  float above = bar.y;
  if (!std::isnan(value.low) && !std::isnan(value.high)) {
    const float low = y.px(std::max(0.0, value.low)), high = y.px(value.high),
                cap = std::min(em * 0.3f, bar.w * 0.3f);
    canvas.line({middle, low}, {middle, high}, scene.theme.text, 1.5f);
    for (const float end : {low, high})
      canvas.line({middle - cap, end}, {middle + cap, end}, scene.theme.text, 1.5f);
    above = std::min(above, high);
  }
  if (!std::isnan(value.ring)) {
    draw_glyph(canvas, "○", {middle, y.px(value.ring)}, em * 0.6f,
               scene.theme.mark(capture::NodeState::kCorrected).color);
    above = std::min(above, y.px(value.ring) - em * 0.3f);
  }
  return above;
}

void draw_bar_group(Canvas& canvas, std::size_t g, Rect room, const BarChart& chart,
                    const AxisScale& y, const Scene& scene) {
  const float em = scene.em;
  const auto count = static_cast<float>(chart.series.size());
  const float width = std::min(em * 4, room.w * 0.8f / count);
  const double best = best_of_group(chart, g);
  float x = room.x + (room.w - width * count) / 2;
  for (std::size_t s = 0; s < chart.series.size(); ++s, x += width) {
    const auto& value = chart.values[g][s];
    if (!value) continue;
    const float top = y.px(value->mean);
    const Color color = scene.theme.series(static_cast<int>(s));
    const float above =
        draw_bar(canvas, {x + width * 0.06f, top, width * 0.88f, room.bottom() - top}, *value,
                 color.with_alpha(value->mean == best ? 1.0f : 0.75f), y, scene);
    const TextStyle style = ui_text(scene, 0.78f);
    const std::string label = plot_number(value->mean);
    if (canvas.measure(label, style).x <= width * 1.1f)
      text_in(canvas, {x - width * 0.1f, above - em * 1.1f, width * 1.2f, em}, label, style,
              Align::kCenter);
  }
  const TextStyle name = ui_text(scene, 0.86f);
  text_in(canvas, {room.x, room.bottom() + em * 0.2f, room.w, em * 1.2f},
          fit_text(canvas, chart.groups[g], name, room.w - em * 0.4f), name, Align::kCenter);
  const TextStyle small = dim_text(scene, 0.8f);
  text_in(canvas, {room.x, room.bottom() + em * 1.4f, room.w, em * 1.1f},
          fit_text(canvas, n_text(chart.values[g]), small, room.w - em * 0.2f), small,
          Align::kCenter);
}

}  // namespace

void draw_upright_bars(Canvas& canvas, Rect area, const BarChart& chart, const Scene& scene) {
  const float em = scene.em;
  float top = area.y - em * 0.2f;
  if (chart.series.size() > 1) {
    std::vector<LegendEntry> entries;
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      entries.push_back({.label = chart.series[i],
                         .color = scene.theme.series(static_cast<int>(i)),
                         .glyph = "■"});
    top += draw_legend(canvas, {area.x, top}, area.w, entries, scene) + em * 0.4f;
  }
  const Rect plot{area.x + em * kScaleEm, top, std::max(1.0f, area.w - em * (kScaleEm + 0.4f)),
                  std::max(1.0f, area.bottom() - top - em * kNamesEm)};
  const AxisScale y{0, bars_reach(chart) * 1.12, plot.bottom(), plot.y};
  const TextStyle small = dim_text(scene, 0.8f);
  for (const double tick :
       nice_ticks(0, y.high, std::max(2, static_cast<int>(plot.h / (em * 2.4f))))) {
    canvas.line({plot.x, y.px(tick)}, {plot.right(), y.px(tick)}, scene.theme.grid, 1);
    text_in(canvas, {area.x, y.px(tick) - em * 0.6f, em * 2.9f, em * 1.2f}, round_text(tick), small,
            Align::kRight);
  }
  const float pitch = plot.w / static_cast<float>(chart.groups.size());
  for (std::size_t g = 0; g < chart.groups.size(); ++g)
    draw_bar_group(canvas, g, {plot.x + pitch * static_cast<float>(g), plot.y, pitch, plot.h},
                   chart, y, scene);
  if (!std::isnan(chart.reference))
    canvas.line({plot.x, y.px(chart.reference)}, {plot.right(), y.px(chart.reference)},
                scene.theme.text, 1, LineStyle::kDashed);
  canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1);
}

Point upright_extent(Canvas&, const BarChart& chart, const Scene& scene) {
  const auto bars = static_cast<float>(chart.groups.size() * chart.series.size());
  return {scene.em * std::max(kBarSlideEm.x, kScaleEm + 0.4f + bars * kLeastBarEm / 0.8f),
          scene.em * kBarSlideEm.y};
}

}  // namespace triescope::viz
