#include "viz/panels/beam_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/column_fit.h"
#include "viz/text/number_text.h"
#include "viz/text/spoken_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using Fate = BeamChoice::Fate;

constexpr std::size_t kMostFinished = 3;  // hypotheses listed below the table

struct Column {
  const char* title;
  ColumnSize size;
};
enum ColumnId : std::size_t { kParent, kP, kLogP, kSum, kGap, kWhy, kColumnCount };
constexpr Column kColumns[kColumnCount] = {
    {"parent (before)", {7.2f, 7}}, {"p", {3.8f, 6}}, {"log p", {4.4f, 3}},
    {"Σ log p", {5.0f, 9}},         {"Δ", {4.2f, 5}}, {"", {7.5f, 2}}};

// The x at which each column begins; -1 = left out.
std::vector<float> places(float from, float width, float em) {
  std::vector<ColumnSize> sizes;
  for (const Column& column : kColumns) sizes.push_back(column.size);
  const std::vector<bool> on = columns_that_fit(sizes, width / em);
  std::vector<float> x(kColumnCount, -1);
  for (std::size_t i = 0; i < kColumnCount; ++i) {
    if (!on[i]) continue;
    x[i] = from;
    from += sizes[i].em * em;
  }
  return x;
}

NodeState state_of(Fate fate) {
  switch (fate) {
    case Fate::kNext:
    case Fate::kKept:
      return NodeState::kLive;
    case Fate::kFinishing:
    case Fate::kFinished:
      return NodeState::kFinished;
    default:
      return NodeState::kPruned;
  }
}

std::map<std::int32_t, std::int32_t> ranks_before(const BeamDecision& decision,
                                                  const Scene& scene) {
  std::map<std::int32_t, std::int32_t> ranks;
  for (const capture::FrontierRow& row : scene.capture->frontier(decision.step - 1))
    ranks.emplace(row.node, row.rank);
  return ranks;
}

// "#2 ·capital": the beam by its rank before this step.
std::string parent_text(std::int32_t node, const std::map<std::int32_t, std::int32_t>& ranks,
                        const Scene& scene) {
  const auto found = ranks.find(node);
  const std::string text = node_text(scene, node, 12);
  return found == ranks.end() ? text : "#" + std::to_string(found->second + 1) + " " + text;
}

std::vector<std::string> explain(const BeamDecision& decision, std::size_t i, const Scene& scene) {
  const BeamChoice& choice = decision.choices[i];
  std::vector<std::string> lines = {
      "rank " + std::to_string(i + 1) + "  " + token_text(scene.capture->piece(choice.token), 60) +
          "  after " + parent_text(choice.parent, ranks_before(decision, scene), scene),
      fate_text(choice.fate),
      "p = " + number_text(std::exp(choice.logprob), 6) +
          ", log p = " + logprob_text(choice.logprob),
      "Σ log p = " + logprob_text(choice.score - choice.logprob) + " of the parent + " +
          logprob_text(choice.logprob) + " = " + logprob_text(choice.score)};
  if (i >= decision.complete)
    lines.push_back(
        "below the dotted line candidates may be missing: only the best of each beam are recorded");
  if (!std::isnan(choice.gap))
    lines.push_back("Δ = " + logprob_text(choice.gap) +
                    (choice.fate == Fate::kOut ? " below the last that goes on"
                                               : " above the best one left out"));
  if (choice.fate == Fate::kLateEnd)
    lines.push_back("only a candidate among the best " + std::to_string(decision.width) +
                    " may finish");
  const std::int32_t decided = choice.child >= 0 ? choice.child : choice.parent;
  if (decision.decided)
    for (const capture::VerdictRow& row : scene.capture->verdicts(decision.step))
      if (row.node == decided && row.tick < scene.cursor)
        if (const std::string reason = reason_text(row, *scene.capture); !reason.empty())
          lines.push_back((choice.child >= 0 ? "" : "its parent: ") + reason);
  if (const std::string difference = difference_text(scene, choice.child); !difference.empty())
    lines.push_back(difference);
  return lines;
}

// Rows of the finished hypotheses, title included.
std::size_t finished_rows(std::size_t count) {
  return count == 0 ? 0 : 1 + std::min(count, kMostFinished + (count == kMostFinished + 1));
}

}  // namespace

std::string fate_text(Fate fate) {
  switch (fate) {
    case Fate::kNext:
      return "will go on";
    case Fate::kFinishing:
      return "will finish";
    case Fate::kKept:
      return "goes on";
    case Fate::kFinished:
      return "finished";
    case Fate::kPruned:
      return "pruned";
    case Fate::kLateEnd:
      return "ends the text too far down";
    case Fate::kOut:
      break;
  }
  return "below the cut";
}

float sum_of(const capture::SequenceRow& row, const Scene& scene) {
  return row.node < 0 ? std::nanf("") : scene.capture->node_at(row.node, scene.cursor).row.score;
}

std::vector<capture::SequenceRow> finished_hypotheses(const Scene& scene) {
  std::vector<capture::SequenceRow> found, returned;
  for (const capture::SequenceRow& row : scene.capture->sequences()) {
    if (row.tick >= scene.cursor) break;
    (row.rank < 0 ? found : returned).push_back(row);
  }
  // At the end of a run, live beams may be among the returned ones.
  for (const capture::SequenceRow& row : returned)
    if (std::none_of(found.begin(), found.end(),
                     [&](const capture::SequenceRow& other) { return other.node == row.node; }))
      found.push_back(row);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return found;
}

std::size_t BeamTable::rows(const BeamDecision& decision, const Scene& scene) {
  return decision.choices.size() + 1 + finished_rows(finished_hypotheses(scene).size());
}

void BeamTable::draw(Canvas& canvas, Rect area, const BeamDecision& decision,
                     const std::vector<char>& lit, const Scene& scene) {
  shown_.finished.clear();
  const float em = scene.em, row = em * kRowEm;
  const auto& choices = decision.choices;
  const float rank_w = em * (choices.size() >= 100 ? 2.6f : 2.0f);
  const float token_w = std::clamp(area.w * 0.24f, em * 5, em * 10);
  const float token_x = area.x + rank_w + em * 1.4f;
  const auto x = places(token_x + token_w, area.right() - token_x - token_w, em);
  const auto cell = [&](std::size_t id, float y, float h) {
    const bool text = id == kParent || id == kWhy;
    const float w = id == kWhy ? area.right() - x[id] : kColumns[id].size.em * em - em * 0.5f;
    return std::pair{Rect{x[id], y, w, h}, text ? Align::kLeft : Align::kRight};
  };
  const TextStyle head = dim_text(scene, 0.76f), figure = ui_text(scene, 0.84f);
  draw_head(canvas, {area.x, area.y, rank_w, em * 1.1f}, "rank", head, Align::kRight);
  draw_head(canvas, {token_x, area.y, token_w - em * 0.3f, em * 1.1f}, "token", head);
  for (std::size_t id = 0; id < kColumnCount; ++id)
    if (x[id] >= 0) {
      const auto [box, align] = cell(id, area.y, em * 1.1f);
      draw_head(canvas, box, kColumns[id].title, head, align);
    }
  area.y += em * 1.2f;
  area.h -= em * 1.2f;

  const auto finished = finished_hypotheses(scene);
  const std::size_t below = finished_rows(finished.size());
  float room = area.h;
  const bool lists_finished = room > row * static_cast<float>(below + 5);
  if (lists_finished) room -= row * static_cast<float>(below);
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(room / row)));
  const std::size_t most = choices.size() > fitting ? choices.size() - fitting : 0;
  scroll_ = std::clamp(scroll_, 0.0f, static_cast<float>(most));
  const std::size_t first = scene.export_mode ? 0 : static_cast<std::size_t>(scroll_);
  // The last row says how many do not fit.
  const std::size_t more =
      choices.size() > first + fitting ? choices.size() - first - fitting + 1 : 0;
  const std::size_t last = more > 0 ? first + fitting - 1 : choices.size();
  shown_.area = {area.x, area.y, area.w, row * static_cast<float>(last - first)};
  shown_.row = row;
  shown_.first = first;
  shown_.last = last;
  const auto ranks = ranks_before(decision, scene);
  for (std::size_t i = first; i < last; ++i) {
    const BeamChoice& choice = choices[i];
    const float y = area.y + static_cast<float>(i - first) * row;
    const bool chosen = choice.chosen();
    const Mark mark = scene.theme.mark(state_of(choice.fate));
    Color color = mark.color;
    if (choice.fate == Fate::kKept || choice.fate == Fate::kNext) {
      const auto before =
          std::count_if(choices.begin(), choices.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const BeamChoice& c) { return c.fate == choice.fate; });
      color = scene.theme.beam(static_cast<int>(before));
    }
    const bool focused = scene.focus.node() >= 0 &&
                         (choice.child >= 0 ? scene.focus.node() == choice.child
                                            : scene.focus.node() == choice.parent && chosen);
    if (focused)
      canvas.fill_rect({area.x, y, area.w, row}, scene.theme.focus.with_alpha(0.14f), em * 0.2f);
    if (i < lit.size() && lit[i] != 0) draw_lit_row(canvas, {area.x, y, area.w, row}, scene);
    TextStyle plain = figure, mono = mono_text(scene, 0.9f);
    if (!chosen) plain.color = mono.color = scene.theme.text_dim;
    text_in(canvas, {area.x, y, rank_w, row}, std::to_string(i + 1), plain, Align::kRight);
    if (chosen)
      draw_glyph(canvas, choice.fate == Fate::kNext ? "○" : mark.glyph,
                 {area.x + rank_w + em * 0.7f, y + row / 2}, em * 0.72f, color);
    const Rect token{token_x, y, token_w - em * 0.3f, row};
    const std::string label =
        fit_text(canvas, token_text(scene.capture->piece(choice.token), 16), mono, token.w);
    const bool differs = scene.differs(choice.child) || scene.differs(choice.parent);
    if (differs)
      canvas.fill_rect({token.x - em * 0.15f, y + row * 0.1f,
                        canvas.measure(label, mono).x + em * 0.3f, row * 0.8f},
                       scene.theme.difference_tint(), em * 0.15f);
    text_in(canvas, token, label, mono);
    if (differs)
      draw_difference(canvas, {token.right() - em * 0.3f, y + row / 2}, em * 0.72f, scene);
    const auto put = [&](std::size_t id, const std::string& text, TextStyle style) {
      if (x[id] < 0) return;
      const auto [box, align] = cell(id, y, row);
      text_in(canvas, box, text, style, align);
    };
    TextStyle sum = chosen ? bold_text(scene, 0.84f) : plain;
    put(kParent, parent_text(choice.parent, ranks, scene), plain);
    put(kP, number_text(std::exp(choice.logprob), 4), plain);
    put(kLogP, logprob_text(choice.logprob), plain);
    put(kSum, logprob_text(choice.score), sum);
    if (!std::isnan(choice.gap))
      put(kGap, (choice.fate == Fate::kOut ? "-" : "+") + logprob_text(choice.gap), plain);
    if (choice.fate != Fate::kOut) put(kWhy, fate_text(choice.fate), plain);
    // The cut lies between the last chosen candidate and the first that is not.
    if (i + 1 == decision.cut && decision.cut < choices.size())
      canvas.line({area.x, y + row}, {area.right(), y + row}, scene.theme.current, 1.6f,
                  decision.decided ? LineStyle::kSolid : LineStyle::kDashed);
    if (i + 1 == decision.complete && decision.complete < choices.size() &&
        decision.complete > decision.cut)
      canvas.line({area.x, y + row}, {area.right(), y + row}, scene.theme.border, 1,
                  LineStyle::kDotted);
  }
  if (more > 0)
    text_in(canvas,
            {token_x, area.y + static_cast<float>(last - first) * row, area.right() - token_x, row},
            more_rows(more, scene), dim_text(scene, 0.8f));
  if (!lists_finished || below == 0) return;
  float y = area.y + static_cast<float>(last - first + (more > 0)) * row + row * 0.1f;
  const std::size_t listed = below - 1;
  text_in(canvas, {area.x, y, area.w, row},
          "finished: " + std::to_string(finished.size()) +
              (listed < finished.size() ? ", the best " + std::to_string(listed) : "") +
              " by final score",
          bold_text(scene, 0.84f));
  const Mark mark = scene.theme.mark(NodeState::kFinished);
  for (std::size_t i = 0; i < listed; ++i) {
    y += row;
    const capture::SequenceRow& one = finished[i];
    const Rect box{area.x, y, area.w, row};
    if (one.node >= 0 && scene.focus.node() == one.node)
      canvas.fill_rect(box, scene.theme.focus.with_alpha(0.14f), em * 0.2f);
    text_in(canvas, {area.x, y, rank_w, row}, std::to_string(i + 1), figure, Align::kRight);
    draw_glyph(canvas, mark.glyph, {area.x + rank_w + em * 0.7f, y + row / 2}, em * 0.72f,
               mark.color);
    text_in(canvas, {token_x, y, token_w - em * 0.3f, row}, node_text(scene, one.node, 16),
            mono_text(scene, 0.9f));
    text_in(canvas, {token_x + token_w, y, area.right() - token_x - token_w, row},
            "final score " + logprob_text(one.score) + ", Σ log p " +
                logprob_text(sum_of(one, scene)) + ": " + finish_text(one.finish),
            figure);
    shown_.finished.push_back(box);
  }
}

void BeamTable::scroll(const Input& in, const BeamDecision& decision) {
  const auto rows = static_cast<float>(decision.choices.size());
  if (in.inside && in.wheel != 0) scroll_ = std::clamp(scroll_ - in.wheel * 2, 0.0f, rows);
  if (in.dragging && shown_.row > 0)
    scroll_ = std::clamp(scroll_ - in.drag_delta.y / shown_.row, 0.0f, rows);
}

void BeamTable::input(const Input& in, const BeamDecision& decision, const Scene& scene,
                      Reaction& reaction) const {
  if (shown_.row <= 0) return;
  if (shown_.area.contains(in.mouse)) {
    const std::size_t i =
        shown_.first + static_cast<std::size_t>((in.mouse.y - shown_.area.y) / shown_.row);
    if (i >= std::min(decision.choices.size(), shown_.last)) return;
    const BeamChoice& choice = decision.choices[i];
    const std::int32_t node = choice.child >= 0 ? choice.child : choice.parent;
    reaction.hover = node;
    if (in.clicked) reaction.lock = node;
    reaction.tooltip = explain(decision, i, scene);
    return;
  }
  const auto finished = finished_hypotheses(scene);
  for (std::size_t i = 0; i < shown_.finished.size() && i < finished.size(); ++i) {
    if (!shown_.finished[i].contains(in.mouse) || finished[i].node < 0) continue;
    reaction.hover = finished[i].node;
    if (in.clicked) reaction.lock = finished[i].node;
    reaction.tooltip = {
        node_summary(scene, finished[i].node),
        "final score = Σ log p / length^length_penalty = " + logprob_text(finished[i].score)};
  }
}

}  // namespace triescope::viz
