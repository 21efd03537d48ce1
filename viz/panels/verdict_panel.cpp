// Decision: what a step chooses from and what it chooses, with the reason. Beams: the candidates of
// all beams in one table, with the cut. Sampling: the effect of each stage on p, and the draw.
// Drafts: first those that became text, then the token in a refused draft's place, then the refused
// ones. Below stand accepted lengths (for beams: the margin at the cut) by step and as a histogram.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/narration/reason_text.h"
#include "viz/panels/beam_table.h"
#include "viz/panels/decision_csv.h"
#include "viz/panels/draw_table.h"
#include "viz/panels/panel_rows.h"
#include "viz/panels/panels.h"
#include "viz/panels/verdict_history.h"
#include "viz/panels/verdict_list.h"
#include "viz/query/changes.h"
#include "viz/query/draft_causes.h"
#include "viz/query/step_so_far.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

constexpr float kMostWidthEm = 100;  // of a whole picture

// The panel's content at a cursor, made once per cursor and state of the capture.
struct ShownDecision {
  const capture::Capture* capture = nullptr;
  capture::Tick cursor = -1, lit_from = -1;
  capture::Counts counts = {};
  DecisionKind kind = DecisionKind::kDraw;
  std::int32_t step = -1;
  StepSoFar so_far = {};                               // kDrafts
  std::vector<capture::VerdictRow> verdicts = {};      // kDrafts
  DrafterViews drafters = {};                          // kDrafts
  BeamDecision beams = {};                             // kBeams
  DrawDecision draw = {};                              // kDraw; kDrafts: where the text left them
  std::vector<char> lit_choices = {}, lit_draws = {};  // items that have just changed; empty = none
};

bool same(const capture::Counts& a, const capture::Counts& b) {
  return a.steps == b.steps && a.nodes == b.nodes && a.verdicts == b.verdicts &&
         a.candidates == b.candidates && a.sequences == b.sequences;
}

// The node where the text left the drafts: the token that the target added stands below it.
std::int32_t turning_node(const std::vector<capture::VerdictRow>& rows, const Scene& scene) {
  for (const capture::VerdictRow& row : rows)
    if (row.verdict == capture::Verdict::kCorrected || row.verdict == capture::Verdict::kBonus ||
        row.verdict == capture::Verdict::kEmitted)
      return scene.capture->nodes()[static_cast<std::size_t>(row.node)].parent;
  return -1;
}

ShownDecision what_is_shown(const Scene& scene) {
  ShownDecision shown{
      .capture = scene.capture, .cursor = scene.cursor, .counts = scene.capture->counts()};
  const std::int32_t step = scene.shown_step();
  shown.kind = decision_kind(*scene.capture, step);
  if (shown.kind == DecisionKind::kDrafts) {
    shown.step = step;
    shown.so_far = step_so_far(*scene.capture, step, scene.cursor);
    shown.verdicts = VerdictList::path_first(VerdictList::rows_of(scene));
    shown.drafters = explained_views(*scene.capture, step, scene.cursor);
    if (const std::int32_t node = turning_node(shown.verdicts, scene); node >= 0)
      shown.draw = draw_decision(*scene.capture, scene.cursor, node);
    if (shown.draw.token < 0) shown.draw = {};
    return shown;
  }
  // Before its forward a step has nothing to choose from, so the step before is still shown.
  shown.step = decision_step(*scene.capture, scene.cursor);
  if (shown.step < 0) return shown;
  shown.kind = decision_kind(*scene.capture, shown.step);
  if (shown.kind == DecisionKind::kBeams) {
    shown.beams = beam_decision(*scene.capture, scene.cursor);
  } else {
    shown.draw = draw_decision(*scene.capture, scene.cursor);
  }
  return shown;
}

ShownDecision what_is_lit(ShownDecision shown, const Scene& scene) {
  shown.lit_from = scene.lit_from;
  if (!scene.lights()) return shown;
  Scene before = scene;
  before.cursor = scene.lit_from;
  const ShownDecision was = before.shown_step() >= 0 ? what_is_shown(before) : ShownDecision{};
  shown.lit_choices = changed_choices(was.beams, shown.beams);
  shown.lit_draws = changed_draws(was.draw, shown.draw);
  return shown;
}

std::string headline(const ShownDecision& shown, const Scene& scene) {
  std::string head = "step " + std::to_string(shown.step);
  switch (shown.kind) {
    case DecisionKind::kDrafts: {
      const StepSoFar& step = shown.so_far;
      if (step.drafted == 0) break;
      if (step.decided)
        head += ": " + std::to_string(step.accepted) + " of " + counted(step.drafted, "draft") +
                " accepted, " + counted(step.emitted, "token") + " emitted";
      else
        head += ": " + counted(step.drafted, "draft") + " to verify";
      break;
    }
    case DecisionKind::kBeams: {
      if (shown.beams.step < 0) break;
      const auto chosen = std::count_if(shown.beams.choices.begin(), shown.beams.choices.end(),
                                        [](const BeamChoice& c) { return c.chosen(); });
      head += ": " + std::to_string(chosen) + " of " +
              counted(shown.beams.choices.size(), "candidate") +
              (shown.beams.decided ? " chosen" : " about to be chosen") + " by Σ log p";
      break;
    }
    case DecisionKind::kDraw:
      if (shown.draw.step < 0) break;
      head += " after " + node_text(scene, shown.draw.node, 12);
      if (const std::string sentence = draw_sentence(shown.draw, scene); !sentence.empty())
        head += "   " + sentence;
      break;
  }
  return head;
}

class VerdictPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "verdict",
        "Decision",
        "What this step chooses from, and what it chooses. Beams: the candidates of all beams by "
        "Σ log p, the line of the cut, the distance Δ to it, the finished hypotheses. Sampling: "
        "the model's p, what each stage makes of it, and where u falls. Drafts: the path "
        "that became text, then what was refused, with p, q and the reason. Below: accepted drafts (for beams: the margin at the "
        "cut) by step and as a histogram; click a bar to go there.",
        "Stop behind a forward (F11) and say which candidates will be kept; one more F11 tells.",
        "No decisions yet: step once more (F10).",
        /*rows=*/{"verdict"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    list_.clear();
    beams_.clear();
    draws_.clear();
    history_.clear();
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const ShownDecision& shown = shown_at(scene);
    const float em = scene.em, pad = em * 0.6f;
    const bool beams = shown.kind == DecisionKind::kBeams && shown.beams.step >= 0;
    const bool draws = shown.draw.step >= 0;
    const bool drafts = shown.kind == DecisionKind::kDrafts;
    // The table of beams keeps most of the pane.
    const float charts = area.h > em * 15 && history_.any(scene)
                             ? std::min(area.h * (beams ? 0.28f : 0.36f), em * 11)
                             : 0;
    std::string head = headline(shown, scene);
    if (const auto differing = VerdictList::differing(VerdictList::rows_of(scene), scene);
        differing > 0)
      head += ", ≠ " + std::to_string(differing) + " not as in the other run";
    // In a narrow panel the headline takes the whole line.
    const float key = draw_lit_key(canvas, {area.right() - pad, area.y + em * 0.2f},
                                   area.w > em * 30 ? area.w * 0.4f : 0, scene);
    text_in(
        canvas,
        {area.x + pad, area.y + em * 0.25f, area.w - 2 * pad - (key > 0 ? key + em : 0), em * 1.3f},
        head, bold_text(scene, 0.9f));
    Rect list{area.x + pad, area.y + em * 1.7f, area.w - 2 * pad,
              std::max(1.0f, area.h - em * 1.9f - charts)};
    if (beams) {
      beams_.draw(canvas, list, shown.beams, shown.lit_choices, scene);
    } else if (drafts && !shown.verdicts.empty()) {
      // The draw that replaced the drafts stands below them where there is room for both.
      const float rows =
          em * (1.6f + VerdictList::kRowEm * static_cast<float>(list_.lines(shown.verdicts)));
      const float rest = list.h - std::min(rows, list.h * 0.5f);
      if (draws && rest > em * 8) {
        const float table = std::min(
            rest, em * (7.5f + DrawTable::kRowEm * static_cast<float>(shown.draw.tokens.size())));
        const Rect below{list.x, list.bottom() - table, list.w, table};
        list.h -= table + em * 0.3f;
        canvas.line({list.x, below.y}, {list.right(), below.y}, scene.theme.border, 1);
        text_in(canvas, {below.x, below.y + em * 0.2f, below.w, em * 1.3f},
                "after " + node_text(scene, shown.draw.node, 12) + "   " +
                    draw_sentence(shown.draw, scene),
                bold_text(scene, 0.84f));
        draws_.draw(canvas, {below.x, below.y + em * 1.5f, below.w, below.h - em * 1.5f},
                    shown.draw, shown.lit_draws, scene);
      }
      list_.draw(canvas, list, shown.verdicts, scene, shown.drafters);
    } else if (draws) {
      draws_.draw(canvas, list, shown.draw, shown.lit_draws, scene);
    } else {
      draw_empty_state(
          canvas, list,
          empty_text(scene.capture, info(),
                     "This step has decided nothing yet: the accept phase comes next."),
          scene);
    }
    if (charts > 0) history_.draw(canvas, area, charts, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || scene.shown_step() < 0) return reaction;
    const ShownDecision& shown = shown_at(scene);
    list_.scroll(in, list_.lines(shown.verdicts));
    beams_.scroll(in, shown.beams);
    draws_.scroll(in, shown.draw);
    if (!in.inside) return reaction;
    reaction.hover = -1;
    list_.input(in, shown.verdicts, scene, reaction, shown.drafters);
    beams_.input(in, shown.beams, scene, reaction);
    draws_.input(in, shown.draw, scene, reaction);
    history_.input(in, scene, reaction);
    return reaction;
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    float rows = 0, width = 56;
    if (scene.capture && scene.shown_step() >= 0) {
      const ShownDecision shown = what_is_shown(scene);
      rows = static_cast<float>(shown.kind == DecisionKind::kBeams
                                    ? BeamTable::rows(shown.beams, scene) + 1
                                    : list_.lines(shown.verdicts) + shown.draw.tokens.size() + 4);
      if (!shown.verdicts.empty())
        width = std::clamp(list_.width_em(canvas, shown.verdicts, scene, shown.drafters) + 1.2f,
                           width, kMostWidthEm);
    }
    return {scene.em * width,
            scene.em * std::max(26.0f, (4.5f + rows * VerdictList::kRowEm) / 0.66f)};
  }

  std::string csv(const Scene& scene) const override {
    std::string out = decision_csv_head();
    if (!scene.capture || scene.shown_step() < 0) return out;
    const ShownDecision shown = what_is_shown(scene);
    if (shown.kind == DecisionKind::kDrafts)
      return out + verdict_csv(shown.verdicts, "drafts", scene, shown.drafters) +
             draw_csv(shown.draw, scene);
    out += shown.kind == DecisionKind::kBeams ? beam_csv(shown.beams, scene)
                                              : draw_csv(shown.draw, scene);
    return out + verdict_csv(VerdictList::rows_of(scene), "verdicts", scene);
  }

  // "withdrawn=rows"
  std::string view_state() const override {
    return list_.shows_withdrawn() ? "withdrawn=rows" : "";
  }
  void set_view_state(const std::string& state) override {
    list_.show_withdrawn(state == "withdrawn=rows");
  }

 private:
  const ShownDecision& shown_at(const Scene& scene) {
    if (shown_.capture != scene.capture || shown_.cursor != scene.cursor ||
        shown_.lit_from != scene.lit_from || !same(shown_.counts, scene.capture->counts()))
      shown_ = what_is_lit(what_is_shown(scene), scene);
    return shown_;
  }

  ShownDecision shown_;
  VerdictList list_;
  BeamTable beams_;
  DrawTable draws_;
  VerdictHistory history_;
};

}  // namespace

std::unique_ptr<Panel> make_verdict_panel() { return std::make_unique<VerdictPanel>(); }

}  // namespace triescope::viz
