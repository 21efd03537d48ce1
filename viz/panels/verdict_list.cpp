#include "viz/panels/verdict_list.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "viz/look/drawing.h"
#include "viz/look/node_text.h"
#include "viz/look/reason_text.h"
#include "viz/panels/column_fit.h"
#include "viz/words/number_text.h"
#include "viz/words/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::Verdict;

// "rejected: argmax is ..."
std::string with_reason(const std::string& word, const capture::VerdictRow& row,
                        const Scene& scene) {
  const std::string reason = reason_text(row, *scene.capture);
  return reason.empty() ? word : word + ": " + reason;
}

std::vector<std::string> explain(const capture::VerdictRow& row, const Scene& scene) {
  std::vector<std::string> lines = {node_summary(scene, row.node),
                                    with_reason(capture::to_string(row.verdict), row, scene)};
  if (row.p >= 0)
    lines.push_back(std::string(is_after_warpers(row.reason) ? "p′ = " : "p = ") +
                    number_text(row.p) +
                    (row.q >= 0 && row.q < 1 ? ", q = " + number_text(row.q) : "") +
                    (std::isnan(acceptance_chance(row))
                         ? ""
                         : ", min(1, p′/q) = " + number_text(acceptance_chance(row))));
  if (row.u >= 0)
    lines.push_back("the draw: u = " + number_text(row.u) +
                    (std::isnan(acceptance_chance(row)) ? "" : "; accepted if u < min(1, p′/q)"));
  if (row.replacement >= 0)
    lines.push_back("emitted instead: '" + token_text(scene.capture->piece(row.replacement)) + "'");
  if (row.verdict == Verdict::kPruned || row.verdict == Verdict::kKept)
    lines.push_back("Σ log p " + logprob_text(row.score) + ", Δ " + logprob_text(row.gap) +
                    " to the " +
                    (row.verdict == Verdict::kPruned ? "worst survivor" : "best that was pruned"));
  if (const std::string difference = difference_text(scene, row.node); !difference.empty())
    lines.push_back(difference);
  return lines;
}

struct Column {
  const char* title;
  float em;
  std::string (*text)(const capture::VerdictRow&, const capture::NodeRow&);
  float (*bar)(const capture::VerdictRow&) =
      nullptr;  // a probability, drawn below its figure; -1 = none
};

// The columns that hold anything, as many as fit.
std::vector<Column> columns_for(const std::vector<capture::VerdictRow>& rows, float width_em) {
  using Row = capture::VerdictRow;
  using Node = capture::NodeRow;
  const auto any = [&](auto has) { return std::any_of(rows.begin(), rows.end(), has); };
  std::vector<std::pair<int, Column>> all;  // importance
  all.push_back({2, {"source", 6.4f, [](const Row&, const Node& node) {
                       return std::string(capture::to_string(node.source));
                     }}});
  if (any([](const Row& row) { return row.p >= 0; }))
    all.push_back(
        {9,
         {any([](const Row& row) { return is_after_warpers(row.reason); }) ? "p′" : "p", 3.8f,
          [](const Row& row, const Node&) {
            return row.p >= 0 ? probability_text(row.p) : std::string();
          },
          [](const Row& row) { return row.p; }}});
  if (any([](const Row& row) { return row.q >= 0 && row.q < 1; }))
    all.push_back({8,
                   {"q", 3.8f,
                    [](const Row& row, const Node&) {
                      return row.q >= 0 ? probability_text(row.q) : std::string();
                    },
                    [](const Row& row) { return row.q; }}});
  if (any([](const Row& row) { return row.u >= 0; }))
    all.push_back({7, {"u", 3.2f, [](const Row& row, const Node&) {
                         return row.u >= 0 ? number_text(row.u, 2) : std::string();
                       }}});
  if (any([](const Row& row) { return !std::isnan(acceptance_chance(row)); }))
    all.push_back({6, {"min(1, p′/q)", 6.2f, [](const Row& row, const Node&) {
                         const float chance = acceptance_chance(row);
                         return std::isnan(chance) ? std::string() : number_text(chance, 2);
                       }}});
  const bool beams = any([](const Row& row) {
    return row.verdict == Verdict::kKept || row.verdict == Verdict::kPruned;
  });
  if (beams) {
    all.push_back({8, {"Σ log p", 4.4f, [](const Row& row, const Node&) {
                         return logprob_text(row.score);
                       }}});
    all.push_back({5, {"Δ", 3.8f, [](const Row& row, const Node&) {
                         return row.gap > 0 ? logprob_text(row.gap) : std::string();
                       }}});
  }
  std::vector<ColumnSize> sizes;
  for (const auto& [importance, column] : all) sizes.push_back({column.em, importance});
  const std::vector<bool> on = columns_that_fit(sizes, width_em);
  std::vector<Column> columns;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (on[i]) columns.push_back(all[i].second);
  return columns;
}

// The first node of its path among these rows that the other run lacks or has decided otherwise.
bool difference_begins(const std::vector<capture::VerdictRow>& rows, const capture::NodeRow& node,
                       const Scene& scene) {
  return scene.differs(node.node) && (!scene.differs(node.parent) ||
                                      std::none_of(rows.begin(), rows.end(), [&](const auto& row) {
                                        return row.node == node.parent;
                                      }));
}

std::int32_t base_depth(const std::vector<capture::VerdictRow>& rows, const Scene& scene) {
  std::int32_t depth = INT32_MAX;
  for (const capture::VerdictRow& row : rows)
    depth = std::min(depth, scene.capture->nodes()[static_cast<std::size_t>(row.node)].depth);
  return depth;
}

}  // namespace

std::vector<capture::VerdictRow> VerdictList::rows_of(const Scene& scene) {
  std::vector<capture::VerdictRow> rows;
  if (scene.shown_step() < 0) return rows;
  for (const capture::VerdictRow& row : scene.capture->verdicts(scene.shown_step()))
    if (row.tick < scene.cursor) rows.push_back(row);
  return rows;
}

std::vector<capture::VerdictRow> VerdictList::rejected_first(
    std::vector<capture::VerdictRow> rows) {
  // The refusal that ended the drafts first, and what came in its place; those that the rule did not
  // look at last.
  const auto order = [](const capture::VerdictRow& row) {
    const bool looked_at = row.reason != capture::Reason::kParentRefused &&
                           row.reason != capture::Reason::kAfterEnd &&
                           row.reason != capture::Reason::kNotReached;
    if (row.verdict == Verdict::kRejected) return looked_at ? 0 : 3;
    return row.verdict == Verdict::kCorrected ? 1 : 2;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return rows;
}

std::int64_t VerdictList::differing(const std::vector<capture::VerdictRow>& rows,
                                    const Scene& scene) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](const auto& row) { return scene.differs(row.node); });
}

void VerdictList::draw(Canvas& canvas, Rect area, const std::vector<capture::VerdictRow>& rows,
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
    draw_head(canvas, {area.x + em * 1.3f, area.y, token - em * 0.3f, em * 1.1f}, "token", head);
    for (const Column& column : columns) {
      draw_head(canvas, {x, area.y, column.em * em - em * 0.3f, em * 1.1f}, column.title, head);
      x += column.em * em;
    }
    draw_head(canvas, {reason_x, area.y, area.right() - reason_x, em * 1.1f}, "why", head);
    area.y += em * 1.15f;
    area.h -= em * 1.15f;
  }
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(area.h / row)));
  const std::size_t most = rows.size() > fitting ? rows.size() - fitting : 0;
  scroll_ = std::min(scroll_, static_cast<float>(most));
  const std::size_t first = scene.export_mode ? 0 : static_cast<std::size_t>(scroll_);
  // Of what does not fit, the last row says how much there is.
  const std::size_t below = rows.size() > first + fitting ? rows.size() - first - fitting + 1 : 0;
  const std::size_t last = below > 0 ? first + fitting - 1 : std::min(rows.size(), first + fitting);
  shown_ = {area, row, first, last};
  const std::int32_t frontier_depth = base_depth(rows, scene);
  for (std::size_t i = first; i < last; ++i) {
    const capture::VerdictRow& verdict = rows[i];
    const Mark mark = scene.theme.mark(state_after(verdict.verdict));
    const float y = area.y + static_cast<float>(i - first) * row;
    const capture::NodeRow& node = scene.capture->nodes()[static_cast<std::size_t>(verdict.node)];
    const Color color = verdict.verdict == Verdict::kKept && verdict.rank >= 0
                            ? scene.theme.beam(verdict.rank)
                            : mark.color;
    if (scene.focus.node() == verdict.node)
      canvas.fill_rect({area.x, y, area.w, row}, scene.theme.focus.with_alpha(0.12f), em * 0.2f);
    if (scene.lights(verdict.tick)) draw_lit_row(canvas, {area.x, y, area.w, row}, scene);
    draw_glyph(canvas, mark.glyph, {area.x + em * 0.6f, y + row / 2}, em * 0.75f, color);
    // The draft tree: deeper tokens further in.
    const float indent =
        capture::is_draft(node.source)
            ? std::min(std::min(em * 4, token * 0.4f),
                       em * 0.6f * static_cast<float>(std::max(0, node.depth - frontier_depth)))
            : 0;
    TextStyle style = mono_text(scene, 0.9f);
    if (const NodeState state = state_after(verdict.verdict);
        state == NodeState::kPruned || state == NodeState::kWithdrawn)
      style.color = scene.theme.text_dim;
    const Rect box{area.x + em * 1.3f + indent, y, std::max(1.0f, token - em * 0.3f - indent), row};
    const std::string label = fit_text(canvas, node_text(scene, verdict.node, 16), style, box.w);
    const float end = std::min(box.right(), box.x + canvas.measure(label, style).x);
    if (scene.differs(verdict.node))
      canvas.fill_rect({box.x - em * 0.15f, y + row * 0.1f, end - box.x + em * 0.3f, row * 0.8f},
                       scene.theme.difference_tint(), em * 0.15f);
    if (mark.struck)
      canvas.line({box.x, y + row / 2}, {end, y + row / 2}, mark.color.with_alpha(0.5f), 1.4f);
    text_in(canvas, box, label, style);
    if (difference_begins(rows, node, scene))
      draw_difference(canvas, {std::min(end + em * 0.75f, box.right() - em * 0.2f), y + row / 2},
                      em * 0.72f, scene);
    float x = figures_x;
    for (const Column& column : columns) {
      const float width = column.em * em - em * 0.3f;
      if (const float share = column.bar ? column.bar(verdict) : -1; share >= 0) {
        const Rect bar{x, y + row - em * 0.26f, width - em * 0.5f, em * 0.2f};
        canvas.fill_rect(bar, scene.theme.grid);
        canvas.fill_rect({bar.x, bar.y, std::max(1.0f, bar.w * std::min(1.0f, share)), bar.h},
                         mark.color);
      }
      text_in(canvas, {x, y, width, row}, column.text(verdict, node), dim_text(scene, 0.84f));
      x += column.em * em;
    }
    const std::string word = verdict.verdict == Verdict::kKept      ? "kept"
                             : verdict.verdict == Verdict::kEmitted ? "emitted"
                                                                    : std::string(mark.word);
    text_in(canvas, {reason_x, y, area.right() - reason_x, row}, with_reason(word, verdict, scene),
            ui_text(scene, 0.84f));
  }
  if (below > 0)
    text_in(canvas,
            {area.x + em * 1.3f, area.y + static_cast<float>(last - first) * row,
             area.w - em * 1.3f, row},
            "+ " + std::to_string(below) + " more: scroll", dim_text(scene, 0.8f));
}

void VerdictList::scroll(const Input& in, std::size_t rows) {
  if (in.inside && in.wheel != 0)
    scroll_ = std::clamp(scroll_ - in.wheel * 2, 0.0f, static_cast<float>(rows));
  if (in.dragging && shown_.row > 0)
    scroll_ = std::clamp(scroll_ - in.drag_delta.y / shown_.row, 0.0f, static_cast<float>(rows));
}

void VerdictList::input(const Input& in, const std::vector<capture::VerdictRow>& rows,
                        const Scene& scene, Reaction& reaction) const {
  if (shown_.row > 0 && shown_.area.contains(in.mouse)) {
    const std::size_t i =
        shown_.first + static_cast<std::size_t>((in.mouse.y - shown_.area.y) / shown_.row);
    if (i < std::min(rows.size(), shown_.last)) {
      reaction.hover = rows[i].node;
      if (in.clicked) reaction.lock = rows[i].node;
      reaction.tooltip = explain(rows[i], scene);
    }
  }
}

}  // namespace triescope::viz
