#include <algorithm>
#include <cmath>

#include "viz/draw/drawing.h"
#include "viz/layouts/axis.h"
#include "viz/panels/bar_layouts.h"
#include "viz/text/number_text.h"
#include "viz/text/plot_number.h"

namespace triescope::viz {
namespace {

constexpr float kLyingRowEm = 1.5f, kLyingHeadEm = 1.6f, kLyingGroupEm = 8.5f, kLyingApartEm = 1,
                kLyingAxisEm = 1.5f;

float names_width(Canvas& canvas, const BarChart& chart, const Scene& scene) {
  float width = 0;
  for (const std::string& name : chart.series)
    width = std::max(width, canvas.measure(name, ui_text(scene, 0.9f)).x);
  return std::min(width, scene.em * 22) + scene.em;
}

Rect row_of(Rect plot, std::size_t row, float em) {
  return {plot.x, plot.y + em * kLyingRowEm * static_cast<float>(row), plot.w, em * kLyingRowEm};
}

void draw_lying_bar(Canvas& canvas, Rect line, const BarValue& value, Color color,
                    const AxisScale& x, const Scene& scene) {
  const float em = scene.em, middle = line.y + line.h / 2;
  canvas.fill_rect({line.x, line.y + em * 0.25f, x.px(value.mean) - line.x, em}, color);
  if (!std::isnan(value.low) && !std::isnan(value.high)) {
    const float low = x.px(std::max(0.0, value.low)), high = x.px(value.high);
    canvas.line({low, middle}, {high, middle}, scene.theme.text, 1.5f);
    for (const float end : {low, high})
      canvas.line({end, middle - em * 0.25f}, {end, middle + em * 0.25f}, scene.theme.text, 1.5f);
  }
  if (!std::isnan(value.ring))
    draw_glyph(canvas, "○", {x.px(value.ring), middle}, em * 0.6f,
               scene.theme.mark(capture::NodeState::kCorrected).color);
}

// The value stands behind its bar, the group's best in bold letters.
void draw_figure(Canvas& canvas, Rect line, const BarValue& value, bool is_best, const AxisScale& x,
                 const Scene& scene) {
  const float em = scene.em;
  const double end = std::max({value.mean, std::isnan(value.high) ? 0 : value.high,
                               std::isnan(value.ring) ? 0 : value.ring});
  const TextStyle style = is_best ? bold_text(scene, 0.8f) : ui_text(scene, 0.8f);
  const std::string words = plot_number(value.mean);
  const Rect box{x.px(end) + em * 0.2f, line.y + em * 0.2f,
                 canvas.measure(words, style).x + em * 0.2f, line.h - em * 0.4f};
  canvas.fill_rect(box, scene.theme.background);  // no line through its digits
  text_in(canvas, box, words, style, Align::kCenter);
}

void draw_column(Canvas& canvas, Rect plot, std::size_t group, const BarChart& chart,
                 const Scene& scene) {
  const float em = scene.em;
  const TextStyle small = dim_text(scene, 0.78f);
  const double most = bars_reach(chart), best = best_of_group(chart, group);
  const AxisScale x{0, most, plot.x, plot.right() - em * 2.4f};
  for (const double tick : nice_ticks(0, most, 3)) {
    canvas.line({x.px(tick), plot.y}, {x.px(tick), plot.bottom()}, scene.theme.grid);
    draw_x_label(canvas, x.px(tick), plot.bottom() + em * 0.2f, em, plot.x - em, plot.right(),
                 round_text(tick), small);
  }
  const auto& bars = chart.values[group];
  const Color color = scene.theme.series(0);
  for (std::size_t s = 0; s < bars.size(); ++s) {
    const Rect line = row_of(plot, s, em);
    if (bars[s])
      draw_lying_bar(canvas, line, *bars[s],
                     bars[s]->mean == best ? color : color.with_alpha(0.55f), x, scene);
    else
      text_in(canvas, line, "–", small);
  }
  if (!std::isnan(chart.reference))
    canvas.line({x.px(chart.reference), plot.y}, {x.px(chart.reference), plot.bottom()},
                scene.theme.text, 1, LineStyle::kDashed);
  for (std::size_t s = 0; s < bars.size(); ++s)
    if (bars[s])
      draw_figure(canvas, row_of(plot, s, em), *bars[s], bars[s]->mean == best, x, scene);
  canvas.line({plot.x, plot.y}, {plot.x, plot.bottom()}, scene.theme.border);
}

}  // namespace

void draw_lying_bars(Canvas& canvas, Rect area, const BarChart& chart, const Scene& scene) {
  const float em = scene.em, names = names_width(canvas, chart, scene);
  const float pitch =
      (area.w - names + em * kLyingApartEm) / static_cast<float>(chart.groups.size());
  const Rect rows{area.x, area.y + em * kLyingHeadEm, names - em * 0.8f,
                  em * kLyingRowEm * static_cast<float>(chart.series.size())};
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    text_in(canvas, row_of(rows, s, em), chart.series[s], ui_text(scene, 0.9f), Align::kRight);
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const Rect plot{area.x + names + pitch * static_cast<float>(g), rows.y,
                    pitch - em * kLyingApartEm, rows.h};
    text_in(canvas, {plot.x, area.y, plot.w, em * 1.4f}, chart.groups[g], bold_text(scene, 0.9f));
    draw_column(canvas, plot, g, chart, scene);
  }
}

Point lying_extent(Canvas& canvas, const BarChart& chart, const Scene& scene) {
  const auto groups = static_cast<float>(chart.groups.size());
  return {names_width(canvas, chart, scene) +
              scene.em * ((kLyingGroupEm + kLyingApartEm) * groups - kLyingApartEm),
          scene.em * (kLyingHeadEm + kLyingAxisEm +
                      kLyingRowEm * static_cast<float>(chart.series.size()))};
}

}  // namespace triescope::viz
