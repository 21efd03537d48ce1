// Mask: which row of this step's forward may see which KV. Rows are the inputs, columns the tree's
// nodes that hold KV; the prompt is one band, for every row sees it.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw.h"
#include "viz/panels/panels.h"
#include "viz/token_text.h"

namespace triescope::viz {
namespace {

constexpr float kMinCellPx = 4, kMaxCellEm = 1.6f, kBandEm = 6, kLabelEm = 7;

class MaskPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "mask", "Mask",
        "The ancestor mask of this step's forward: a row sees the prompt, its ancestors and "
        "itself. Hover a cell to find its node "
        "in every panel; click the column order to change it.",
        "No forward yet: step once more (F10)."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    cells_ = {};
    order_box_ = {};
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    if (!gather(scene)) return draw_prefill(canvas, area, scene);
    const float em = scene.em, pad = em * 0.6f;
    const std::vector<LegendEntry> legend = {{"itself", scene.theme.current, "■"},
                                             {"ancestor", scene.theme.accent, "●"},
                                             {"not visible", scene.theme.text_dim, "–"}};
    const float legend_height =
        draw_legend(canvas, {area.x + pad, area.y + em * 0.2f}, area.w - 2 * pad, legend, scene);
    const std::string order = slot_order_ ? "columns: slot order ⇄" : "columns: path order ⇄";
    const TextStyle small = dim_text(scene, 0.78f);
    float top = area.y + legend_height + em * 0.2f;
    order_box_ = {area.x + pad, top, canvas.measure(order, small).x + em * 0.4f, em * 1.2f};
    if (!scene.export_mode) {
      text_in(canvas, order_box_, order, small);
      top += em * 1.3f;
    }
    const float label = std::min(em * kLabelEm, area.w * 0.28f),
                band = std::min(em * kBandEm, area.w * 0.2f);
    const float header = em * 1.2f;
    const Rect grid{area.x + pad + label + band, top + header,
                    std::max(1.0f, area.right() - pad - (area.x + pad + label + band)),
                    std::max(1.0f, area.bottom() - pad - top - header)};
    const auto columns = static_cast<float>(std::max<std::size_t>(1, columns_.size()));
    const auto rows = static_cast<float>(rows_.size());
    const float cell_w =
        std::clamp(grid.w / columns * zoom_, kMinCellPx, em * kMaxCellEm * std::max(1.0f, zoom_));
    const float cell_h = std::clamp(grid.h / rows, kMinCellPx, em * kMaxCellEm);
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(grid.w / cell_w)));
    // The newest columns are at the right; dragging goes back to older ones.
    const std::size_t hidden = columns_.size() > fitting ? columns_.size() - fitting : 0;
    const auto back = std::min(hidden, static_cast<std::size_t>(std::max(0.0f, back_)));
    const std::size_t first = hidden - back;
    const std::size_t last = std::min(columns_.size(), first + fitting);
    cells_ = {grid,  cell_w, cell_h,
              first, last,   {area.x + pad + label, grid.y, band, cell_h * rows}};

    std::string head = "prompt, " + std::to_string(scene.capture->run().prompt_tokens.size());
    text_in(canvas, {cells_.band.x, top, band - em * 0.2f, header}, head, small, Align::kCenter);
    std::string tree =
        std::to_string(columns_.size()) + (columns_.size() == 1 ? " node" : " nodes");
    if (first > 0) tree = "← " + std::to_string(first) + " more, " + tree;
    text_in(canvas, {grid.x, top, grid.w, header}, tree, small);

    const auto shown_rows = static_cast<std::size_t>(std::min(rows, std::floor(grid.h / cell_h)));
    for (std::size_t r = 0; r < shown_rows; ++r) {
      const capture::InputRow& input = rows_[r];
      const float y = grid.y + static_cast<float>(r) * cell_h;
      const capture::NodeView view = scene.capture->node_at(input.node, scene.cursor);
      const Color color = view.beam_rank >= 0 ? scene.theme.beam(view.beam_rank)
                                              : scene.theme.mark(view.state).color;
      const bool row_focus = scene.focus.node() == input.node;
      if (row_focus)
        canvas.fill_rect({area.x + pad, y, grid.right() - area.x - pad, cell_h},
                         scene.theme.focus.with_alpha(0.1f), 0);
      if (cell_h >= em * 0.8f) {
        TextStyle style = mono_text(scene, std::min(0.86f, cell_h / em * 0.85f));
        draw_glyph(canvas, scene.theme.mark(view.state).glyph,
                   {area.x + pad + em * 0.4f, y + cell_h / 2}, std::min(em * 0.6f, cell_h * 0.7f),
                   color);
        text_in(canvas, {area.x + pad + em, y, label - em * 1.3f, cell_h},
                node_text(scene, input.node, 14), style);
      }
      const float gap = cell_h > 6 ? 1 : 0;
      const bool sees_prompt = scene.capture->visible(input, -2);
      canvas.fill_rect({cells_.band.x, y + gap, band - em * 0.3f, cell_h - 2 * gap},
                       scene.theme.accent.with_alpha(sees_prompt ? 0.45f : 0.25f), 0);
      for (std::size_t c = first; c < last; ++c) {
        const float x = grid.x + static_cast<float>(c - first) * cell_w;
        const Rect cell{x + (cell_w > 6 ? 0.5f : 0), y + gap,
                        std::max(1.0f, cell_w - (cell_w > 6 ? 1.0f : 0)),
                        std::max(1.0f, cell_h - 2 * gap)};
        const bool self = columns_[c] == input.node;
        const bool sees = self || scene.capture->visible(input, columns_[c]);
        if (self) {
          canvas.fill_rect(cell, color, 0);
          if (std::min(cell.w, cell.h) > em * 0.5f)
            draw_glyph(canvas, "■", {cell.x + cell.w / 2, cell.y + cell.h / 2},
                       std::min(cell.w, cell.h) * 0.45f, scene.theme.background);
        } else if (sees) {
          canvas.fill_rect(cell, color.with_alpha(0.45f), 0);
          if (std::min(cell.w, cell.h) > em * 0.6f)
            draw_glyph(canvas, "●", {cell.x + cell.w / 2, cell.y + cell.h / 2},
                       std::min(cell.w, cell.h) * 0.3f, color);
        } else {
          canvas.fill_rect(cell, scene.theme.grid.with_alpha(0.6f), 0);
        }
      }
    }
    if (shown_rows < rows_.size())
      text_in(canvas, {area.x + pad, area.bottom() - pad, area.w - 2 * pad, pad},
              "+ " + std::to_string(rows_.size() - shown_rows) + " rows", dim_text(scene, 0.6f));
    // The focus as a column.
    for (std::size_t c = first; c < last; ++c) {
      if (columns_[c] != scene.focus.node()) continue;
      canvas.stroke_rect({grid.x + static_cast<float>(c - first) * cell_w, grid.y, cell_w,
                          cell_h * static_cast<float>(shown_rows)},
                         scene.theme.focus, 1.5f, LineStyle::kSolid, 0);
    }
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture) return reaction;
    if (in.clicked && order_box_.contains(in.mouse)) {
      slot_order_ = !slot_order_;
      return reaction;
    }
    if (in.wheel != 0) zoom_ = std::clamp(zoom_ * std::pow(1.15f, in.wheel), 1.0f, 40.0f);
    if (in.zoom_in) zoom_ = std::min(40.0f, zoom_ * 1.25f);
    if (in.zoom_out) zoom_ = std::max(1.0f, zoom_ * 0.8f);
    if (in.fit) {
      zoom_ = 1;
      back_ = 0;
    }
    if (in.dragging && cells_.width > 0)
      back_ = std::clamp(back_ + in.drag_delta.x / cells_.width, 0.0f,
                         static_cast<float>(columns_.size()));
    if (in.pan_left) back_ += 4;
    if (in.pan_right) back_ = std::max(0.0f, back_ - 4);
    if (!in.inside || cells_.height <= 0) return reaction;
    reaction.hover = -1;
    const auto r =
        static_cast<std::ptrdiff_t>(std::floor((in.mouse.y - cells_.grid.y) / cells_.height));
    if (r < 0 || r >= static_cast<std::ptrdiff_t>(rows_.size())) return reaction;
    const capture::InputRow& row = rows_[static_cast<std::size_t>(r)];
    std::int32_t under = row.node;
    const auto c =
        static_cast<std::ptrdiff_t>(std::floor((in.mouse.x - cells_.grid.x) / cells_.width));
    if (in.mouse.x >= cells_.grid.x && c >= 0 &&
        c + static_cast<std::ptrdiff_t>(cells_.first) < static_cast<std::ptrdiff_t>(cells_.last)) {
      under = columns_[cells_.first + static_cast<std::size_t>(c)];
      const bool sees = under == row.node || scene.capture->visible(row, under);
      reaction.tooltip = {
          "row " + std::to_string(row.row) + ": " + node_summary(scene, row.node),
          "column: " + node_summary(scene, under),
          sees ? (under == row.node ? "sees itself" : "sees it: an ancestor")
               : "does not see it: no ancestor, or outside the window",
          "visible(i) = prompt + ancestors(i) + i, position(i) − position(j) < window"};
    } else {
      reaction.tooltip = {"row " + std::to_string(row.row) + ": " + node_summary(scene, row.node)};
    }
    reaction.hover = under;
    if (in.clicked) reaction.lock = under;
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    MaskPanel all;
    if (!scene.capture || scene.shown_step() < 0 || !all.gather(scene))
      return {scene.em * 24, scene.em * 18};
    return {scene.em * (kLabelEm + kBandEm + 2 +
                        std::min(static_cast<float>(all.columns_.size()) * 1.2f, 600.0f)),
            scene.em * (4 + std::max(4.0f, static_cast<float>(all.rows_.size()) * 1.5f))};
  }

  std::string csv(const Scene& scene) const override {
    MaskPanel all;
    std::ostringstream out;
    out << "step,row,node,position,slot,sees_prompt,visible_nodes\n";
    if (!scene.capture || scene.shown_step() < 0 || !all.gather(scene)) return out.str();
    for (const capture::InputRow& row : all.rows_) {
      out << row.step << ',' << row.row << ',' << row.node << ',' << row.position << ',' << row.slot
          << ',' << scene.capture->visible(row, -2) << ',';
      bool first = true;
      for (const std::int32_t node : all.columns_) {
        if (node != row.node && !scene.capture->visible(row, node)) continue;
        out << (first ? "" : " ") << node;
        first = false;
      }
      out << '\n';
    }
    return out.str();
  }

  std::string view_state() const override { return slot_order_ ? "order=slot" : "order=path"; }
  void set_view_state(const std::string& state) override { slot_order_ = state == "order=slot"; }

 private:
  struct Cells {
    Rect grid;
    float width = 0, height = 0;
    std::size_t first = 0, last = 0;
    Rect band;
  };

  // Rows and columns of the shown step; false: no tree inputs (prefill).
  bool gather(const Scene& scene) {
    const capture::Capture& capture = *scene.capture;
    const std::int32_t step = scene.shown_step();
    rows_.clear();
    for (const capture::InputRow& row : capture.inputs(step))
      if (row.node > 0) rows_.push_back(row);
    if (rows_.empty()) return false;
    // What holds KV while the forward runs: after it, the commit may already have freed some.
    const capture::Tick tick =
        std::min(scene.cursor, capture::make_tick(step, capture::Phase::kForward) + 1);
    columns_.clear();
    std::vector<std::pair<std::int32_t, std::int32_t>> found;  // (slot, node)
    const std::int32_t slots = capture.slot_count_at(tick);
    for (std::int32_t slot = 0; slot < slots; ++slot) {
      const capture::SlotView view = capture.slot_at(slot, tick);
      if (view.state != capture::SlotState::kFree && view.node > 0)
        found.emplace_back(slot, view.node);
    }
    for (const capture::InputRow& row : rows_) found.emplace_back(row.slot, row.node);
    if (slot_order_) {
      std::sort(found.begin(), found.end());
    } else {
      std::sort(found.begin(), found.end(),
                [](const auto& a, const auto& b) { return a.second < b.second; });
    }
    // A node may lie in several slots (the batch policy's copies): it is one column.
    std::vector<char> seen(capture.nodes().size(), 0);
    for (const auto& [slot, node] : found) {
      if (node >= static_cast<std::int32_t>(seen.size()) || seen[static_cast<std::size_t>(node)])
        continue;
      seen[static_cast<std::size_t>(node)] = 1;
      columns_.push_back(node);
    }
    return true;
  }

  void draw_prefill(Canvas& canvas, Rect area, const Scene& scene) const {
    const float em = scene.em, size = std::min(area.w - em * 3, area.h - em * 5);
    const auto count = scene.capture->run().prompt_tokens.size();
    if (size > em * 3) {
      const float x = area.x + (area.w - size) / 2, y = area.y + em;
      canvas.fill_rect({x, y, size, size}, scene.theme.grid.with_alpha(0.6f), 0);
      const Point triangle[] = {{x, y}, {x + size, y + size}, {x, y + size}};
      canvas.fill_polygon(triangle, scene.theme.accent.with_alpha(0.45f));
      canvas.stroke_rect({x, y, size, size}, scene.theme.border, 1, LineStyle::kSolid, 0);
    }
    draw_empty_state(
        canvas, {area.x, area.bottom() - em * 4, area.w, em * 4},
        "Prefill: " + std::to_string(count) +
            " prompt tokens under the plain causal mask. The tree's rows begin with step 1.",
        scene);
  }

  float zoom_ = 1, back_ = 0;
  bool slot_order_ = false;
  std::vector<capture::InputRow> rows_;
  std::vector<std::int32_t> columns_;
  Cells cells_;
  Rect order_box_;
};

}  // namespace

std::unique_ptr<Panel> make_mask_panel() { return std::make_unique<MaskPanel>(); }

}  // namespace triescope::viz
