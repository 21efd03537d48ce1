// Mask: which row of this step's forward sees which KV. Rows are the inputs, columns the tree's
// nodes that hold KV; the prompt is one band. The panel draws what rows attended to, where the capture says it,
// and marks what the tree does not ask for.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/layouts/mask_grid.h"
#include "viz/layouts/zoom.h"
#include "viz/panels/fault_head.h"
#include "viz/panels/mask_picture.h"
#include "viz/panels/mask_rows.h"
#include "viz/panels/owner_switch.h"
#include "viz/panels/panels.h"
#include "viz/panels/zoom_input.h"

namespace triescope::viz {
namespace {

constexpr float kMaskBandEm = 5.5f, kMaskLabelEm = 8.5f, kMaskMaxZoom = 60;
constexpr float kLeastRowEm = 0.85f;  // of a figure, so that letters have room
constexpr float kButtonEm = 7;        // the button with its word "columns: "

class MaskPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "mask",
        "Mask",
        std::string(
            "The ancestor mask of this step's forward: a row sees the prompt, its "
            "ancestors and itself, nothing else. Hover a cell to find its node, path, "
            "position and slot in every panel. Wheel to zoom, drag to move; the button "
            "changes the order of the columns. Where a recorder says what rows really attended "
            "to, that is drawn: ▲ is seen and should not be, △ should be seen and is not.") +
            OwnerSwitch::kHelp,
        "Compare the rows of two siblings: they see the same columns, and of the two themselves only "
        "their own.",
        "No forward yet: step once more (F10).",
        /*rows=*/{"input"},
        /*zooms=*/true};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    picture_.grid = {};
    order_button_ = {};
    head_ = {};
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const RowSource source = owner_.source(scene);
    const Rect owner = owner_.draw(canvas, area, scene);
    if (!picture_.mask.update(source, scene, picture_.slot_order)) {
      float taken = owner.w > 0 ? owner.bottom() - area.y : 0;
      taken += head_.draw(canvas, {area.x + pad, area.y + taken + em * 0.2f, area.w - 2 * pad, em},
                          0, "cell", faulty_steps(scene), scene);
      return draw_no_mask(canvas, {area.x, area.y + taken, area.w, area.h - taken}, source, info(),
                          scene);
    }
    std::vector<LegendEntry> legend = {{"itself", scene.theme.accent, "■"},
                                       {"ancestor", scene.theme.accent, "●"},
                                       {"not visible", scene.theme.text_dim, "□"}};
    add_states(legend, scene);
    if (scene.steady) legend.push_back(lit_entry(scene));
    add_faults(legend, scene);
    float right = owner.w > 0 ? owner.x - pad : area.right() - pad;
    if (scene.has_buttons()) {
      // The legend needs the room in a small panel, where the button's word is enough.
      const bool crowds =
          legend_rows(area, scene) == 1 &&
          legend_height(canvas, right - area.x - pad - em * kButtonEm, legend, scene) > em * 1.5f;
      const std::string what = crowds || (owner.w > 0 && area.w < em * 30) ? "" : "columns: ";
      order_button_ = draw_button(canvas, {right, area.y + em * 0.2f},
                                  what + (picture_.slot_order ? "slots" : "paths"), scene);
      right = order_button_.x - pad;
    }
    // The legend takes a second row rather than lack an entry. It stands beside the switch and the
    // button if it needs two rows at most, else below them.
    const float beside = right - area.x - pad;
    const bool below = right < area.right() - pad - 1 &&
                       legend_height(canvas, beside, legend, scene) > em * 1.36f * 2;
    const float legend_y = area.y + em * (below ? 1.75f : 0.2f);
    float top = legend_y + em * 0.25f +
                std::max(em * 1.2f, draw_legend(canvas, {area.x + pad, legend_y},
                                                below ? area.w - 2 * pad : beside, legend, scene,
                                                nullptr, std::max(2, legend_rows(area, scene))));
    top += head_.draw(canvas, {area.x + pad, top - em * 0.1f, area.w - 2 * pad, em},
                      picture_.mask.fault_count, "cell", faulty_steps(scene), scene);
    const float label = std::min(em * kMaskLabelEm, area.w * 0.3f),
                band = std::min(em * kMaskBandEm, area.w * 0.16f), header = em * 1.3f;
    const Rect body{area.x + pad + label + band, top + header,
                    std::max(1.0f, area.w - 2 * pad - label - band),
                    std::max(1.0f, area.bottom() - pad * 0.5f - top - header)};
    const std::size_t columns = picture_.mask.columns.size();
    picture_.grid =
        MaskGrid::fit(body, rows_for(picture_.mask.rows.size(), scene), room_for(columns, scene),
                      em, scene.export_mode ? 1 : zoom_, scene.export_mode ? Point{} : offset_);
    picture_.grid.rows = picture_.mask.rows.size();
    picture_.grid.columns = columns;
    // A figure that is too small for all rows with letters shows fewer and says how many more there are.
    if (scene.export_mode && !scene.series && picture_.grid.cell_h < em * kLeastRowEm) {
      const float cell = picture_.grid.cell_h = em * kLeastRowEm;
      const float fit = std::max(1.0f, std::floor(body.h / cell));
      picture_.grid.body.h = std::min(body.h, fit * cell);
      if (const auto more = static_cast<std::ptrdiff_t>(picture_.mask.rows.size()) -
                            static_cast<std::ptrdiff_t>(fit);
          more > 0)
        text_in(canvas, {area.x + pad, top, label, header}, "+ " + counted(more, "row"),
                dim_text(scene, 0.76f));
    }
    draw_mask_header(canvas, picture_, {area.x + pad + label, top, band, header}, scene);
    draw_mask_rows(canvas, picture_, {area.x + pad, body.y, label, body.h}, band, scene);
    draw_mask_cross(canvas, picture_, {area.x + pad, body.y, label + band, body.h}, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (in.fold) picture_.slot_order = !picture_.slot_order;
    if (!scene.capture || owner_.input(in, scene, reaction)) return reaction;
    if (in.inside && order_button_.contains(in.mouse)) {
      reaction.tooltip = {"paths: a node stands behind its ancestors",
                          "slots: the order in memory, which the mask does not care about"};
      if (in.clicked) picture_.slot_order = !picture_.slot_order;
      return reaction;
    }
    if (head_.input(in, faulty_steps(scene), scene, reaction)) return reaction;
    if (picture_.grid.rows == 0) return reaction;
    if (const auto factor = static_cast<float>(zoom_of(in)); factor != 1) {
      const float zoom = std::clamp(zoom_ * factor, 1.0f, kMaskMaxZoom), ratio = zoom / zoom_;
      offset_ = {scroll_about(picture_.grid.offset.x, in.mouse.x - picture_.grid.body.x, ratio),
                 scroll_about(picture_.grid.offset.y, in.mouse.y - picture_.grid.body.y, ratio)};
      zoom_ = zoom;
    }
    if (in.dragging || in.pan_left || in.pan_right || in.wheel_x != 0) {
      const float step = scene.em * 5;
      offset_ = {picture_.grid.offset.x - (in.dragging ? in.drag_delta.x : 0) -
                     (in.pan_left ? step : 0) + (in.pan_right ? step : 0) - in.wheel_x * step,
                 picture_.grid.offset.y - (in.dragging ? in.drag_delta.y : 0)};
    }
    if (in.fit) zoom_ = 1, offset_ = {};
    if (!in.inside) return reaction;
    reaction.hover = -1;
    const auto r = picture_.grid.row_at(in.mouse.y);
    if (!r) return reaction;
    const capture::InputRow& row = picture_.mask.rows[*r];
    const auto c = picture_.grid.column_at(in.mouse.x);
    const std::int32_t under = c ? picture_.mask.columns[*c] : row.node;
    reaction.hover = under;
    if (in.node_only) return reaction;
    reaction.tooltip = {forward_text(row) + "row " + std::to_string(row.row) + ": " +
                        node_summary(scene, row.node, row.whose)};
    const auto& faults = picture_.mask.faults[*r];
    if (c)
      explain_cell(row, picture_.mask.cell(*r, *c), under, faults, scene, reaction);
    else if (!faults.empty())
      reaction.tooltip.push_back("▲ " + sights_text(scene, row, faults, 3));
    if (in.clicked) reaction.lock = under;
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    MaskRows all;
    if (!scene.capture || scene.shown_step() < 0 ||
        !all.update(owner_.source(scene), scene, picture_.slot_order))
      return {scene.em * 24, scene.em * 20};
    const auto columns = static_cast<float>(room_for(all.columns.size(), scene));
    const float cell = std::clamp(110 / columns, 0.6f, MaskGrid::kWidestEm);
    return {scene.em * (kMaskLabelEm + kMaskBandEm + 2 + std::min(columns * cell, 700.0f)),
            scene.em * (4.5f + std::max(2.0f, static_cast<float>(all.rows.size())) *
                                   MaskGrid::kTallestEm)};
  }

  std::string csv(const Scene& scene) const override {
    return mask_csv(owner_.source(scene), scene, picture_.slot_order);
  }
  std::string whose(const Scene& scene) const override { return owner_.name(scene); }

  // "order=slot;whose=draft"
  std::string view_state() const override {
    const std::string owner = owner_.state();
    return (picture_.slot_order ? "order=slot" : "order=path") +
           (owner.empty() ? owner : ";" + owner);
  }
  void set_view_state(const std::string& state) override {
    picture_.slot_order = state.rfind("order=slot", 0) == 0;
    owner_.set_state(state);
  }

 private:
  std::span<const std::int32_t> faulty_steps(const Scene& scene) const {
    if (scene.capture->rows_in("seen") == 0) return {};
    return scene.capture->row_faults().sight_steps(owner_.source(scene).whose);
  }

  static void explain_cell(const capture::InputRow& row, MaskCell cell, std::int32_t column,
                           std::span<const capture::SightFault> faults, const Scene& scene,
                           Reaction& reaction) {
    reaction.tooltip.push_back("column: " + (column == MaskRows::kUnwritten
                                                 ? "slots that nothing was written to"
                                                 : node_summary(scene, column, row.whose)));
    switch (cell) {
      case MaskCell::kSelf:
        reaction.tooltip.push_back("the row sees itself");
        break;
      case MaskCell::kAncestor:
        reaction.tooltip.push_back("visible: an ancestor of the row");
        break;
      case MaskCell::kHidden:
        reaction.tooltip.push_back(
            "not visible: not an ancestor of the row, or outside the sliding window");
        break;
      case MaskCell::kExtra:
      case MaskCell::kMissing:
        for (const capture::SightFault& fault : faults)
          if (fault.occupant == column) {
            reaction.tooltip.push_back((cell == MaskCell::kExtra ? "▲ " : "△ ") +
                                       sight_text(scene, row, fault) + "; " +
                                       asked_sight_text(scene, row));
            break;
          }
        break;
    }
    const std::int32_t window =
        row.whose == capture::Whose::kTarget ? scene.capture->run().sliding_window : 0;
    reaction.tooltip.push_back("visible(i) = prompt + ancestors(i) + i" +
                               (window > 0
                                    ? ", and position(i) − position(j) < " + std::to_string(window)
                                    : std::string()));
  }

  // Adds the marks of this step, or those of the run in a series, so that the legend stays.
  void add_faults(std::vector<LegendEntry>& legend, const Scene& scene) const {
    bool extra = false, missing = false;
    for (const auto& of_row : picture_.mask.faults)
      for (const capture::SightFault& fault : of_row)
        (capture::is_missing(fault.kind) ? missing : extra) = true;
    if (scene.steady && !faulty_steps(scene).empty()) extra = missing = true;
    if (extra) legend.push_back(recorded_fault_entry("seen, not asked for", scene));
    if (missing) legend.push_back(missing_fault_entry("asked for, not seen", scene));
  }

  // Adds what the rows' colours say of drafts and probes, of the step or, in a series, of the run.
  void add_states(std::vector<LegendEntry>& legend, const Scene& scene) const {
    std::set<capture::NodeState> states;
    if (scene.steady) {
      const auto last = scene.capture->states_at(scene.capture->end_tick());
      for (const capture::NodeRow& row : scene.capture->nodes())
        if (capture::is_probe(row))
          states.insert(capture::NodeState::kProbe);
        else if (capture::is_draft(row) &&
                 last[static_cast<std::size_t>(row.node)] != capture::NodeState::kWithdrawn)
          states.insert({last[static_cast<std::size_t>(row.node)], capture::NodeState::kPending});
    } else {
      for (const capture::InputRow& row : picture_.mask.rows)
        if (const auto view = scene.capture->node_at(row.node, scene.cursor); view.beam_rank < 0)
          states.insert(view.state);
    }
    for (const capture::NodeState state :
         {capture::NodeState::kAccepted, capture::NodeState::kRejected,
          capture::NodeState::kPending, capture::NodeState::kProbe}) {
      const Mark mark = scene.theme.mark(state);
      if (states.contains(state))
        legend.push_back({std::string(mark.word), mark.color, mark.glyph});
    }
  }

  // A series has cells of one size, with room for all nodes that may ever hold KV at once. A steady
  // series leaves out nodes that all rows see, so it has room for as many as its largest forward
  // has rows.
  std::size_t room_for(std::size_t columns, const Scene& scene) const {
    if (scene.steady) return rows_for(columns, scene);
    if (!scene.series) return columns;
    const std::int32_t slots =
        owner_.source(scene).slot_count_at(*scene.capture, scene.capture->end_tick());
    const auto prompt = static_cast<std::int32_t>(scene.capture->run().prompt_tokens.size());
    return std::max(columns, std::min(static_cast<std::size_t>(std::max(0, slots - prompt)),
                                      scene.capture->nodes().size()));
  }

  // A steady scene also has room for the rows of the run's largest forward.
  std::size_t rows_for(std::size_t rows, const Scene& scene) const {
    if (!scene.steady) return rows;
    for (std::int32_t step = 1; step <= scene.capture->last_step(); ++step)
      rows = std::max(rows, owner_.source(scene).inputs(*scene.capture, step).size());
    return rows;
  }

  // Names the forward of a row in a step that has several; "" in the others.
  std::string forward_text(const capture::InputRow& row) const {
    return picture_.mask.rows.front().forward == picture_.mask.rows.back().forward
               ? ""
               : "forward " + std::to_string(row.forward) + ", ";
  }

  OwnerSwitch owner_;
  float zoom_ = 1;
  Point offset_;
  MaskPicture picture_;
  FaultHead head_;
  Rect order_button_;
};

}  // namespace

std::unique_ptr<Panel> make_mask_panel() { return std::make_unique<MaskPanel>(); }

}  // namespace triescope::viz
