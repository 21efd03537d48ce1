// Draft and verdict: what this step proposed and what became of it, with the reason; accepted
// lengths by step and as a histogram. For beam search: kept, pruned and finished beams with their
// scores.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>

#include "viz/draw.h"
#include "viz/layouts/axis.h"
#include "viz/panels/panels.h"
#include "viz/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::Verdict;

constexpr float kRowEm = 1.5f;

NodeState state_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAccepted:
      return NodeState::kAccepted;
    case Verdict::kRejected:
      return NodeState::kRejected;
    case Verdict::kPruned:
      return NodeState::kPruned;
    case Verdict::kFinished:
      return NodeState::kFinished;
    case Verdict::kBonus:
      return NodeState::kBonus;
    case Verdict::kCorrected:
      return NodeState::kCorrected;
    default:
      return NodeState::kLive;
  }
}

class VerdictPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {"verdict", "Draft and verdict",
                                   "The decisions of this step: accepted, rejected, bonus, kept, "
                                   "pruned, with p, q, the draw and the reason. Below: accepted "
                                   "drafts (for beams: the margin at the cut) by step and as a "
                                   "histogram; click a bar to go there.",
                                   "No decisions yet: step once more (F10)."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    list_ = {};
    bars_ = {};
    histogram_ = {};
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const auto rows = rows_of(scene);
    const float charts = area.h > em * 15 ? std::min(area.h * 0.4f, em * 11) : 0;
    const auto step = scene.capture->step(scene.shown_step());
    std::string head = "step " + std::to_string(scene.shown_step());
    if (step && step->drafted > 0)
      head += ": " + std::to_string(step->accepted) + " of " + std::to_string(step->drafted) +
              " drafts accepted, " + std::to_string(step->emitted) + " tokens emitted";
    else if (step)
      head += ": " + std::to_string(step->frontier) +
              (step->frontier == 1 ? " live path" : " live paths");
    text_in(canvas, {area.x + pad, area.y + em * 0.25f, area.w - 2 * pad, em * 1.3f}, head,
            bold_text(scene, 0.9f));
    const Rect list{area.x + pad, area.y + em * 1.7f, area.w - 2 * pad,
                    std::max(1.0f, area.h - em * 1.9f - charts)};
    if (rows.empty()) {
      draw_empty_state(canvas, list,
                       "This step has decided nothing yet: the accept phase comes next.", scene);
    } else {
      draw_list(canvas, list, rows, scene);
    }
    if (charts > 0) {
      const float y = area.bottom() - charts;
      const float split = std::max(area.w * 0.62f, area.w - em * 16);
      draw_bars(canvas, {area.x + pad, y, split - 2 * pad, charts - pad * 0.5f}, scene);
      draw_histogram(canvas, {area.x + split, y, area.w - split - pad, charts - pad * 0.5f}, scene);
    }
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture) return reaction;
    const auto rows = rows_of(scene);
    if (in.inside && in.wheel != 0)
      scroll_ = std::clamp(scroll_ - in.wheel * 2, 0.0f, static_cast<float>(rows.size()));
    if (in.dragging && list_.row > 0)
      scroll_ =
          std::clamp(scroll_ - in.drag_delta.y / list_.row, 0.0f, static_cast<float>(rows.size()));
    if (!in.inside) return reaction;
    reaction.hover = -1;
    if (list_.row > 0 && list_.area.contains(in.mouse)) {
      const std::size_t i =
          list_.first + static_cast<std::size_t>((in.mouse.y - list_.area.y) / list_.row);
      if (i < std::min(rows.size(), list_.last)) {
        reaction.hover = rows[i].node;
        if (in.clicked) reaction.lock = rows[i].node;
        reaction.tooltip = explain(rows[i], scene);
      }
    }
    const bool drafts = has_drafts(scene);
    if (bars_.area.w > 0 && bars_.area.contains(in.mouse)) {
      const auto step = static_cast<std::int32_t>(std::lround(bars_.x.value(in.mouse.x)));
      if (const auto row = scene.capture->step(step)) {
        reaction.tooltip = {"step " + std::to_string(step)};
        if (drafts) {
          reaction.tooltip.push_back("accepted " + std::to_string(row->accepted) + " of " +
                                     std::to_string(row->drafted) + " drafts");
          reaction.tooltip.push_back("tokens emitted = accepted + 1 = " +
                                     std::to_string(row->emitted));
        } else {
          for (const StepValue& value : values_of(scene))
            if (value.step == step)
              reaction.tooltip.push_back(
                  "margin = min over kept beams of score − best score that was cut = " +
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
        reaction.tooltip = {std::to_string(found->second) + " steps " +
                                (drafts ? "accepted " + std::to_string(bin) + " drafts"
                                        : "have a margin of " + number_text(bin / 10.0, 1) +
                                              " to " + number_text((bin + 1) / 10.0, 1)),
                            "click: the next of them"};
        if (in.clicked) reaction.cursor = next_with(scene, bin);
      }
    }
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const float rows = scene.capture ? static_cast<float>(rows_of(scene).size()) : 0;
    return {scene.em * 56, scene.em * std::max(26.0f, (4.5f + rows * kRowEm) / 0.6f)};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,node,parent,text,source,verdict,p,q,u,rank,score,gap,replacement,reason\n";
    if (!scene.capture) return out.str();
    const auto number = [](float value, bool optional) {
      return std::isnan(value) || (optional && value < 0) ? std::string() : std::to_string(value);
    };
    for (const capture::VerdictRow& row : rows_of(scene)) {
      const capture::NodeRow& node = scene.capture->nodes()[static_cast<std::size_t>(row.node)];
      out << capture::step_of(row.tick) << ',' << row.node << ',' << node.parent << ','
          << csv_field(node_text(scene, row.node)) << ',' << capture::to_string(node.source) << ','
          << capture::to_string(row.verdict) << ',' << number(row.p, true) << ','
          << number(row.q, true) << ',' << number(row.u, true) << ',' << row.rank << ','
          << number(row.score, false) << ',' << number(row.gap, false) << ',' << row.replacement
          << ',' << csv_field(reason_text(*scene.capture, row.reason)) << '\n';
    }
    return out.str();
  }

 private:
  static std::vector<capture::VerdictRow> rows_of(const Scene& scene) {
    std::vector<capture::VerdictRow> rows;
    if (scene.shown_step() < 0) return rows;
    for (const capture::VerdictRow& row : scene.capture->verdicts(scene.shown_step()))
      if (row.tick < scene.cursor) rows.push_back(row);
    return rows;
  }

  static bool has_drafts(const Scene& scene) {
    const auto steps = scene.capture->steps();
    return std::any_of(steps.begin(), steps.end(),
                       [](const capture::StepRow& row) { return row.drafted > 0; });
  }

  // What the charts show of a step: accepted drafts, or for beams the margin: the smallest score
  // gap between a kept beam and the best that was cut.
  struct StepValue {
    std::int32_t step = 0;
    float value = 0;
  };
  // Made once a state of the capture: frames cost pixels, not verdicts.
  const std::vector<StepValue>& values_of(const Scene& scene) {
    const capture::Counts counts = scene.capture->counts();
    if (scene.capture == values_for_ && counts.steps == values_steps_ &&
        counts.verdicts == values_verdicts_)
      return values_;
    values_for_ = scene.capture;
    values_steps_ = counts.steps;
    values_verdicts_ = counts.verdicts;
    values_.clear();
    const bool drafts = has_drafts(scene);
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

  static bool in_range(const Scene& scene, std::int32_t step) {
    return !scene.range || (step >= scene.range->first && step <= scene.range->second);
  }

  // Bins: accepted counts as they are, margins in tenths.
  static std::int32_t bin_of(float value, bool drafts) {
    return static_cast<std::int32_t>(drafts ? value : std::min(value * 10, 30.0f));
  }
  std::map<std::int32_t, int> histogram_of(const Scene& scene) {
    std::map<std::int32_t, int> counts;
    const bool drafts = has_drafts(scene);
    for (const StepValue& row : values_of(scene))
      if (in_range(scene, row.step)) ++counts[bin_of(row.value, drafts)];
    return counts;
  }

  std::optional<capture::Tick> next_with(const Scene& scene, std::int32_t bin) {
    std::optional<capture::Tick> first;
    const bool drafts = has_drafts(scene);
    for (const StepValue& row : values_of(scene)) {
      if (!in_range(scene, row.step) || bin_of(row.value, drafts) != bin) continue;
      const capture::Tick tick = std::min(scene.capture->end_tick(),
                                          capture::make_tick(row.step + 1, capture::Phase::kDraft));
      if (!first) first = tick;
      if (tick > scene.cursor) return tick;
    }
    return first;
  }

  static std::vector<std::string> explain(const capture::VerdictRow& row, const Scene& scene) {
    std::vector<std::string> lines = {
        node_summary(scene, row.node),
        std::string(capture::to_string(row.verdict)) +
            (row.reason.empty() ? "" : ": " + reason_text(*scene.capture, row.reason))};
    if (row.p >= 0 && row.q >= 0)
      lines.push_back(
          "p = " + number_text(row.p) + ", q = " + number_text(row.q) + ", min(1, p/q) = " +
          number_text(row.q > 0 ? std::min(1.0, static_cast<double>(row.p) / row.q) : 1));
    else if (row.p >= 0)
      lines.push_back("p = " + number_text(row.p));
    if (row.u >= 0)
      lines.push_back("the draw: u = " + number_text(row.u) + "; accepted if u < min(1, p/q)");
    if (row.replacement >= 0)
      lines.push_back("emitted instead: '" + token_text(scene.capture->piece(row.replacement)) +
                      "'");
    if (row.verdict == Verdict::kPruned || row.verdict == Verdict::kKept)
      lines.push_back(
          "score " + number_text(row.score) + ", gap " + number_text(row.gap) + " to the " +
          (row.verdict == Verdict::kPruned ? "worst survivor" : "best that was pruned"));
    return lines;
  }

  struct Column {
    const char* title;
    float em;
    std::string (*text)(const capture::VerdictRow&, const capture::NodeRow&);
  };
  // The columns there is something in, as many as fit; what matters least goes first.
  static std::vector<Column> columns_for(const std::vector<capture::VerdictRow>& rows,
                                         float width_em) {
    using Row = capture::VerdictRow;
    using Node = capture::NodeRow;
    const auto any = [&](auto has) { return std::any_of(rows.begin(), rows.end(), has); };
    std::vector<std::pair<int, Column>> all;  // importance
    all.push_back({2, {"source", 6.4f, [](const Row&, const Node& node) {
                         return std::string(capture::to_string(node.source));
                       }}});
    if (any([](const Row& row) { return row.p >= 0; }))
      all.push_back({9, {"p", 3.2f, [](const Row& row, const Node&) {
                           return row.p >= 0 ? probability_text(row.p) : std::string();
                         }}});
    if (any([](const Row& row) { return row.q >= 0 && row.q < 1; }))
      all.push_back({6, {"q", 3.2f, [](const Row& row, const Node&) {
                           return row.q >= 0 ? probability_text(row.q) : std::string();
                         }}});
    if (any([](const Row& row) { return row.u >= 0; }))
      all.push_back({7, {"u", 3.2f, [](const Row& row, const Node&) {
                           return row.u >= 0 ? number_text(row.u, 2) : std::string();
                         }}});
    const bool beams = any([](const Row& row) {
      return row.verdict == Verdict::kKept || row.verdict == Verdict::kPruned;
    });
    if (beams) {
      all.push_back({8, {"score", 4.0f, [](const Row& row, const Node&) {
                           return number_text(row.score, 2);
                         }}});
      all.push_back({5, {"gap", 3.4f, [](const Row& row, const Node&) {
                           return row.gap > 0 ? number_text(row.gap, 2) : std::string();
                         }}});
    }
    float used = 0;
    for (const auto& [importance, column] : all) used += column.em;
    while (!all.empty() && used > width_em) {
      const auto least = std::min_element(
          all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      used -= least->second.em;
      all.erase(least);
    }
    std::vector<Column> columns;
    for (const auto& [importance, column] : all) columns.push_back(column);
    return columns;
  }

  void draw_list(Canvas& canvas, Rect area, const std::vector<capture::VerdictRow>& rows,
                 const Scene& scene) {
    const float em = scene.em, row = em * kRowEm;
    const float token = std::min(em * 10, area.w * 0.34f);
    const float reason_min = std::min(em * 9, area.w * 0.3f);
    const auto columns = columns_for(rows, (area.w - token - reason_min) / em - 1.6f);
    const float figures_x = area.x + em * 1.4f + token;
    float reason_x = figures_x;
    for (const Column& column : columns) reason_x += column.em * em;
    if (area.h > row * 3) {
      float x = figures_x;
      const TextStyle head = dim_text(scene, 0.74f);
      text_in(canvas, {area.x + em * 1.3f, area.y, token - em * 0.3f, em * 1.1f}, "token", head);
      for (const Column& column : columns) {
        text_in(canvas, {x, area.y, column.em * em - em * 0.3f, em * 1.1f}, column.title, head);
        x += column.em * em;
      }
      text_in(canvas, {reason_x, area.y, area.right() - reason_x, em * 1.1f}, "why", head);
      area.y += em * 1.15f;
      area.h -= em * 1.15f;
    }
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(area.h / row)));
    const std::size_t most = rows.size() > fitting ? rows.size() - fitting : 0;
    scroll_ = std::min(scroll_, static_cast<float>(most));
    const std::size_t first = scene.export_mode ? 0 : static_cast<std::size_t>(scroll_);
    // Of what does not fit, the last row says how much there is.
    const std::size_t below = rows.size() > first + fitting ? rows.size() - first - fitting + 1 : 0;
    const std::size_t last =
        below > 0 ? first + fitting - 1 : std::min(rows.size(), first + fitting);
    list_ = {area, row, first, last};
    const std::int32_t frontier_depth = base_depth(rows, scene);
    for (std::size_t i = first; i < last; ++i) {
      const capture::VerdictRow& verdict = rows[i];
      const Mark mark = scene.theme.mark(state_of(verdict.verdict));
      const float y = area.y + static_cast<float>(i - first) * row;
      const capture::NodeRow& node = scene.capture->nodes()[static_cast<std::size_t>(verdict.node)];
      const Color color = verdict.verdict == Verdict::kKept && verdict.rank >= 0
                              ? scene.theme.beam(verdict.rank)
                              : mark.color;
      if (scene.focus.node() == verdict.node)
        canvas.fill_rect({area.x, y, area.w, row}, scene.theme.focus.with_alpha(0.12f), em * 0.2f);
      draw_glyph(canvas, mark.glyph, {area.x + em * 0.6f, y + row / 2}, em * 0.75f, color);
      // The draft tree: deeper tokens further in.
      const float indent =
          capture::is_draft(node.source)
              ? std::min(std::min(em * 4, token * 0.4f),
                         em * 0.6f * static_cast<float>(std::max(0, node.depth - frontier_depth)))
              : 0;
      TextStyle style = mono_text(scene, 0.9f);
      if (state_of(verdict.verdict) == NodeState::kPruned) style.color = scene.theme.text_dim;
      const Rect box{area.x + em * 1.3f + indent, y, std::max(1.0f, token - em * 0.3f - indent),
                     row};
      const std::string label = fit_text(canvas, node_text(scene, verdict.node, 16), style, box.w);
      text_in(canvas, box, label, style);
      if (mark.struck)
        canvas.line({box.x, y + row / 2}, {box.x + canvas.measure(label, style).x, y + row / 2},
                    mark.color, 1.2f);
      float x = figures_x;
      for (const Column& column : columns) {
        text_in(canvas, {x, y, column.em * em - em * 0.3f, row}, column.text(verdict, node),
                dim_text(scene, 0.84f));
        x += column.em * em;
      }
      const std::string word = verdict.verdict == Verdict::kKept      ? "kept"
                               : verdict.verdict == Verdict::kEmitted ? "emitted"
                                                                      : std::string(mark.word);
      text_in(
          canvas, {reason_x, y, area.right() - reason_x, row},
          word + (verdict.reason.empty() ? "" : ": " + reason_text(*scene.capture, verdict.reason)),
          ui_text(scene, 0.84f));
    }
    if (below > 0)
      text_in(canvas,
              {area.x + em * 1.3f, area.y + static_cast<float>(last - first) * row,
               area.w - em * 1.3f, row},
              "+ " + std::to_string(below) + " more: scroll", dim_text(scene, 0.8f));
  }

  static std::int32_t base_depth(const std::vector<capture::VerdictRow>& rows, const Scene& scene) {
    std::int32_t depth = INT32_MAX;
    for (const capture::VerdictRow& row : rows)
      depth = std::min(depth, scene.capture->nodes()[static_cast<std::size_t>(row.node)].depth);
    return depth;
  }

  void draw_bars(Canvas& canvas, Rect area, const Scene& scene) {
    const float em = scene.em;
    const bool drafts = has_drafts(scene);
    text_in(canvas, {area.x, area.y, area.w, em * 1.2f},
            drafts ? "accepted drafts by step" : "margin by step: score gap at the cut",
            dim_text(scene, 0.8f));
    const Rect plot{area.x + em * 2.2f, area.y + em * 1.5f, std::max(1.0f, area.w - em * 2.2f),
                    std::max(1.0f, area.h - em * 2.8f)};
    std::vector<StepValue> rows;
    float high = drafts ? 1 : 0.1f;
    for (const StepValue& row : values_of(scene))
      if (in_range(scene, row.step)) {
        rows.push_back(row);
        high = std::max(high, row.value);
      }
    if (rows.empty()) return;
    const double first = rows.front().step, last = rows.back().step;
    const AxisScale x{first - 0.5, last + 0.5, plot.x, plot.right()},
        y{0, static_cast<double>(high) * 1.04, plot.bottom(), plot.y};
    bars_ = {{plot.x, area.y, plot.w, area.h}, x};
    const TextStyle small = dim_text(scene, 0.72f);
    const auto ticks = drafts ? nice_integer_ticks(0, high, 3) : nice_ticks(0, high, 3);
    for (const double tick : ticks) {
      canvas.line({plot.x, y.px(tick)}, {plot.right(), y.px(tick)}, scene.theme.grid, 1);
      text_in(canvas, {area.x, y.px(tick) - em * 0.5f, em * 1.9f, em},
              drafts ? std::to_string(static_cast<int>(tick)) : number_text(std::abs(tick), 1),
              small, Align::kRight);
    }
    const float pitch = x.px(first + 1) - x.px(first);
    const float width = std::clamp(pitch * 0.78f, 1.0f, em * 2.2f);
    // Several steps on one px: the highest of them stands for all.
    const Color bar_color =
        drafts ? scene.theme.mark(NodeState::kAccepted).color : scene.theme.series(2);
    float last_px = -1e9f, best = -1;
    for (const StepValue& row : rows) {
      const float px = x.px(row.step);
      if (px - last_px < 1 && row.value <= best) continue;
      best = px - last_px < 1 ? std::max(best, row.value) : row.value;
      last_px = px;
      const bool current = row.step == scene.shown_step();
      const float top = y.px(row.value);
      if (row.value > 0)
        canvas.fill_rect({px - width / 2, top, width, plot.bottom() - top},
                         bar_color.with_alpha(current ? 1 : 0.62f));
      else
        canvas.fill_rect({px - width / 2, plot.bottom() - 2, width, 2},
                         scene.theme.mark(NodeState::kRejected).color);
      if (current && !scene.export_mode)
        canvas.stroke_rect({px - width / 2 - 1, plot.y, width + 2, plot.h},
                           scene.theme.current.with_alpha(0.8f));
    }
    for (const double tick :
         nice_integer_ticks(first, last, std::max(1, static_cast<int>(plot.w / (em * 5))))) {
      const float at = std::clamp(x.px(tick) - em * 1.5f, area.x, area.right() - em * 3);
      text_in(canvas, {at, plot.bottom() + em * 0.15f, em * 3, em},
              std::to_string(std::llround(tick)), small, Align::kCenter);
    }
  }

  void draw_histogram(Canvas& canvas, Rect area, const Scene& scene) {
    const float em = scene.em;
    if (area.w < em * 7) return;
    const bool drafts = has_drafts(scene);
    const auto counts = histogram_of(scene);
    if (counts.empty()) return;
    double steps = 0, sum = 0;
    int high = 1;
    for (const StepValue& row : values_of(scene))
      if (in_range(scene, row.step)) {
        ++steps;
        sum += static_cast<double>(row.value);
      }
    for (const auto& [bin, count] : counts) high = std::max(high, count);
    text_in(canvas, {area.x, area.y, area.w, em * 1.2f},
            (drafts ? "steps by accepted, mean " : "steps by margin, mean ") +
                number_text(sum / std::max(1.0, steps), 2),
            dim_text(scene, 0.8f));
    const Rect plot{area.x, area.y + em * 2.2f, area.w, std::max(1.0f, area.h - em * 3.5f)};
    const int last = counts.rbegin()->first;
    const AxisScale x{-0.5, last + 0.5, plot.x, plot.right()},
        y{0, static_cast<double>(high), plot.bottom(), plot.y};
    histogram_ = {{plot.x, area.y, plot.w, area.h}, x};
    const float width = std::clamp((x.px(1) - x.px(0)) * 0.8f, 1.0f, em * 3);
    const std::int32_t current = current_bin(scene);
    const TextStyle small = dim_text(scene, 0.7f);
    for (const auto& [bin, count] : counts) {
      const float top = y.px(count);
      canvas.fill_rect({x.px(bin) - width / 2, top, width, plot.bottom() - top},
                       scene.theme.series(3).with_alpha(bin == current ? 1.0f : 0.62f));
      if (width > em * 1.2f)
        text_in(canvas, {x.px(bin) - width / 2, top - em * 0.92f, width, em * 0.9f},
                std::to_string(count), small, Align::kCenter);
    }
    canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1);
    for (const double tick :
         nice_integer_ticks(0, last, std::max(1, static_cast<int>(plot.w / (em * 3))))) {
      const float at = std::clamp(x.px(tick) - em * 1.3f, area.x, area.right() - em * 2.6f);
      text_in(canvas, {at, plot.bottom() + em * 0.15f, em * 2.6f, em},
              drafts ? std::to_string(std::llround(tick)) : number_text(tick / 10, 1), small,
              Align::kCenter);
    }
  }

  std::int32_t current_bin(const Scene& scene) {
    const bool drafts = has_drafts(scene);
    for (const StepValue& row : values_of(scene))
      if (row.step == scene.shown_step()) return bin_of(row.value, drafts);
    return -1;
  }

  float scroll_ = 0;
  struct {
    Rect area;
    float row = 0;
    std::size_t first = 0, last = 0;
  } list_;
  const capture::Capture* values_for_ = nullptr;
  std::int64_t values_steps_ = -1, values_verdicts_ = -1;
  std::vector<StepValue> values_;
  struct Chart {
    Rect area;
    AxisScale x;
  };
  Chart bars_, histogram_;
};

}  // namespace

std::unique_ptr<Panel> make_verdict_panel() { return std::make_unique<VerdictPanel>(); }

}  // namespace triescope::viz
