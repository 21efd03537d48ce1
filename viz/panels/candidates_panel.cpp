// Candidates: the best tokens of one node's output row with their probabilities. The chosen ones
// are marked.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/panels/candidate_table.h"
#include "viz/panels/owner_switch.h"
#include "viz/panels/panel_rows.h"
#include "viz/panels/panels.h"
#include "viz/query/leaves.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

constexpr float kBesideEm = 42;  // from which width on two tables stand side by side

class CandidatesPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "candidates",
        "Candidates",
        std::string(
            "The best next tokens after the focused node (or the best live path), with "
            "log-probabilities. A mark shows which became children. In a wide pane the drafter's "
            "own row of the same place stands beside the target's.") +
            OwnerSwitch::kHelp,
        "Click a node of the trie whose children differ in colour, and find here the token that came "
        "in second and how little it lacked.",
        "No output row yet: step once (F10), or focus a node that has been through a forward.",
        /*rows=*/{"candidate"}};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    table_.clear();
    beside_.clear();
    const float em = scene.em, pad = em * 0.6f;
    const RowSource source = owner_.source(scene);
    const Rect owner = owner_.draw(canvas, area, scene);
    const std::int32_t node = node_of(scene);
    if (node < 0)
      return draw_empty_state(canvas, area,
                              source.is_target() ? empty_text(scene.capture, info(), info().empty)
                                                 : "No output row of the " +
                                                       std::string(owner_name(source.whose)) +
                                                       " yet: step on (F10).",
                              scene);
    const auto rows = source.candidates(*scene.capture, node, scene.cursor);
    float right = owner.w > 0 ? owner.x : area.right();
    if (const float key =
            draw_lit_key(canvas, {right - pad, area.y + em * 0.2f}, area.w * 0.5f, scene);
        key > 0)
      right -= key + em;
    text_in(canvas, {area.x + pad, area.y + em * 0.25f, right - pad - (area.x + pad), em * 1.3f},
            "after " + (node == 0 ? std::string("the prompt")
                                  : "node " + std::to_string(node) + " " + node_text(scene, node)),
            bold_text(scene, 0.9f));
    // The numbers of a row that stood wrong, or saw what is not its text, are not those of its path.
    const auto last = static_cast<std::int32_t>(scene.capture->run().prompt_tokens.size());
    const auto faults = row_fault_lines(scene, node == 0 ? -1 - last : node, source.whose);
    const float warning = faults.empty() ? 0 : em * 1.35f;
    if (!faults.empty()) {
      draw_glyph(canvas, "▲", {area.x + pad + em * 0.45f, area.y + em * 2.3f}, em * 0.75f,
                 scene.theme.fault);
      text_in(
          canvas,
          {area.x + pad + em * 1.2f, area.y + em * 1.65f, area.w - 2 * pad - em * 1.2f, em * 1.3f},
          "its row " + faults.front(), ui_text(scene, 0.86f));
    }
    const Rect whole{area.x + pad, area.y + em * 1.7f + warning, area.w - 2 * pad,
                     std::max(1.0f, area.h - em * 1.9f - warning)};
    const std::span<const capture::CandidateRow> drafted = beside(scene, node, whole.w);
    if (drafted.empty()) return table_.draw(canvas, whole, rows, source, scene);
    const float half = (whole.w - em) / 2;
    const Rect left{whole.x, whole.y, half, whole.h},
        right_half{left.right() + em, whole.y, half, whole.h};
    const RowSource drafter{drafted.front().whose};
    for (const auto& [box, name] :
         {std::pair{left, owner_name(source.whose)}, {right_half, owner_name(drafter.whose)}})
      text_in(canvas, {box.x, box.y, box.w, em * 1.2f}, name, dim_text(scene, 0.82f));
    const auto below = [&](Rect box) {
      return Rect{box.x, box.y + em * 1.2f, box.w, std::max(1.0f, box.h - em * 1.2f)};
    };
    canvas.line({left.right() + em * 0.5f, whole.y}, {left.right() + em * 0.5f, whole.bottom()},
                scene.theme.border, 1);
    table_.draw(canvas, below(left), rows, source, scene);
    beside_.draw(canvas, below(right_half), drafted, drafter, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (owner_.input(in, scene, reaction)) return reaction;
    const std::int32_t node = node_of(scene);
    if (!in.inside || node < 0) return reaction;
    const auto* found =
        table_.at(in.mouse, owner_.source(scene).candidates(*scene.capture, node, scene.cursor));
    if (!found) found = beside_.at(in.mouse, drafter_rows(scene, node));
    if (!found) return reaction;
    const capture::CandidateRow& row = *found;
    const bool is_targets = row.whose == capture::Whose::kTarget;
    reaction.tooltip = {"token " + std::to_string(row.token) + "  " +
                            token_text(scene.capture->piece(row.token), 60),
                        "rank " + std::to_string(row.rank + 1),
                        "log p = logit − logsumexp(logits) = " + logprob_text(row.logprob),
                        "p = exp(log p) = " + number_text(std::exp(row.logprob), 6)};
    for (const capture::CandidateRow& other :
         is_targets ? drafter_rows(scene, node) : scene.capture->candidates(node, scene.cursor))
      if (other.token == row.token)
        reaction.tooltip.push_back(std::string(owner_name(other.whose)) + ": rank " +
                                   std::to_string(other.rank + 1) + ", " +
                                   number_text(std::exp(other.logprob), 6));
    // Before an audience the key does nothing.
    if (!scene.series) reaction.tooltip.push_back("Ctrl+I: decode on with another token");
    for (const std::int32_t child : scene.capture->children(node)) {
      const capture::NodeRow& below = scene.capture->nodes()[static_cast<std::size_t>(child)];
      if (in.clicked && below.token == row.token && !capture::is_probe(below))
        reaction.lock = child;
    }
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const std::int32_t node = node_of(scene);
    const auto rows =
        node < 0 ? 4
                 : owner_.source(scene).candidates(*scene.capture, node, scene.cursor).size() + 1;
    return {scene.em * 40, scene.em * (3.9f + CandidateTable::kRowEm * static_cast<float>(rows))};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "node,rank,token,text,logprob,p,chosen\n";
    const std::int32_t node = node_of(scene);
    if (node < 0) return out.str();
    for (const capture::CandidateRow& row :
         owner_.source(scene).candidates(*scene.capture, node, scene.cursor))
      out << node << ',' << row.rank << ',' << row.token << ','
          << csv_field(plain_text(scene.capture->piece(row.token))) << ','
          << csv_number(row.logprob) << ',' << csv_number(std::exp(row.logprob)) << ','
          << CandidateTable::took(row, owner_.source(scene), scene) << '\n';
    return out.str();
  }
  std::string whose(const Scene& scene) const override { return owner_.name(scene); }
  std::string view_state() const override { return owner_.state(); }
  void set_view_state(const std::string& state) override { owner_.set_state(state); }

 private:
  // The focused node if it has candidates, else its parent, else the best live leaf or its nearest
  // ancestor that has some.
  std::int32_t node_of(const Scene& scene) const {
    if (!scene.capture) return -1;
    const RowSource source = owner_.source(scene);
    const auto has = [&](std::int32_t node) {
      return node >= 0 && !source.candidates(*scene.capture, node, scene.cursor).empty();
    };
    const auto parent = [&](std::int32_t node) {
      return node > 0 && node < static_cast<std::int32_t>(scene.capture->nodes().size())
                 ? scene.capture->nodes()[static_cast<std::size_t>(node)].parent
                 : -1;
    };
    std::int32_t node = scene.focus.node();
    if (has(node)) return node;
    if (has(parent(node))) return parent(node);
    const auto frontier = leaves_at(*scene.capture, scene.cursor);
    if (!frontier.empty()) {
      for (node = frontier.front().node; node >= 0; node = parent(node))
        if (has(node)) return node;
    }
    return has(0) ? 0 : -1;
  }

  // The drafter's candidates for the same place; empty where it has no row there.
  static std::span<const capture::CandidateRow> drafter_rows(const Scene& scene,
                                                             std::int32_t node) {
    for (const capture::Whose whose : {capture::Whose::kHead, capture::Whose::kDraft})
      if (const auto rows = scene.capture->candidates(node, scene.cursor, whose); !rows.empty())
        return rows;
    return {};
  }
  // The same, where there is room for it beside the target's.
  std::span<const capture::CandidateRow> beside(const Scene& scene, std::int32_t node,
                                                float width) const {
    if (!owner_.source(scene).is_target() || width < scene.em * kBesideEm) return {};
    return drafter_rows(scene, node);
  }

  OwnerSwitch owner_;
  CandidateTable table_, beside_;  // beside_: the drafter's
};

}  // namespace

std::unique_ptr<Panel> make_candidates_panel() { return std::make_unique<CandidatesPanel>(); }

}  // namespace triescope::viz
