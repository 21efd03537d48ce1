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
                                   "drafts by step and their histogram; click a bar to go there.",
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
    const bool drafts = has_drafts(scene);
    const float charts = drafts && area.h > em * 15 ? std::min(area.h * 0.4f, em * 11) : 0;
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
      if (i < rows.size()) {
        reaction.hover = rows[i].node;
        if (in.clicked) reaction.lock = rows[i].node;
        reaction.tooltip = explain(rows[i], scene);
      }
    }
    if (bars_.area.w > 0 && bars_.area.contains(in.mouse)) {
      const auto step = static_cast<std::int32_t>(std::lround(bars_.x.value(in.mouse.x)));
      if (const auto row = scene.capture->step(step)) {
        reaction.tooltip = {"step " + std::to_string(step) + ": accepted " +
                                std::to_string(row->accepted) + " of " +
                                std::to_string(row->drafted) + " drafts",
                            "tokens emitted = accepted + 1 = " + std::to_string(row->emitted)};
        if (in.clicked) reaction.cursor = capture::make_tick(step + 1, capture::Phase::kDraft);
      }
    }
    if (histogram_.area.w > 0 && histogram_.area.contains(in.mouse)) {
      const auto k = static_cast<std::int32_t>(std::lround(histogram_.x.value(in.mouse.x)));
      const auto counts = histogram_of(scene);
      if (const auto found = counts.find(k); found != counts.end()) {
        reaction.tooltip = {
            std::to_string(found->second) + " steps accepted " + std::to_string(k) + " drafts",
            "click: the next of them"};
        if (in.clicked) reaction.cursor = next_with(scene, k);
      }
    }
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const float rows = scene.capture ? static_cast<float>(rows_of(scene).size()) : 0;
    return {scene.em * 56,
            scene.em * (3 + rows * kRowEm + (scene.capture && has_drafts(scene) ? 12 : 1))};
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
          << ',' << csv_field(row.reason) << '\n';
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

  static bool in_view(const Scene& scene, const capture::StepRow& row) {
    return row.step > 0 &&
           (!scene.range || (row.step >= scene.range->first && row.step <= scene.range->second));
  }

  static std::map<std::int32_t, int> histogram_of(const Scene& scene) {
    std::map<std::int32_t, int> counts;
    for (const capture::StepRow& row : scene.capture->steps())
      if (in_view(scene, row)) ++counts[row.accepted];
    return counts;
  }

  static std::optional<capture::Tick> next_with(const Scene& scene, std::int32_t accepted) {
    std::optional<capture::Tick> first;
    for (const capture::StepRow& row : scene.capture->steps()) {
      if (!in_view(scene, row) || row.accepted != accepted) continue;
      const capture::Tick tick = capture::make_tick(row.step + 1, capture::Phase::kDraft);
      if (!first) first = tick;
      if (tick > scene.cursor) return tick;
    }
    return first;
  }

  static std::vector<std::string> explain(const capture::VerdictRow& row, const Scene& scene) {
    std::vector<std::string> lines = {node_summary(scene, row.node),
                                      std::string(capture::to_string(row.verdict)) +
                                          (row.reason.empty() ? "" : ": " + row.reason)};
    if (row.p >= 0 && row.q >= 0)
      lines.push_back(
          "p = " + number_text(row.p) + ", q = " + number_text(row.q) + ", min(1, p/q) = " +
          number_text(row.q > 0 ? std::min(1.0, static_cast<double>(row.p) / row.q) : 1));
    else if (row.p >= 0)
      lines.push_back("p = " + number_text(row.p));
    if (row.u >= 0)
      lines.push_back("the draw: u = " + number_text(row.u) + "; accepted if u < min(1, p/q)");
    if (row.replacement >= 0)
      lines.push_back("emitted instead: token " + std::to_string(row.replacement));
    if (row.verdict == Verdict::kPruned || row.verdict == Verdict::kKept)
      lines.push_back(
          "score " + number_text(row.score) + ", gap " + number_text(row.gap) + " to the " +
          (row.verdict == Verdict::kPruned ? "worst survivor" : "best that was pruned"));
    return lines;
  }

  void draw_list(Canvas& canvas, Rect area, const std::vector<capture::VerdictRow>& rows,
                 const Scene& scene) {
    const float em = scene.em, row = em * kRowEm;
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(area.h / row)));
    const std::size_t most = rows.size() > fitting ? rows.size() - fitting : 0;
    const std::size_t first =
        scene.export_mode ? 0 : std::min(most, static_cast<std::size_t>(scroll_));
    list_ = {area, row, first};
    const bool wide = area.w > em * 26;
    const float token = std::min(em * 9, area.w * 0.3f), figures = wide ? em * 9 : em * 5;
    for (std::size_t i = first; i < rows.size() && i < first + fitting; ++i) {
      const capture::VerdictRow& verdict = rows[i];
      const Mark mark = scene.theme.mark(state_of(verdict.verdict));
      const float y = area.y + static_cast<float>(i - first) * row;
      const capture::NodeRow& node = scene.capture->nodes()[static_cast<std::size_t>(verdict.node)];
      if (scene.focus.node() == verdict.node)
        canvas.fill_rect({area.x, y, area.w, row}, scene.theme.focus.with_alpha(0.1f), em * 0.2f);
      draw_glyph(canvas, mark.glyph, {area.x + em * 0.6f, y + row / 2}, em * 0.75f, mark.color);
      // The draft tree: deeper tokens further in.
      const auto frontier_depth = base_depth(rows, scene);
      const float indent =
          capture::is_draft(node.source)
              ? std::min(em * 4,
                         em * 0.5f * static_cast<float>(std::max(0, node.depth - frontier_depth)))
              : 0;
      TextStyle style = mono_text(scene, 0.9f);
      if (state_of(verdict.verdict) == NodeState::kPruned) style.color = scene.theme.text_dim;
      const Rect box{area.x + em * 1.3f + indent, y, std::max(em, token - indent), row};
      text_in(canvas, box, node_text(scene, verdict.node, 16), style);
      if (mark.struck)
        canvas.line(
            {box.x, y + row / 2},
            {box.x + std::min(box.w, canvas.measure(node_text(scene, verdict.node, 16), style).x),
             y + row / 2},
            mark.color, 1.2f, LineStyle::kSolid);
      std::string numbers;
      if (verdict.p >= 0) numbers = "p " + number_text(verdict.p, 2);
      if (verdict.q >= 0 && wide && verdict.q < 1) numbers += "  q " + number_text(verdict.q, 2);
      if (verdict.u >= 0 && wide) numbers += "  u " + number_text(verdict.u, 2);
      if (numbers.empty()) numbers = "score " + number_text(verdict.score, 2);
      text_in(canvas, {area.x + em * 1.5f + token, y, figures, row}, numbers,
              dim_text(scene, 0.82f));
      const float reason_x = area.x + em * 1.9f + token + figures;
      std::string reason =
          std::string(mark.word) + (verdict.reason.empty() ? "" : ": " + verdict.reason);
      if (verdict.verdict == Verdict::kKept)
        reason = "kept" + (verdict.reason.empty() ? std::string() : ": " + verdict.reason);
      if (verdict.verdict == Verdict::kEmitted)
        reason = "emitted" + (verdict.reason.empty() ? std::string() : ": " + verdict.reason);
      text_in(canvas, {reason_x, y, area.right() - reason_x, row}, reason, dim_text(scene, 0.82f));
    }
  }

  static std::int32_t base_depth(const std::vector<capture::VerdictRow>& rows, const Scene& scene) {
    std::int32_t depth = INT32_MAX;
    for (const capture::VerdictRow& row : rows)
      depth = std::min(depth, scene.capture->nodes()[static_cast<std::size_t>(row.node)].depth);
    return depth;
  }

  void draw_bars(Canvas& canvas, Rect area, const Scene& scene) {
    const float em = scene.em;
    text_in(canvas, {area.x, area.y, area.w, em * 1.2f}, "accepted drafts by step",
            dim_text(scene, 0.78f));
    const Rect plot{area.x + em * 1.8f, area.y + em * 1.4f, std::max(em, area.w - em * 1.8f),
                    std::max(em, area.h - em * 2.7f)};
    std::vector<capture::StepRow> rows;
    int high = 1;
    for (const capture::StepRow& row : scene.capture->steps())
      if (in_view(scene, row)) {
        rows.push_back(row);
        high = std::max(high, row.accepted);
      }
    if (rows.empty()) return;
    const double first = rows.front().step, last = rows.back().step;
    const AxisScale x{first - 0.5, last + 0.5, plot.x, plot.right()},
        y{0, static_cast<double>(high), plot.bottom(), plot.y};
    bars_ = {{plot.x, area.y, plot.w, area.h}, x};
    for (const double tick : nice_integer_ticks(0, high, 3)) {
      canvas.line({plot.x, y.px(tick)}, {plot.right(), y.px(tick)}, scene.theme.grid, 1,
                  LineStyle::kSolid);
      text_in(canvas, {area.x, y.px(tick) - em * 0.5f, em * 1.5f, em},
              std::to_string(static_cast<int>(tick)), dim_text(scene, 0.7f), Align::kRight);
    }
    const float width = std::max(1.0f, (x.px(first + 1) - x.px(first)) * 0.78f);
    // Several steps on one px: the highest of them stands for all.
    float last_px = -1e9f;
    int best = -1;
    for (const capture::StepRow& row : rows) {
      const float px = x.px(row.step);
      if (px - last_px < 1 && row.accepted <= best) continue;
      best = px - last_px < 1 ? std::max(best, row.accepted) : row.accepted;
      last_px = px;
      const bool current = row.step == scene.shown_step();
      const Color color =
          scene.theme.mark(NodeState::kAccepted).color.with_alpha(current ? 1 : 0.65f);
      const float top = y.px(row.accepted);
      if (row.accepted > 0)
        canvas.fill_rect({px - width / 2, top, width, plot.bottom() - top}, color, 0);
      else
        canvas.fill_rect({px - width / 2, plot.bottom() - 2, width, 2},
                         scene.theme.mark(NodeState::kRejected).color, 0);
      if (current)
        canvas.stroke_rect({px - width / 2 - 1, plot.y, width + 2, plot.h},
                           scene.theme.current.with_alpha(0.7f), 1, LineStyle::kSolid, 0);
    }
    for (const double tick :
         nice_integer_ticks(first, last, std::max(2, static_cast<int>(plot.w / (em * 4)))))
      text_in(canvas, {x.px(tick) - em * 2, plot.bottom() + em * 0.1f, em * 4, em},
              std::to_string(static_cast<long long>(tick)), dim_text(scene, 0.7f), Align::kCenter);
  }

  void draw_histogram(Canvas& canvas, Rect area, const Scene& scene) {
    const float em = scene.em;
    if (area.w < em * 7) return;
    const auto counts = histogram_of(scene);
    if (counts.empty()) return;
    double steps = 0, accepted = 0;
    int high = 1;
    for (const auto& [k, count] : counts) {
      steps += count;
      accepted += static_cast<double>(k) * count;
      high = std::max(high, count);
    }
    text_in(canvas, {area.x, area.y, area.w, em * 1.2f},
            "steps by accepted; mean " + number_text(accepted / steps, 2), dim_text(scene, 0.78f));
    const Rect plot{area.x, area.y + em * 1.4f, area.w, std::max(em, area.h - em * 2.7f)};
    const int last = counts.rbegin()->first;
    const AxisScale x{-0.5, last + 0.5, plot.x, plot.right()},
        y{0, static_cast<double>(high), plot.bottom(), plot.y};
    histogram_ = {{plot.x, area.y, plot.w, area.h}, x};
    const float width = std::max(1.0f, (x.px(1) - x.px(0)) * 0.8f);
    for (const auto& [k, count] : counts) {
      const float top = y.px(count);
      canvas.fill_rect({x.px(k) - width / 2, top, width, plot.bottom() - top},
                       scene.theme.series(2).with_alpha(0.8f), 0);
      if (width > em * 1.2f)
        text_in(canvas,
                {x.px(k) - width / 2, top - em * 0.9f < plot.y ? top : top - em * 0.95f, width,
                 em * 0.9f},
                std::to_string(count), dim_text(scene, 0.66f), Align::kCenter);
    }
    canvas.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, scene.theme.border, 1,
                LineStyle::kSolid);
    for (const double tick :
         nice_integer_ticks(0, last, std::max(2, static_cast<int>(plot.w / (em * 2)))))
      text_in(canvas, {x.px(tick) - em, plot.bottom() + em * 0.1f, em * 2, em},
              std::to_string(static_cast<int>(tick)), dim_text(scene, 0.7f), Align::kCenter);
  }

  float scroll_ = 0;
  struct {
    Rect area;
    float row = 0;
    std::size_t first = 0;
  } list_;
  struct Chart {
    Rect area;
    AxisScale x;
  };
  Chart bars_, histogram_;
};

}  // namespace

std::unique_ptr<Panel> make_verdict_panel() { return std::make_unique<VerdictPanel>(); }

}  // namespace triescope::viz
