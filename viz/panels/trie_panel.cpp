// Trie: the token tree, growing to the right. Tokens on the nodes, probabilities below them, beams
// by colour and number, dead branches dimmed with their mark and gap.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/panels/fault_head.h"
#include "viz/panels/panels.h"
#include "viz/panels/trie_input.h"
#include "viz/panels/trie_picture.h"
#include "viz/text/number_text.h"
#include "viz/text/token_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

std::vector<LegendEntry> legend_of(const TrieShape& shape, const Scene& scene) {
  const bool drafts = shape.any_drafts(), beams = shape.has_beams();
  std::vector<LegendEntry> entries;
  const auto add = [&](NodeState state) {
    const Mark mark = scene.theme.mark(state);
    entries.push_back({std::string(mark.word), mark.color, mark.glyph});
  };
  if (drafts) {
    for (const NodeState state : {NodeState::kAccepted, NodeState::kRejected}) add(state);
    if (shape.any_withdrawn()) add(NodeState::kWithdrawn);
    for (const NodeState state : {NodeState::kBonus, NodeState::kCorrected, NodeState::kPending})
      add(state);
  }
  if (shape.any_probes()) add(NodeState::kProbe);
  if (beams) {
    entries.push_back({"beam: rank, Σ log p", scene.theme.beam(0), "#"});
    add(NodeState::kPruned);
  } else if (!drafts) {
    entries.push_back(
        {.label = "text: Σ log p", .color = scene.theme.beam(0), .glyph = "#", .term = "Σ log p"});
  }
  if (!drafts) {
    add(NodeState::kFinished);
    if (beams) entries.back().label = "finished: final score";  // where several are ranked by it
    entries.back().color = scene.theme.text_dim;
  }
  add_node_fault_entries(entries, has_fault_mark(scene, capture::RowMark::kRecorded),
                         has_fault_mark(scene, capture::RowMark::kMissing), scene);
  if (scene.twins) entries.push_back({"the other run differs", scene.theme.difference, "≠"});
  if (scene.steady) entries.push_back(lit_entry(scene));
  // The rest of the key; small panels leave it out.
  entries.push_back({"p below a token; a line is as wide as p", scene.theme.text_dim, ""});
  if (beams) entries.push_back({"gap at the cut", scene.theme.text_dim, "Δ"});
  entries.push_back({"read by this forward", scene.theme.current, "□"});
  return entries;
}

class TriePanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "trie",
        "Trie",
        "The token tree: a column is a position, a line a path, its width the token's "
        "probability. Beams carry their rank, dead branches their mark and their gap to the "
        "survivors. ▲ and △ mark rows that are recorded otherwise than the tree asks. A number on a "
        "draft says when the drafter added it to a tree that grows heaviest first. Drag to move, wheel or W/S to zoom, F to fit and to follow again; double-click "
        "folds a subtree or opens what is folded, Z changes what is folded by itself. A map in a "
        "free corner shows where you are while a part is out of sight; click or drag on it to go "
        "elsewhere.",
        "Follow a dashed branch to its end: Δ is how far it was below the worst beam that was kept.",
        "No tree yet: step once (F10) to run the prefill.",
        /*rows=*/{"node"},
        /*zooms=*/true,
        /*grows=*/true};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    picture_.chips.clear();
    picture_.minimap.hide();
    mode_button_ = {};
    if (!scene.capture || scene.capture->nodes_at(scene.cursor).empty())
      return draw_empty_state(canvas, area, info().empty, scene);
    picture_.shape.update(canvas, scene, folds_.options, folds_.version);
    picture_.body = draw_header(canvas, area, scene);
    canvas.push_clip(picture_.body);
    draw_trie(canvas, picture_, scene);
    if (!scene.export_mode && !scene.steady)  // it covers the tree; no help to an audience
      picture_.minimap.draw(canvas, picture_.body, picture_.shape, picture_.view,
                            trie_node_areas(picture_), scene);
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    return trie_input(in, mode_button_, scene, picture_, folds_);
  }

  Point extent(Canvas& canvas, const Scene& scene) const override {
    if (!scene.capture) return {scene.em * 30, scene.em * 8};
    TrieShape all;
    all.update(canvas, scene, folds_.options, folds_.version);
    const auto rows = static_cast<float>(all.layout().rows());
    const float note = all.left_out() > 0 ? TriePicture::kNoteEm : 0, em = scene.em;
    const Point tree{(all.width() + 2 * TriePicture::kMarginEm) * em,
                     (rows * TriePicture::kRowEm + 2 * TriePicture::kMarginEm + note) * em};
    float head = 2 * em;
    if (legend_rows({0, 0, tree.x, tree.y + head}, scene) > 1)
      head = std::max(head, em * 0.6f + legend_height(canvas, std::max(tree.x, em * 30) - em * 1.2f,
                                                      legend_of(all, scene), scene));
    return {tree.x, tree.y + head};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "node,parent,token,text,depth,position,logprob,score,q,source,state,beam_rank,slot\n";
    if (!scene.capture) return out.str();
    for (const capture::NodeRow& row : scene.capture->nodes_at(scene.cursor)) {
      const capture::NodeView view = scene.capture->node_at(row.node, scene.cursor);
      const auto number = [](float value) {
        return std::isnan(value) ? std::string() : csv_number(value);
      };
      out << row.node << ',' << row.parent << ',' << row.token << ','
          << csv_field(row.node == 0 ? "" : plain_text(scene.capture->piece(row.token))) << ','
          << row.depth << ','
          << (row.node == 0 ? std::string() : std::to_string(node_position(scene, row.node))) << ','
          << number(view.row.logprob) << ',' << number(view.row.score) << ',' << number(row.q)
          << ',' << csv_field(std::string(scene.capture->source_of(row))) << ','
          << capture::to_string(view.state) << ',' << view.beam_rank << ',' << view.slot << '\n';
    }
    return out.str();
  }

  std::string view_state() const override { return trie_view_state(folds_, picture_.view); }
  void set_view_state(const std::string& state) override {
    set_trie_view_state(state, folds_, picture_.view);
  }

 private:
  // Draws the legend and the folds' button. Returns the room below them.
  Rect draw_header(Canvas& canvas, Rect area, const Scene& scene) {
    const float em = scene.em, pad = em * 0.6f;
    float right = area.right() - pad, button = 0;
    if (scene.has_buttons() && area.w > em * 20) {
      const std::string label = std::string("folds: ") + mode_name(folds_.options.mode);
      mode_button_ = draw_button(canvas, {right, area.y + em * 0.2f}, label, scene);
      right = mode_button_.x - pad;
      button = mode_button_.h;
    }
    const float legend =
        draw_legend(canvas, {area.x + pad, area.y + em * 0.2f}, right - area.x - pad,
                    legend_of(picture_.shape, scene), scene, nullptr, legend_rows(area, scene));
    const float top = (scene.legend == LegendRoom::kNone ? button : legend) + em * 0.4f;
    return {area.x, area.y + top, area.w, std::max(1.0f, area.h - top)};
  }

  TriePicture picture_;
  TrieFoldState folds_;
  Rect mode_button_;
};

}  // namespace

std::unique_ptr<Panel> make_trie_panel() { return std::make_unique<TriePanel>(); }

}  // namespace triescope::viz
