// Draft and verdict: what this step proposed and what became of it, with the reason; accepted
// lengths by step and as a histogram. For beam search: kept, pruned and finished beams with their
// scores.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/look/drawing.h"
#include "viz/look/node_text.h"
#include "viz/look/reason_text.h"
#include "viz/panels/panels.h"
#include "viz/panels/verdict_history.h"
#include "viz/panels/verdict_list.h"
#include "viz/words/number_text.h"

namespace triescope::viz {
namespace {

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
    list_.clear();
    history_.clear();
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const auto rows = VerdictList::rows_of(scene);
    const float charts =
        area.h > em * 15 && history_.any(scene) ? std::min(area.h * 0.4f, em * 11) : 0;
    const auto step = scene.capture->step(scene.shown_step());
    std::string head = "step " + std::to_string(scene.shown_step());
    if (step && step->drafted > 0)
      head += ": " + std::to_string(step->accepted) + " of " + counted(step->drafted, "draft") +
              " accepted, " + counted(step->emitted, "token") + " emitted";
    else if (step)
      head += ": " + counted(step->frontier, "live path");
    if (const auto differing = VerdictList::differing(rows, scene); differing > 0)
      head += ", ≠ " + std::to_string(differing) + " not as in the other run";
    text_in(canvas, {area.x + pad, area.y + em * 0.25f, area.w - 2 * pad, em * 1.3f}, head,
            bold_text(scene, 0.9f));
    const Rect list{area.x + pad, area.y + em * 1.7f, area.w - 2 * pad,
                    std::max(1.0f, area.h - em * 1.9f - charts)};
    if (rows.empty()) {
      draw_empty_state(canvas, list,
                       "This step has decided nothing yet: the accept phase comes next.", scene);
    } else {
      list_.draw(canvas, list, rows, scene);
    }
    if (charts > 0) history_.draw(canvas, area, charts, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture) return reaction;
    const auto rows = VerdictList::rows_of(scene);
    list_.scroll(in, rows.size());
    if (!in.inside) return reaction;
    reaction.hover = -1;
    list_.input(in, rows, scene, reaction);
    history_.input(in, scene, reaction);
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const float rows = scene.capture ? static_cast<float>(VerdictList::rows_of(scene).size()) : 0;
    return {scene.em * 56, scene.em * std::max(26.0f, (4.5f + rows * VerdictList::kRowEm) / 0.6f)};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "step,node,parent,text,source,verdict,p,q,u,rank,score,gap,replacement,reason\n";
    if (!scene.capture) return out.str();
    const auto number = [](float value, bool optional) {
      return std::isnan(value) || (optional && value < 0) ? std::string() : std::to_string(value);
    };
    for (const capture::VerdictRow& row : VerdictList::rows_of(scene)) {
      const capture::NodeRow& node = scene.capture->nodes()[static_cast<std::size_t>(row.node)];
      out << capture::step_of(row.tick) << ',' << row.node << ',' << node.parent << ','
          << csv_field(node_text(scene, row.node)) << ',' << capture::to_string(node.source) << ','
          << capture::to_string(row.verdict) << ',' << number(row.p, true) << ','
          << number(row.q, true) << ',' << number(row.u, true) << ',' << row.rank << ','
          << number(row.score, false) << ',' << number(row.gap, false) << ',' << row.replacement
          << ',' << csv_field(reason_text(row, *scene.capture)) << '\n';
    }
    return out.str();
  }

 private:
  VerdictList list_;
  VerdictHistory history_;
};

}  // namespace

std::unique_ptr<Panel> make_verdict_panel() { return std::make_unique<VerdictPanel>(); }

}  // namespace triescope::viz
