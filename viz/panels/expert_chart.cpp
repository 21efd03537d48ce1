#include "viz/panels/expert_chart.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/range_band.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kExpertLeftEm = 3, kExpertRightEm = 5.2f, kExpertStepsEm = 1.3f, kLeastStepPx = 3;

// The steps in sight: as many as have room, the shown one among them.
AxisScale expert_steps_in_sight(const std::vector<ExpertStep>& steps, Rect plot,
                                const Scene& scene) {
  double first = steps.front().step, last = steps.back().step + 1.0;
  const double room = std::max(1.0f, plot.w / kLeastStepPx);
  if (!scene.export_mode && last - first > room) {
    last = std::clamp(scene.shown_step() + room / 2, first + room, last);
    first = last - room;
  }
  // A few steps do not fill the whole width.
  const double span = std::max(last - first, static_cast<double>(plot.w) / (scene.em * 4));
  return {first, first + span, plot.x, plot.right()};
}

}  // namespace

std::vector<std::string> expert_step_lines(const ExpertStep& step, const MixtureSize& size) {
  std::vector<std::string> lines = {
      counted(step.rows, "row") + ": " + number_text(step.read_a_layer(), 1) +
      " different experts a layer, one row " + number_text(step.alone_a_layer(), 1)};
  if (const double read = bytes_read(step, size); read > 0)
    lines.push_back("the forward reads " + bytes_text(read) + " of weights, one row " +
                    bytes_text(bytes_alone(step, size)) + " (× " +
                    number_text(read / bytes_alone(step, size), 2) + ")");
  if (size.experts > 0)
    lines.push_back("rows that chose freely: E (1 − (1 − k/E)ⁿ) = " +
                    number_text(experts_by_chance(size, step.rows), 1) + " experts a layer");
  return lines;
}

void ExpertChart::draw(Canvas& canvas, Rect area, const std::vector<ExpertStep>& steps,
                       const MixtureSize& size, const Scene& scene) {
  plot_ = {};
  if (steps.empty()) return;
  const float em = scene.em;
  const TextStyle small = dim_text(scene, 0.78f);
  const bool has_bytes = size.expert_bytes > 0;
  plot_ = {area.x + em * kExpertLeftEm, area.y + em * 0.3f,
           std::max(1.0f, area.w - em * (kExpertLeftEm + (has_bytes ? kExpertRightEm : 0.6f))),
           std::max(1.0f, area.h - em * (kExpertStepsEm + 0.3f))};
  x_ = expert_steps_in_sight(steps, plot_, scene);
  double high = 1;
  for (const ExpertStep& step : steps)
    high = std::max({high, step.read_a_layer(), experts_by_chance(size, step.rows)});
  const AxisScale y{0, high * 1.05, plot_.bottom(), plot_.y};
  for (const double tick :
       nice_integer_ticks(0, high * 1.05, std::max(2, static_cast<int>(plot_.h / (em * 2))))) {
    canvas.line({plot_.x, y.px(tick)}, {plot_.right(), y.px(tick)}, scene.theme.grid, 1);
    const Rect label{area.x, y.px(tick) - em * 0.5f, em * (kExpertLeftEm - 0.4f), em};
    text_in(canvas, label, std::to_string(std::llround(tick)), small, Align::kRight);
    // Bytes follow the experts in a line; below what one row reads there is nothing to read.
    const ExpertStep& one = steps.back();
    const double bytes =
        bytes_alone(one, size) + (tick - one.alone_a_layer()) * one.layers * size.expert_bytes;
    if (has_bytes && tick >= one.alone_a_layer())
      text_in(canvas, {plot_.right() + em * 0.4f, label.y, em * (kExpertRightEm - 0.4f), em},
              bytes_text(bytes), small);
  }
  canvas.push_clip({plot_.x, plot_.y - 1, plot_.w, plot_.h + 2});
  if (scene.range) {
    const float a = x_.px(scene.range->first), b = x_.px(scene.range->second + 1);
    draw_range_band(canvas, {a, plot_.y, b - a, plot_.h}, scene);
  }
  const float wide = x_.px(x_.low + 1) - x_.px(x_.low), gap = wide > 6 ? 1 : 0;
  std::vector<Point> alone, chance;
  for (const ExpertStep& step : steps) {
    const float left = x_.px(step.step), middle = left + wide / 2;
    const bool is_shown = step.step == scene.shown_step();
    const float top = y.px(step.read_a_layer());
    canvas.fill_rect({left + gap, top, std::max(1.0f, wide - 2 * gap), plot_.bottom() - top},
                     scene.theme.accent.with_alpha(is_shown ? 0.95f : 0.5f));
    alone.push_back({middle, y.px(step.alone_a_layer())});
    if (size.experts > 0) chance.push_back({middle, y.px(experts_by_chance(size, step.rows))});
  }
  const auto line = [&](const std::vector<Point>& points, Color color, LineStyle style) {
    if (points.size() > 1) return canvas.polyline(points, color, 1.6f, style);
    for (const Point& point : points)
      canvas.line({point.x - wide / 2, point.y}, {point.x + wide / 2, point.y}, color, 1.6f, style);
  };
  line(chance, scene.theme.text_dim, LineStyle::kDotted);
  line(alone, scene.theme.text, LineStyle::kDashed);
  canvas.pop_clip();
  canvas.line({plot_.x, plot_.bottom()}, {plot_.right(), plot_.bottom()}, scene.theme.border, 1);
  for (const double tick :
       nice_integer_ticks(x_.low, x_.high, std::max(2, static_cast<int>(plot_.w / (em * 4)))))
    if (tick >= steps.front().step && tick <= steps.back().step)
      draw_x_label(canvas, x_.px(tick + 0.5), plot_.bottom() + em * 0.15f, em * 1.1f, area.x,
                   area.right(), std::to_string(std::llround(tick)), small);
}

void ExpertChart::input(const Input& in, const std::vector<ExpertStep>& steps,
                        const MixtureSize& size, Reaction& reaction) const {
  if (!in.inside || plot_.w <= 0 || !plot_.contains(in.mouse)) return;
  const auto at = static_cast<std::int32_t>(std::floor(x_.value(in.mouse.x)));
  const auto step = std::ranges::find(steps, at, &ExpertStep::step);
  if (step == steps.end()) return;
  reaction.tooltip = expert_step_lines(*step, size);
  reaction.tooltip.insert(reaction.tooltip.begin(), "step " + std::to_string(at));
  if (in.clicked) reaction.cursor = capture::make_tick(at, capture::Phase::kForward) + 1;
}

}  // namespace triescope::viz
