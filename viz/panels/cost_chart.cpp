#include "viz/panels/cost_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "viz/canvas/common_rect.h"
#include "viz/draw/drawing.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr int kMostDrafts = 64, kFewestDrafts = 8;
// A lower chart has no names among its curves; one with less room than the second has no title of its axis.
constexpr float kNamedCurvesEm = 5, kTitledAxisEm = 7;
// From the highest value to the top: a point and above it the mark of what pays best.
constexpr float kCostHeadroomEm = 1.6f;

std::string times_text(double value) { return number_text(value, 2) + " ×"; }

// Speed-ups by drafts, from 0 on.
std::vector<double> speedups(const CostModel& model, int most) {
  std::vector<double> values;
  for (int n = 0; n <= std::min(most, static_cast<int>(model.yields.size())); ++n)
    values.push_back(model.at(n).speedup());
  return values;
}

// Moves a label up and down until it is free of those that are placed. nullopt: there is no room.
std::optional<Rect> free_place(Rect label, const std::vector<Rect>& placed, Rect within) {
  for (const float lines : {0.0f, 1.0f, -1.0f, 2.0f, -2.0f}) {
    Rect moved = label;
    moved.y += lines * label.h;
    const bool is_free = std::none_of(placed.begin(), placed.end(),
                                      [&](Rect other) { return overlap(moved, other); });
    if (is_free && moved.y >= within.y && moved.bottom() <= within.bottom()) return moved;
  }
  return std::nullopt;
}

double chain_speedup(const ForwardCosts& forwards, double acceptance, int drafts) {
  return chain_tokens(acceptance, drafts) / forwards.of(1 + drafts);
}

void draw_cost_axes(Canvas& canvas, Rect area, const CostPlot& plot, const Scene& scene) {
  const float em = scene.em;
  const TextStyle small = dim_text(scene, 0.78f);
  float last = 1e9f;  // the label below: a low chart has room for few
  for (const double tick :
       nice_ticks(0, plot.y.high, std::max(2, static_cast<int>(plot.area.h / (em * 2.4f))))) {
    const float py = plot.y.px(tick);
    canvas.line({plot.area.x, py}, {plot.area.right(), py}, scene.theme.grid, 1);
    if (last - py < em * 1.2f) continue;
    last = py;
    text_in(canvas, {area.x, py - em * 0.6f, em * 2.9f, em * 1.2f}, round_text(tick) + " ×", small,
            Align::kRight);
  }
  for (const double tick :
       nice_integer_ticks(0, plot.x.high, std::max(2, static_cast<int>(plot.area.w / (em * 4))))) {
    const float px = plot.x.px(tick);
    canvas.line({px, plot.area.bottom()}, {px, plot.area.bottom() + em * 0.2f}, scene.theme.border,
                1);
    draw_x_label(canvas, px, plot.area.bottom() + em * 0.25f, em * 1.1f, area.x, area.right(),
                 std::to_string(std::llround(tick)), small);
  }
  canvas.line({plot.area.x, plot.area.bottom()}, {plot.area.right(), plot.area.bottom()},
              scene.theme.border, 1);
  canvas.line({plot.area.x, plot.area.y}, {plot.area.x, plot.area.bottom()}, scene.theme.border, 1);
  const float one = plot.y.px(1);
  canvas.line({plot.area.x, one}, {plot.area.right(), one}, scene.theme.text_dim, 1.5f);
  const Rect title{plot.area.x, plot.area.bottom() + em * 1.35f, plot.area.w, em * 1.1f};
  if (title.bottom() <= area.bottom())
    text_in(canvas, title, "drafts in a step that drafts", small, Align::kCenter);
}

// The mark at the number of drafts that pays best: above its line, and above the point of the run where
// that lies close. nullopt: no draft pays.
std::optional<Rect> best_mark(const CostSeries& one, const CostPlot& plot, float em) {
  const CostPoint best = one.model.best();
  if (best.drafts == 0) return std::nullopt;
  const float x = plot.x.px(best.drafts), ran_x = plot.x.px(one.drafts());
  float tip = plot.y.px(best.speedup());
  if (std::fabs(x - ran_x) < em) tip = std::min(tip, plot.y.px(one.speedup()) - em * 0.42f);
  return Rect{x - em * 0.6f, tip - em * 1.1f, em * 1.2f, em * 1.1f};
}

void draw_chains(Canvas& canvas, const CostPlot& plot, const ForwardCosts& forwards,
                 std::vector<Rect>& placed, const Scene& scene) {
  const float em = scene.em;
  const Color pale = scene.theme.text_dim.with_alpha(0.6f);
  const TextStyle small = dim_text(scene, 0.78f);
  std::array<std::vector<Point>, std::size(kChainAcceptances)> curves;
  canvas.push_clip({plot.area.x, plot.area.y, plot.area.w, plot.area.h});
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (int n = 0; n <= static_cast<int>(plot.x.high); ++n)
      curves[i].push_back(
          {plot.x.px(n), plot.y.px(chain_speedup(forwards, kChainAcceptances[i], n))});
    canvas.polyline(curves[i], pale, em / 12, LineStyle::kDashed);
  }
  canvas.pop_clip();
  for (std::size_t i = curves.size(); i-- > 0;) {
    const std::vector<Point>& points = curves[i];
    const std::string label = "α " + number_text(kChainAcceptances[i], 1);
    const float width = canvas.measure(label, small).x, height = em * 1.2f;
    const bool leaves = points.back().y < plot.area.y;
    Rect box{plot.area.right() + em * 0.3f, points.back().y - height / 2, width, height};
    if (leaves) {
      // A curve that leaves the picture at its top has its name there, to its left: others pass on the right.
      const float y = plot.area.y + height / 2;
      std::size_t below = points.size() - 2;
      while (below > 0 && points[below].y < y) --below;
      const Point from = points[below], to = points[below + 1];
      const float x = from.x + (to.x - from.x) * (from.y - y) / (from.y - to.y);
      box = {std::max(plot.area.x + em * 0.3f, x - em * 0.3f - width), y - height / 2, width,
             height};
    }
    const bool is_free =
        std::none_of(placed.begin(), placed.end(), [&](Rect other) { return overlap(box, other); });
    if (!is_free || box.right() > plot.area.right() + em * 3) continue;
    if (leaves && plot.area.h < em * kNamedCurvesEm) continue;
    placed.push_back(box);
    text_over_lines(canvas, box, label, small, scene);
  }
}

void draw_series(Canvas& canvas, const CostSeries& one, std::size_t index, CostPlot& plot,
                 std::vector<Rect>& placed, const Scene& scene) {
  const float em = scene.em;
  const Color color = scene.theme.series(static_cast<int>(index));
  const auto at = [&](double drafts, double speedup) {
    return Point{plot.x.px(drafts), plot.y.px(speedup)};
  };
  std::vector<Point> line;
  for (const double value : speedups(one.model, static_cast<int>(plot.x.high)))
    line.push_back(at(static_cast<double>(line.size()), value));
  canvas.polyline(line, color, em / 6);
  const Point ran = at(one.drafts(), one.speedup());
  if (one.measured && one.runs > 1) {
    const float low = plot.y.px(one.measured->low), high = plot.y.px(one.measured->high);
    canvas.line({ran.x, low}, {ran.x, high}, scene.theme.text, 1.5f);
    for (const float end : {low, high})
      canvas.line({ran.x - em * 0.25f, end}, {ran.x + em * 0.25f, end}, scene.theme.text, 1.5f);
  }
  canvas.fill_circle(ran, em * 0.42f, color);
  canvas.stroke_circle(ran, em * 0.42f, scene.theme.background, 1.5f);
  plot.points.emplace_back(Rect{ran.x - em * 0.7f, ran.y - em * 0.7f, em * 1.4f, em * 1.4f}, index);
  const std::string label = times_text(one.speedup());
  const TextStyle style = bold_text(scene, 0.8f);
  const float width = canvas.measure(label, style).x;
  const float left =
      ran.x + em * 0.7f + width < plot.area.right() ? ran.x + em * 0.7f : ran.x - em * 0.7f - width;
  const auto box = free_place({left, ran.y - em * 0.6f, width, em * 1.2f}, placed, plot.area);
  if (!box) return;
  placed.push_back(*box);
  text_over_lines(canvas, *box, label, style, scene);
}

}  // namespace

double CostSeries::drafts() const {
  const SpeculationFacts& facts = model.facts;
  return facts.drafting ? static_cast<double>(facts.rows - facts.plain_rows * facts.steps) /
                              static_cast<double>(facts.drafting)
                        : 0;
}

int drafts_shown(const std::vector<CostSeries>& series) {
  double most = kFewestDrafts;
  for (const CostSeries& one : series)
    most = std::max({most, 1.25 * one.drafts(), 1.5 * one.model.best().drafts});
  return static_cast<int>(std::min<double>(kMostDrafts, std::ceil(most)));
}

CostPlot draw_cost_chart(Canvas& canvas, Rect area, const std::vector<CostSeries>& series,
                         const Scene& scene) {
  const float em = scene.em;
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < series.size(); ++i)
    entries.push_back({.label = series[i].name,
                       .color = scene.theme.series(static_cast<int>(i)),
                       .glyph = "",
                       .term = "speed-up"});
  const Color plain = scene.theme.text;
  entries.push_back({.label = "as it ran", .color = plain, .glyph = "●"});
  // Chains of drafts for one text say nothing of beams, and no other number of drafts is known of them.
  const bool beams = series.front().model.facts.is_of_beams();
  if (!beams) entries.push_back({.label = "pays best", .color = plain, .glyph = "▼"});
  entries.push_back({.label = beams ? "plain beam search" : "plain decoding",
                     .color = scene.theme.text_dim,
                     .glyph = ""});
  if (!beams)
    entries.push_back({.label = "α: acceptance of free drafts in a chain",
                       .color = scene.theme.text_dim,
                       .glyph = "",
                       .line = LineStyle::kDashed,
                       .term = "α"});
  const float used = draw_legend(canvas, {area.x, area.y}, area.w, entries, scene, nullptr,
                                 std::max(1, legend_rows(area, scene))) +
                     em * 0.5f;
  CostPlot plot;
  const float left = area.h - used, below = em * (left < em * kTitledAxisEm ? 1.4f : 2.6f);
  plot.area = {area.x + em * 3.3f, area.y + used, std::max(1.0f, area.w - em * 6.3f),
               std::max(1.0f, left - below)};
  const int most = drafts_shown(series);
  double high = 1.2;
  for (const CostSeries& one : series) {
    high = std::max({high, one.speedup(), one.measured ? one.measured->high : 0});
    for (const double value : speedups(one.model, most)) high = std::max(high, value);
  }
  plot.x = {0, static_cast<double>(most), plot.area.x, plot.area.right()};
  const float headroom = std::clamp(em * kCostHeadroomEm, plot.area.h * 0.13f, plot.area.h * 0.5f);
  plot.y = {0, high * static_cast<double>(plot.area.h / (plot.area.h - headroom)),
            plot.area.bottom(), plot.area.y};
  draw_cost_axes(canvas, area, plot, scene);
  std::vector<Rect> placed;  // labels and marks
  for (std::size_t i = 0; i < series.size(); ++i)
    if (const auto mark = best_mark(series[i], plot, em)) {
      plot.bests.emplace_back(*mark, i);
      placed.push_back(*mark);
    }
  if (!beams) draw_chains(canvas, plot, series.front().model.forwards, placed, scene);
  for (std::size_t i = 0; i < series.size(); ++i)
    draw_series(canvas, series[i], i, plot, placed, scene);
  for (const auto& [mark, i] : plot.bests)
    draw_glyph(canvas, "▼", {mark.x + mark.w / 2, mark.y + mark.h / 2}, em * 0.8f,
               scene.theme.series(static_cast<int>(i)));
  return plot;
}

}  // namespace triescope::viz
