#include "viz/panels/verdict_list.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "viz/draw/clause_text.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/column_fit.h"
#include "viz/query/verdict_kinds.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::Verdict;

const DrafterView& view_of(const DrafterViews& drafters, std::int32_t node) {
  static const DrafterView none;
  const auto found = drafters.find(node);
  return found == drafters.end() ? none : found->second;
}

// "rejected: argmax is ...", "corrected: the head had it 5th (q 0.012), …; argmax, p 0.98".
std::string with_reason(const std::string& word, const capture::VerdictRow& row,
                        const DrafterView& view, const Scene& scene) {
  std::string why = tie_reason(view, row.verdict);
  if (const std::string own = drafter_reason(view, row.verdict); !own.empty())
    why += (why.empty() ? "" : "; ") + own;
  if (why.empty() || row.verdict != Verdict::kWithdrawn)
    if (const std::string reason = reason_text(row, *scene.capture); !reason.empty())
      why += (why.empty() ? "" : "; ") + reason;
  return why.empty() ? word : word + ": " + why;
}

std::string word_of(const capture::VerdictRow& row, const Scene& scene) {
  return row.verdict == Verdict::kKept ? "kept"
         : row.verdict == Verdict::kEmitted
             ? "emitted"
             : std::string(scene.theme.mark(state_after(row.verdict)).word);
}

// The probability with which a draft was really drawn, where drafts are drawn; else the drafter's
// own.
float q_of(const capture::VerdictRow& row, const DrafterView& view) {
  return row.q >= 0 && (row.q < 1 || std::isnan(view.q)) ? row.q : view.q;
}

std::vector<std::string> explain(const capture::VerdictRow& row, const DrafterView& view,
                                 const Scene& scene) {
  std::vector<std::string> lines = {node_summary(scene, row.node),
                                    with_reason(capture::to_string(row.verdict), row, view, scene)};
  if (row.p >= 0)
    lines.push_back(
        std::string(is_after_warpers(row.reason) ? "p′ = " : "p = ") + number_text(row.p) +
        (row.q >= 0 && row.q < 1 ? ", q = " + number_text(row.q) : "") +
        (std::isnan(acceptance_limit(row)) ? ""
                                           : std::string(", ") + acceptance_limit_name(row.reason) +
                                                 " = " + number_text(acceptance_limit(row))) +
        (carries(row.reason, "block") ? ", p of the block = " + number_text(row.value)
                                      : std::string()));
  if (row.u >= 0)
    lines.push_back("the draw: u = " + number_text(row.u) +
                    (std::isnan(acceptance_limit(row)) ? ""
                     : carries(row.reason, "block")
                         ? "; the block ends at the last draft with u <= h"
                         : std::string("; accepted if u < ") + acceptance_limit_name(row.reason)));
  if (view.rank >= 0)
    lines.push_back(drafter_name(view.whose) + " had it " + ordinal_text(view.rank) +
                    ", q = " + number_text(view.q) +
                    (std::isnan(view.score)
                         ? ""
                         : ", Σ log q of the drafted path = " + logprob_text(view.score)));
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

struct VerdictFacts {
  const capture::VerdictRow& row;
  const capture::NodeRow& node;
  const DrafterView& view;
  std::string_view source;  // where the node came from
};

struct VerdictColumn {
  const char* title;
  float em;
  std::string (*text)(const VerdictFacts&);
  float (*bar)(const VerdictFacts&) = nullptr;  // a probability, also drawn as a bar; -1 = none
};

// The columns that hold any value, as many as fit.
std::vector<VerdictColumn> columns_for(const std::vector<capture::VerdictRow>& rows,
                                       const DrafterViews& drafters, float width_em) {
  using Row = capture::VerdictRow;
  const auto any = [&](auto has) { return std::any_of(rows.begin(), rows.end(), has); };
  const auto any_view = [&](auto has) {
    return any([&](const Row& row) { return has(view_of(drafters, row.node)); });
  };
  std::vector<std::pair<int, VerdictColumn>> all;  // with its importance
  all.push_back(
      {1, {"source", 6.4f, [](const VerdictFacts& of) { return std::string(of.source); }}});
  if (any([](const Row& row) { return row.p >= 0; }))
    all.push_back(
        {9,
         {any([](const Row& row) { return is_after_warpers(row.reason); }) ? "p′" : "p", 3.8f,
          [](const VerdictFacts& of) {
            return of.row.p >= 0 ? probability_text(of.row.p) : std::string();
          },
          [](const VerdictFacts& of) { return of.row.p; }}});
  if (any([&](const Row& row) {
        const float q = q_of(row, view_of(drafters, row.node));
        return q >= 0 && q < 1;
      }))
    all.push_back({8,
                   {"q", 3.8f,
                    [](const VerdictFacts& of) {
                      const float q = q_of(of.row, of.view);
                      return q >= 0 ? probability_text(q) : std::string();
                    },
                    [](const VerdictFacts& of) {
                      const float q = q_of(of.row, of.view);
                      return q >= 0 ? q : -1.0f;
                    }}});
  if (any_view([](const DrafterView& view) { return view.rank >= 0; }))
    all.push_back({5, {"q rank", 3.6f, [](const VerdictFacts& of) {
                         return of.view.rank >= 0 ? std::to_string(of.view.rank + 1)
                                                  : std::string();
                       }}});
  if (any_view([](const DrafterView& view) { return !std::isnan(view.score); }))
    all.push_back({4, {"Σ log q", 4.4f, [](const VerdictFacts& of) {
                         return std::isnan(of.view.score) ? std::string()
                                                          : logprob_text(of.view.score);
                       }}});
  if (any([](const Row& row) { return row.u >= 0; }))
    all.push_back({7, {"u", 3.2f, [](const VerdictFacts& of) {
                         return of.row.u >= 0 ? number_text(of.row.u, 2) : std::string();
                       }}});
  const bool block = any([](const Row& row) { return carries(row.reason, "block"); });
  if (block)
    all.push_back({5, {"block p", 4.2f, [](const VerdictFacts& of) {
                         return carries(of.row.reason, "block") ? number_text(of.row.value, 2)
                                                                : std::string();
                       }}});
  if (any([](const Row& row) { return !std::isnan(acceptance_limit(row)); }))
    all.push_back(
        {6, {block ? "h" : "min(1, p′/q)", block ? 3.2f : 6.2f, [](const VerdictFacts& of) {
               const float limit = acceptance_limit(of.row);
               return std::isnan(limit) ? std::string() : number_text(limit, 2);
             }}});
  const bool beams = any([](const Row& row) {
    return row.verdict == Verdict::kKept || row.verdict == Verdict::kPruned;
  });
  if (beams) {
    all.push_back(
        {8, {"Σ log p", 4.4f, [](const VerdictFacts& of) { return logprob_text(of.row.score); }}});
    all.push_back({5, {"Δ", 3.8f, [](const VerdictFacts& of) {
                         return of.row.gap > 0 ? logprob_text(of.row.gap) : std::string();
                       }}});
  }
  std::vector<ColumnSize> sizes;
  for (const auto& [importance, column] : all) sizes.push_back({column.em, importance});
  const std::vector<bool> on = columns_that_fit(sizes, width_em);
  std::vector<VerdictColumn> columns;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (on[i]) columns.push_back(all[i].second);
  return columns;
}

constexpr float kMarkEm = 1.4f, kTokenEm = 10;
constexpr float kReasonEm = 20;          // the room of a reason's first clauses
constexpr float kLeastFiguresEm = 9.3f;  // the mark, p and q

// One line of the list: a row, or a fold of withdrawn drafts from that row on.
struct VerdictLine {
  std::size_t row = 0;
  std::size_t folds = 0;  // 0 = the row itself
};

// Withdrawn drafts are the last rows; a single one is not folded.
std::vector<VerdictLine> lines_of(const std::vector<capture::VerdictRow>& rows, bool opened) {
  const auto is_withdrawn = [](const capture::VerdictRow& row) {
    return row.verdict == Verdict::kWithdrawn;
  };
  const auto withdrawn = static_cast<std::size_t>(std::ranges::count_if(rows, is_withdrawn));
  const bool folds = withdrawn > 1 && is_withdrawn(rows.back());
  const std::size_t first = rows.size() - withdrawn;
  std::vector<VerdictLine> lines;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (folds && i == first) lines.push_back({i, withdrawn});
    if (!folds || i < first || opened) lines.push_back({i, 0});
  }
  return lines;
}

// "63 withdrawn by reranking: click to show".
std::string fold_text(const std::vector<capture::VerdictRow>& rows, const VerdictLine& line,
                      const DrafterViews& drafters, const Scene& scene, bool opened) {
  const bool ranked = !std::isnan(view_of(drafters, rows[line.row].node).least_sent);
  std::string text =
      std::to_string(line.folds) + (ranked ? " withdrawn by reranking" : " withdrawn");
  if (scene.has_buttons()) text += opened ? ": click to fold" : ": click to show";
  return text;
}

// True at the first node of a path among these rows that the other run lacks or has decided
// differently.
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

std::vector<capture::VerdictRow> VerdictList::path_first(std::vector<capture::VerdictRow> rows) {
  // Nodes are numbered from the frontier down, so a path's nodes are in ascending order.
  const auto order = [&](const capture::VerdictRow& row) {
    const bool looked_at = rule_of(row.reason) != capture::ReasonRule::kNotReached;
    if (row.verdict == Verdict::kWithdrawn) return 5;
    if (row.verdict == Verdict::kRejected) return looked_at ? 3 : 4;
    if (row.verdict == Verdict::kAccepted) return 0;
    return is_targets_own(row.verdict) ? 1 : 2;
  };
  std::erase_if(rows, [&, all = rows](const capture::VerdictRow& row) {
    return row.verdict == Verdict::kWithdrawn &&
           std::ranges::any_of(all, [&](const capture::VerdictRow& other) {
             return other.node == row.node && is_targets_own(other.verdict);
           });
  });
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    const int x = order(a), y = order(b);
    return x < y || (x == 0 && y == 0 && a.node < b.node);
  });
  return rows;
}

std::int64_t VerdictList::differing(const std::vector<capture::VerdictRow>& rows,
                                    const Scene& scene) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](const auto& row) { return scene.differs(row.node); });
}

void VerdictList::draw(Canvas& canvas, Rect area, const std::vector<capture::VerdictRow>& rows,
                       const Scene& scene, const DrafterViews& drafters) {
  const float em = scene.em, row = em * kRowEm;
  const float token = std::min(em * kTokenEm, area.w * 0.34f);
  // The reason has room for its first clauses before further figures than p and q have any.
  const float reason_min = std::clamp(area.w - token - em * kLeastFiguresEm,
                                      std::min(em * 9, area.w * 0.3f), em * kReasonEm);
  const auto columns = columns_for(rows, drafters, (area.w - token - reason_min) / em - 1.6f);
  const float figures_x = area.x + em * kMarkEm + token;
  float reason_x = figures_x;
  for (const VerdictColumn& column : columns) reason_x += column.em * em;
  if (area.h > row * 3) {
    float x = figures_x;
    const TextStyle head = dim_text(scene, 0.74f);
    draw_head(canvas, {area.x + em * 1.3f, area.y, token - em * 0.3f, em * 1.1f}, "token", head);
    for (const VerdictColumn& column : columns) {
      draw_head(canvas, {x, area.y, column.em * em - em * 0.3f, em * 1.1f}, column.title, head);
      x += column.em * em;
    }
    draw_head(canvas, {reason_x, area.y, area.right() - reason_x, em * 1.1f}, "why", head);
    area.y += em * 1.15f;
    area.h -= em * 1.15f;
  }
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(area.h / row)));
  const std::vector<VerdictLine> all = lines_of(rows, opened_);
  const std::size_t most = all.size() > fitting ? all.size() - fitting : 0;
  scroll_ = std::min(scroll_, static_cast<float>(most));
  const std::size_t first = scene.export_mode ? 0 : static_cast<std::size_t>(scroll_);
  // The last row says how many do not fit.
  const std::size_t below = all.size() > first + fitting ? all.size() - first - fitting + 1 : 0;
  const std::size_t last = below > 0 ? first + fitting - 1 : std::min(all.size(), first + fitting);
  shown_ = {area, row, first, last};
  const std::int32_t frontier_depth = base_depth(rows, scene);
  for (std::size_t i = first; i < last; ++i) {
    const capture::VerdictRow& verdict = rows[all[i].row];
    const Mark mark = scene.theme.mark(state_after(verdict.verdict));
    const float y = area.y + static_cast<float>(i - first) * row;
    if (all[i].folds > 0) {
      draw_glyph(canvas, mark.glyph, {area.x + em * 0.6f, y + row / 2}, em * 0.75f, mark.color);
      text_in(canvas, {area.x + em * 1.3f, y, area.w - em * 1.3f, row},
              fold_text(rows, all[i], drafters, scene, opened_), dim_text(scene, 0.84f));
      continue;
    }
    const DrafterView& view = view_of(drafters, verdict.node);
    const capture::NodeRow& node = scene.capture->nodes()[static_cast<std::size_t>(verdict.node)];
    const Color color = verdict.verdict == Verdict::kKept && verdict.rank >= 0
                            ? scene.theme.beam(verdict.rank)
                            : mark.color;
    if (scene.focus.node() == verdict.node)
      canvas.fill_rect({area.x, y, area.w, row}, scene.theme.focus.with_alpha(0.12f), em * 0.2f);
    if (scene.lights(verdict.tick)) draw_lit_row(canvas, {area.x, y, area.w, row}, scene);
    draw_glyph(canvas, mark.glyph, {area.x + em * 0.6f, y + row / 2}, em * 0.75f, color);
    // Tokens are indented by their depth in the draft tree.
    const float indent =
        capture::is_draft(node)
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
    const VerdictFacts facts{verdict, node, view, scene.capture->source_of(node)};
    for (const VerdictColumn& column : columns) {
      const float width = column.em * em - em * 0.3f;
      if (const float share = column.bar ? column.bar(facts) : -1; share >= 0) {
        const Rect bar{x, y + row - em * 0.26f, width - em * 0.5f, em * 0.2f};
        canvas.fill_rect(bar, scene.theme.grid);
        canvas.fill_rect({bar.x, bar.y, std::max(1.0f, bar.w * std::min(1.0f, share)), bar.h},
                         mark.color);
      }
      text_in(canvas, {x, y, width, row}, column.text(facts), dim_text(scene, 0.84f));
      x += column.em * em;
    }
    const Rect why{reason_x, y, area.right() - reason_x, row};
    const TextStyle plain = ui_text(scene, 0.84f);
    text_in(canvas, why,
            clauses_in(canvas, with_reason(word_of(verdict, scene), verdict, view, scene), plain,
                       why.w),
            plain);
  }
  if (below > 0)
    text_in(canvas,
            {area.x + em * 1.3f, area.y + static_cast<float>(last - first) * row,
             area.w - em * 1.3f, row},
            more_rows(below, scene), dim_text(scene, 0.8f));
}

std::size_t VerdictList::lines(const std::vector<capture::VerdictRow>& rows) const {
  return lines_of(rows, opened_).size();
}

float VerdictList::width_em(Canvas& canvas, const std::vector<capture::VerdictRow>& rows,
                            const Scene& scene, const DrafterViews& drafters) const {
  float figures = 0, why = 0;
  for (const VerdictColumn& column : columns_for(rows, drafters, 1000)) figures += column.em;
  for (const capture::VerdictRow& row : rows)
    why = std::max(
        why, canvas
                 .measure(with_reason(word_of(row, scene), row, view_of(drafters, row.node), scene),
                          ui_text(scene, 0.84f))
                 .x);
  return kMarkEm + kTokenEm + figures + why / scene.em + 1;
}

void VerdictList::scroll(const Input& in, std::size_t rows) {
  if (in.inside && in.wheel != 0)
    scroll_ = std::clamp(scroll_ - in.wheel * 2, 0.0f, static_cast<float>(rows));
  if (in.dragging && shown_.row > 0)
    scroll_ = std::clamp(scroll_ - in.drag_delta.y / shown_.row, 0.0f, static_cast<float>(rows));
}

void VerdictList::input(const Input& in, const std::vector<capture::VerdictRow>& rows,
                        const Scene& scene, Reaction& reaction, const DrafterViews& drafters) {
  if (shown_.row <= 0 || !shown_.area.contains(in.mouse)) return;
  const auto all = lines_of(rows, opened_);
  const std::size_t i =
      shown_.first + static_cast<std::size_t>((in.mouse.y - shown_.area.y) / shown_.row);
  if (i >= std::min(all.size(), shown_.last)) return;
  const capture::VerdictRow& row = rows[all[i].row];
  reaction.hover = row.node;
  if (all[i].folds > 0) {
    reaction.tooltip = {opened_ ? "click: one line for all of them" : "click: a row for each"};
    // The second press of a double click is a click too; Enter is only a double click.
    if (in.clicked != in.double_clicked) opened_ = !opened_;
    return;
  }
  if (in.clicked) reaction.lock = row.node;
  reaction.tooltip = explain(row, view_of(drafters, row.node), scene);
}

}  // namespace triescope::viz
