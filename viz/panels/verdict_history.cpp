#include "viz/panels/verdict_history.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::Verdict;

// Bins hold accepted counts, or margins in tenths. The last one holds all larger margins.
constexpr std::int32_t kLastTenth = 30;

std::int32_t bin_of(float value, bool drafts) {
  return static_cast<std::int32_t>(drafts ? value : std::min(value * 10, float{kLastTenth}));
}

// "0.2 to 0.3", "3.0 or more".
std::string margin_text(std::int32_t bin) {
  return number_text(bin / 10.0, 1) +
         (bin == kLastTenth ? " or more" : " to " + number_text((bin + 1) / 10.0, 1));
}

}  // namespace

bool VerdictHistory::is_of_drafts(const Scene& scene) {
  const auto steps = scene.capture->steps();
  return std::any_of(steps.begin(), steps.end(),
                     [](const capture::StepRow& row) { return row.drafted > 0; });
}

void VerdictHistory::clear() { bars_ = histogram_ = {}; }

bool VerdictHistory::any(const Scene& scene) { return !all_values(scene).empty(); }

void VerdictHistory::draw(Canvas& canvas, Rect area, float height, const Scene& scene) {
  const float em = scene.em, pad = em * 0.6f;
  const float y = area.bottom() - height;
  const float split = std::max(area.w * 0.62f, area.w - em * 16);
  draw_bars(canvas, {area.x + pad, y, split - 2 * pad, height - pad * 0.5f}, scene);
  draw_histogram(canvas, {area.x + split, y, area.w - split - pad, height - pad * 0.5f}, scene);
}

void VerdictHistory::input(const Input& in, const Scene& scene, Reaction& reaction) {
  const bool drafts = is_of_drafts(scene);
  if (bars_.area.w > 0 && bars_.area.contains(in.mouse)) {
    const auto step = static_cast<std::int32_t>(std::lround(bars_.x.value(in.mouse.x)));
    if (const auto row = scene.capture->step(step)) {
      reaction.tooltip = {"step " + std::to_string(step)};
      if (!has_decided(step, scene.cursor)) {
        reaction.tooltip.push_back("the cursor stands before its decision");
      } else if (drafts) {
        reaction.tooltip.push_back("accepted " + std::to_string(row->accepted) + " of " +
                                   counted(row->drafted, "draft"));
        reaction.tooltip.push_back("tokens emitted: " + std::to_string(row->emitted));
      } else {
        for (const StepValue& value : values_of(scene))
          if (value.step == step)
            reaction.tooltip.push_back(
                "margin = min over kept beams of Σ log p − best Σ log p that was cut = " +
                number_text(value.value, 3));
      }
      if (in.clicked)
        reaction.cursor = std::min(scene.capture->end_tick(),
                                   capture::make_tick(step + 1, capture::Phase::kDraft));
    }
  }
  if (histogram_.area.w > 0 && histogram_.area.contains(in.mouse)) {
    const auto bin = static_cast<std::int32_t>(std::lround(histogram_.x.value(in.mouse.x)));
    const auto counts = histogram_of(scene);
    if (const auto found = counts.find(bin); found != counts.end()) {
      reaction.tooltip = {
          counted(found->second, "step") + (drafts ? " accepted " + counted(bin, "draft")
                                                   : " with a margin of " + margin_text(bin)),
          "click: the next of them"};
      if (in.clicked) reaction.cursor = next_with(scene, bin);
    }
  }
}

// Built once per state of the capture: a frame's cost must not grow with the verdicts.
const std::vector<VerdictHistory::StepValue>& VerdictHistory::all_values(const Scene& scene) {
  const capture::Counts counts = scene.capture->counts();
  if (scene.capture == values_for_ && counts.steps == values_steps_ &&
      counts.verdicts == values_verdicts_)
    return values_;
  values_for_ = scene.capture;
  values_steps_ = counts.steps;
  values_verdicts_ = counts.verdicts;
  values_.clear();
  const bool drafts = is_of_drafts(scene);
  for (const capture::StepRow& row : scene.capture->steps()) {
    if (row.step == 0) continue;
    if (drafts) {
      values_.push_back({row.step, static_cast<float>(row.accepted)});
      continue;
    }
    float margin = -1;
    for (const capture::VerdictRow& verdict : scene.capture->verdicts(row.step))
      if (verdict.verdict == Verdict::kKept && verdict.gap > 0)
        margin = margin < 0 ? verdict.gap : std::min(margin, verdict.gap);
    if (margin >= 0) values_.push_back({row.step, margin});
  }
  return values_;
}

const std::vector<VerdictHistory::StepValue>& VerdictHistory::values_beside(const Scene& scene) {
  static const std::vector<StepValue> kNone;
  if (!scene.beside.capture) return kNone;
  const Scene other = scene.of_beside();
  if (is_of_drafts(other) != is_of_drafts(scene)) return kNone;
  if (!beside_) beside_ = std::make_unique<VerdictHistory>();
  return beside_->values_of(other);
}

const std::vector<VerdictHistory::StepValue>& VerdictHistory::values_of(const Scene& scene) {
  const auto& all = all_values(scene);
  const auto end = std::ranges::partition_point(
      all, [&](const StepValue& row) { return has_decided(row.step, scene.cursor); });
  seen_.assign(all.begin(), end);
  return seen_;
}

std::map<std::int32_t, int> VerdictHistory::histogram_of(const Scene& scene) {
  std::map<std::int32_t, int> counts;
  const bool drafts = is_of_drafts(scene);
  for (const StepValue& row : values_of(scene))
    if (scene.in_range(row.step)) ++counts[bin_of(row.value, drafts)];
  return counts;
}

// Steps behind the cursor count too, though they have no bar: a click on a bar leads through all
// such steps.
std::optional<capture::Tick> VerdictHistory::next_with(const Scene& scene, std::int32_t bin) {
  std::optional<capture::Tick> first;
  const bool drafts = is_of_drafts(scene);
  for (const StepValue& row : all_values(scene)) {
    if (!scene.in_range(row.step) || bin_of(row.value, drafts) != bin) continue;
    const capture::Tick tick = std::min(scene.capture->end_tick(),
                                        capture::make_tick(row.step + 1, capture::Phase::kDraft));
    if (!first) first = tick;
    if (tick > scene.cursor) return tick;
  }
  return first;
}

std::int32_t VerdictHistory::current_bin(const Scene& scene) {
  const bool drafts = is_of_drafts(scene);
  for (const StepValue& row : values_of(scene))
    if (row.step == scene.shown_step()) return bin_of(row.value, drafts);
  return -1;
}

void VerdictHistory::draw_bars(Canvas& canvas, Rect area, const Scene& scene) {
  const float em = scene.em;
  const bool drafts = is_of_drafts(scene);
  text_in(canvas, {area.x, area.y, area.w, em * 1.2f},
          drafts ? "accepted drafts by step" : "margin by step: Δ Σ log p at the cut",
          dim_text(scene, 0.8f));
  const Rect plot{area.x + em * 2.2f, area.y + em * 1.5f, std::max(1.0f, area.w - em * 2.2f),
                  std::max(1.0f, area.h - em * 2.8f)};
  // The axes cover the whole run, so that bars keep their places as the cursor moves.
  std::vector<StepValue> rows;
  float high = drafts ? 1 : 0.1f;
  for (const StepValue& row : all_values(scene))
    if (scene.in_range(row.step)) {
      rows.push_back(row);
      high = std::max(high, row.value);
    }
  if (rows.empty()) return;
  double first = rows.front().step, last = rows.back().step;
  for (const StepValue& row : values_beside(scene)) {
    if (!scene.of_beside().in_range(row.step)) continue;
    high = std::max(high, row.value);
    first = std::min<double>(first, row.step);
    last = std::max<double>(last, row.step);
  }
  const AxisScale x{first - 0.5, last + 0.5, plot.x, plot.right()},
      y{0, static_cast<double>(high) * 1.04, plot.bottom(), plot.y};
  bars_ = {{plot.x, area.y, plot.w, area.h}, x};
  const TextStyle small = dim_text(scene, 0.74f);
  const auto ticks = drafts ? nice_integer_ticks(0, high, 3) : nice_ticks(0, high, 3);
  for (const double tick : ticks) {
    canvas.line({plot.x, y.px(tick)}, {plot.right(), y.px(tick)}, scene.theme.grid, 1);
    text_in(canvas, {area.x, y.px(tick) - em * 0.5f, em * 1.9f, em}, round_text(tick), small,
            Align::kRight);
  }
  const float pitch = x.px(first + 1) - x.px(first);
  const float width = std::clamp(pitch * 0.78f, 1.0f, em * 2.2f);
  // Where several steps share a px, the highest bar stands for all.
  const Color bar_color =
      drafts ? scene.theme.mark(NodeState::kAccepted).color : scene.theme.series(2);
  float last_px = -1e9f, best = -1;
  for (const StepValue& row : rows) {
    const float px = x.px(row.step);
    // A figure shows the run, so no step stands out in it.
    const bool marks = !scene.export_mode || scene.series;
    const bool current = marks && row.step == scene.shown_step(),
               is_seen = has_decided(row.step, scene.cursor);
    if (!is_seen && !current) break;
    if (px - last_px < 1 && row.value <= best) continue;
    best = px - last_px < 1 ? std::max(best, row.value) : row.value;
    last_px = px;
    const float top = y.px(row.value);
    if (is_seen && row.value > 0)
      canvas.fill_rect({px - width / 2, top, width, plot.bottom() - top},
                       bar_color.with_alpha(current ? 1 : 0.62f));
    else if (is_seen)
      canvas.fill_rect({px - width / 2, plot.bottom() - 2, width, 2},
                       scene.theme.mark(NodeState::kRejected).color);
    if (current)
      canvas.stroke_rect({px - width / 2 - 1, plot.y, width + 2, plot.h},
                         scene.theme.current.with_alpha(0.8f));
  }
  if (scene.twins && scene.twins->parting_step >= 0 && scene.in_range(scene.twins->parting_step)) {
    // The text parts from the other run's here.
    const float at = std::clamp(x.px(scene.twins->parting_step), plot.x, plot.right());
    canvas.line({at, plot.y}, {at, plot.bottom()}, scene.theme.difference, 1.2f,
                LineStyle::kDotted);
    draw_difference(canvas, {std::min(at, area.right() - em * 0.55f), plot.y + em * 0.45f},
                    em * 0.75f, scene);
  }
  for (const double tick :
       nice_integer_ticks(first, last, std::max(1, static_cast<int>(plot.w / (em * 5))))) {
    draw_x_label(canvas, x.px(tick), plot.bottom() + em * 0.15f, em, area.x,
                 area.right() + em * 0.5f, std::to_string(std::llround(tick)), small);
  }
}

void VerdictHistory::draw_histogram(Canvas& canvas, Rect area, const Scene& scene) {
  const float em = scene.em;
  if (area.w < em * 7) return;
  const bool drafts = is_of_drafts(scene);
  const auto counts = histogram_of(scene);
  if (counts.empty()) return;
  std::int64_t steps = 0;
  double sum = 0;
  int high = 1;
  for (const StepValue& row : values_of(scene))
    if (scene.in_range(row.step)) {
      ++steps;
      sum += static_cast<double>(row.value);
    }
  int last = counts.rbegin()->first;
  for (const auto& [bin, count] : counts) high = std::max(high, count);
  if (!values_beside(scene).empty())
    for (const auto& [bin, count] : beside_->histogram_of(scene.of_beside())) {
      high = std::max(high, count);
      last = std::max(last, bin);
    }
  // The number of steps is never cut off: a narrow chart has fewer words.
  const TextStyle title = dim_text(scene, 0.8f);
  const std::string mean =
      number_text(sum / static_cast<double>(std::max<std::int64_t>(1, steps)), 2);
  std::string words = (drafts ? "steps by accepted, mean " : "steps by margin, mean ") + mean +
                      " of " + counted(steps, "step");
  if (canvas.measure(words, title).x > area.w)
    words = "mean " + mean + ", n " + std::to_string(steps);
  text_in(canvas, {area.x, area.y, area.w, em * 1.2f}, words, title);
  // Room for half of the last label, "3.0+".
  const float beside = drafts ? 0 : em * 0.6f;
  const Rect plot{area.x, area.y + em * 2.2f, area.w - beside, std::max(1.0f, area.h - em * 3.5f)};
  const AxisScale x{-0.5, last + 0.5, plot.x, plot.right()},
      y{0, static_cast<double>(high), plot.bottom(), plot.y};
  histogram_ = {{plot.x, area.y, plot.w, area.h}, x};
  const float width = std::clamp((x.px(1) - x.px(0)) * 0.8f, 1.0f, em * 3);
  const std::int32_t current = current_bin(scene);
  const TextStyle small = dim_text(scene, 0.74f);
  for (const auto& [bin, count] : counts) {
    const float top = y.px(count);
    canvas.fill_rect({x.px(bin) - width / 2, top, width, plot.bottom() - top},
                     scene.theme.series(3).with_alpha(bin == current ? 1.0f : 0.62f));
    const float half = (x.px(1) - x.px(0)) / 2;
    if (width > em * 1.2f)
      draw_x_label(canvas, x.px(bin), top - em * 0.92f, em * 0.9f, x.px(bin) - half,
                   x.px(bin) + half, std::to_string(count), small);
  }
  canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1);
  for (const double tick :
       nice_integer_ticks(0, last, std::max(1, static_cast<int>(plot.w / (em * 3))))) {
    draw_x_label(canvas, x.px(tick), plot.bottom() + em * 0.15f, em, area.x - em * 0.5f,
                 area.right() + em * 0.5f,
                 drafts ? std::to_string(std::llround(tick))
                        : number_text(tick / 10, 1) + (std::lround(tick) == kLastTenth ? "+" : ""),
                 small);
  }
}

}  // namespace triescope::viz
