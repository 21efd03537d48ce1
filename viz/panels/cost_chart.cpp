#include "viz/panels/cost_chart.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/canvas/common_rect.h"
#include "viz/draw/drawing.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr int kMostDrafts = 64, kFewestDrafts = 8;

std::string times_text(double value) { return number_text(value, 2) + " ×"; }

// Drafts that the axis has room for: those of the best and of the points, and some more.
int drafts_shown(const std::vector<CostSeries>& series) {
  double most = kFewestDrafts;
  for (const CostSeries& one : series)
    most = std::max({most, 1.25 * one.drafts(), 1.5 * one.model.best().drafts});
  return static_cast<int>(std::min<double>(kMostDrafts, std::ceil(most)));
}

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
  text_in(canvas, {plot.area.x, plot.area.bottom() + em * 1.35f, plot.area.w, em * 1.1f},
          "drafts in a step that drafts", small, Align::kCenter);
}

void draw_chains(Canvas& canvas, const CostPlot& plot, const ForwardCosts& forwards,
                 std::vector<Rect>& placed, const Scene& scene) {
  const float em = scene.em;
  const Color pale = scene.theme.text_dim.with_alpha(0.6f);
  const TextStyle small = dim_text(scene, 0.78f);
  for (std::size_t i = std::size(kChainAcceptances); i-- > 0;) {
    std::vector<Point> points;
    for (int n = 0; n <= static_cast<int>(plot.x.high); ++n)
      points.push_back({plot.x.px(n), plot.y.px(chain_speedup(forwards, kChainAcceptances[i], n))});
    canvas.push_clip({plot.area.x, plot.area.y, plot.area.w, plot.area.h});
    canvas.polyline(points, pale, em / 12, LineStyle::kDashed);
    canvas.pop_clip();
    // Curves that leave the picture at its top are named where they leave it.
    std::size_t end = points.size() - 1;
    while (end > 0 && points[end].y < plot.area.y) --end;
    const bool leaves = end + 1 < points.size();
    const float y = leaves ? plot.area.y + em * 0.6f : points[end].y;
    const std::string label = "α " + number_text(kChainAcceptances[i], 1);
    const float x = leaves ? plot.x.px(static_cast<double>(end) + 1) : plot.area.right();
    const Rect box{x + em * 0.3f, y - em * 0.6f, canvas.measure(label, small).x, em * 1.2f};
    const bool is_free =
        std::none_of(placed.begin(), placed.end(), [&](Rect other) { return overlap(box, other); });
    if (!is_free || box.right() > plot.area.right() + em * 3) continue;
    placed.push_back(box);
    text_in(canvas, box, label, small);
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
  const CostPoint best = one.model.best();
  if (best.drafts > 0) {
    const Point top = at(best.drafts, best.speedup());
    draw_glyph(canvas, "▼", {top.x, top.y - em * 0.55f}, em * 0.8f, color);
    plot.bests.emplace_back(Rect{top.x - em * 0.6f, top.y - em * 1.1f, em * 1.2f, em * 1.1f},
                            index);
  }
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
  canvas.fill_rect({box->x - em * 0.15f, box->y, width + em * 0.3f, box->h},
                   scene.theme.background.with_alpha(0.8f), em * 0.2f);
  text_in(canvas, *box, label, style);
}

void csv_row(std::ostream& out, const std::string& name, const char* kind, double drafts,
             double tokens, double cost) {
  out << csv_field(name) << ',' << kind << ',' << csv_double(drafts) << ',' << csv_double(tokens)
      << ',' << csv_double(cost) << ',' << csv_double(tokens / cost) << ",,\n";
}

}  // namespace

double CostSeries::drafts() const {
  const SpeculationFacts& facts = model.facts;
  return facts.drafting ? static_cast<double>(facts.rows - facts.plain_rows * facts.steps) /
                              static_cast<double>(facts.drafting)
                        : 0;
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
  plot.area = {area.x + em * 3.3f, area.y + used, std::max(1.0f, area.w - em * 6.3f),
               std::max(1.0f, area.h - used - em * 2.6f)};
  const int most = drafts_shown(series);
  double high = 1.2;
  for (const CostSeries& one : series) {
    high = std::max({high, one.speedup(), one.measured ? one.measured->high : 0});
    for (const double value : speedups(one.model, most)) high = std::max(high, value);
  }
  plot.x = {0, static_cast<double>(most), plot.area.x, plot.area.right()};
  plot.y = {0, high * 1.15, plot.area.bottom(), plot.area.y};
  draw_cost_axes(canvas, area, plot, scene);
  std::vector<Rect> placed;  // labels
  if (!beams) draw_chains(canvas, plot, series.front().model.forwards, placed, scene);
  for (std::size_t i = 0; i < series.size(); ++i)
    draw_series(canvas, series[i], i, plot, placed, scene);
  return plot;
}

std::string cost_csv(const std::vector<CostSeries>& series) {
  std::ostringstream out;
  out << "series,kind,drafts,tokens_per_step,step_cost,speedup,low,high\n";
  if (series.empty()) return out.str();
  for (const CostSeries& one : series) {
    const CostModel& model = one.model;
    for (int n = 0; n <= static_cast<int>(model.yields.size()); ++n) {
      const CostPoint point = model.at(n);
      csv_row(out, one.name, "curve", n, point.tokens, point.cost);
    }
    const CostPoint best = model.best();
    csv_row(out, one.name, "best", best.drafts, best.tokens, best.cost);
    csv_row(out, one.name, "ran", one.drafts(), model.facts.tokens_per_step(), model.step_cost());
    if (one.measured)
      out << csv_field(one.name) << ",measured," << csv_double(one.drafts()) << ",,,"
          << csv_double(one.measured->mean) << ',' << csv_double(one.measured->low) << ','
          << csv_double(one.measured->high) << '\n';
  }
  const ForwardCosts& forwards = series.front().model.forwards;
  for (const double acceptance : kChainAcceptances)
    for (int n = 0; n <= drafts_shown(series); ++n)
      csv_row(out, "alpha " + number_text(acceptance, 1), "curve", n, chain_tokens(acceptance, n),
              forwards.of(1 + n));
  return out.str();
}

}  // namespace triescope::viz
