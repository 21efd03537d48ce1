// Mask: which row of this step's forward may see which KV. Rows are the inputs, columns the tree's
// nodes that hold KV; the prompt is one band, for every row sees it.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw.h"
#include "viz/layouts/mask_grid.h"
#include "viz/panels/panels.h"
#include "viz/token_text.h"

namespace triescope::viz {
namespace {

using capture::SlotState;

constexpr float kBandEm = 5.5f, kLabelEm = 8.5f;

class MaskPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "mask", "Mask",
        "The ancestor mask of this step's forward: a row sees the prompt, its ancestors and "
        "itself, nothing else. Hover a cell to find its node, path, position and slot in every "
        "panel. Wheel to zoom, drag to move; the button changes the order of the columns.",
        "No forward yet: step once more (F10)."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    grid_ = {};
    order_button_ = {};
    if (!scene.capture || scene.shown_step() < 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    if (!gather(scene)) return draw_prefill(canvas, area, scene);
    const float em = scene.em, pad = em * 0.6f;
    float right = area.right() - pad;
    if (!scene.export_mode) {
      order_button_ = draw_button(canvas, {right, area.y + em * 0.2f},
                                  slot_order_ ? "columns: slots" : "columns: paths", scene);
      right = order_button_.x - pad;
    }
    const std::vector<LegendEntry> legend = {{"itself", scene.theme.accent, "■"},
                                             {"ancestor", scene.theme.accent, "●"},
                                             {"not visible", scene.theme.text_dim, "□"}};
    const float top = area.y + em * 0.45f +
                      std::max(em * 1.2f, draw_legend(canvas, {area.x + pad, area.y + em * 0.2f},
                                                      right - area.x - pad, legend, scene, nullptr,
                                                      legend_rows(area, scene)));
    const float label = std::min(em * kLabelEm, area.w * 0.3f),
                band = std::min(em * kBandEm, area.w * 0.16f), header = em * 1.3f;
    const Rect body{area.x + pad + label + band, top + header,
                    std::max(1.0f, area.w - 2 * pad - label - band),
                    std::max(1.0f, area.bottom() - pad * 0.5f - top - header)};
    grid_ = MaskGrid::fit(body, rows_.size(), columns_.size(), em, scene.export_mode ? 1 : zoom_,
                          scene.export_mode ? Point{} : offset_);
    draw_header(canvas, {area.x + pad + label, top, band, header}, body, scene);
    draw_rows(canvas, {area.x + pad, body.y, label, body.h}, band, scene);
    draw_cross(canvas, {area.x + pad, body.y, label + band, body.h}, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture) return reaction;
    if (in.inside && order_button_.contains(in.mouse)) {
      reaction.tooltip = {"paths: a node stands behind its ancestors",
                          "slots: the order in memory, which the mask does not care about"};
      if (in.clicked) slot_order_ = !slot_order_;
      return reaction;
    }
    if (grid_.rows == 0) return reaction;
    const float factor = (in.wheel != 0 && in.inside ? std::pow(1.15f, in.wheel) : 1.0f) *
                         (in.zoom_in ? 1.25f : 1.0f) * (in.zoom_out ? 0.8f : 1.0f);
    if (factor != 1.0f) {
      const float zoom = std::clamp(zoom_ * factor, 1.0f, 60.0f), change = zoom / zoom_;
      const Point at{in.mouse.x - grid_.body.x, in.mouse.y - grid_.body.y};
      offset_ = {(grid_.offset.x + at.x) * change - at.x, (grid_.offset.y + at.y) * change - at.y};
      zoom_ = zoom;
    }
    if (in.dragging || in.pan_left || in.pan_right || in.wheel_x != 0) {
      const float step = scene.em * 5;
      offset_ = {grid_.offset.x - (in.dragging ? in.drag_delta.x : 0) - (in.pan_left ? step : 0) +
                     (in.pan_right ? step : 0) - in.wheel_x * step,
                 grid_.offset.y - (in.dragging ? in.drag_delta.y : 0)};
    }
    if (in.fit) zoom_ = 1, offset_ = {};
    if (!in.inside) return reaction;
    reaction.hover = -1;
    const auto r = grid_.row_at(in.mouse.y);
    if (!r) return reaction;
    const capture::InputRow& row = rows_[*r];
    std::int32_t under = row.node;
    reaction.tooltip = {"row " + std::to_string(row.row) + ": " + node_summary(scene, row.node)};
    if (const auto c = grid_.column_at(in.mouse.x)) {
      under = columns_[*c];
      const bool self = under == row.node, sees = self || scene.capture->visible(row, under);
      reaction.tooltip.push_back("column: " + node_summary(scene, under));
      reaction.tooltip.push_back(self   ? "the row sees itself"
                                 : sees ? "visible: an ancestor of the row"
                                        : "not visible: no ancestor of the row, or outside the "
                                          "sliding window");
      reaction.tooltip.push_back(
          "visible(i) = prompt + ancestors(i) + i" +
          std::string(scene.capture->run().sliding_window > 0
                          ? ", and position(i) − position(j) < " +
                                std::to_string(scene.capture->run().sliding_window)
                          : ""));
    }
    reaction.hover = under;
    if (in.clicked) reaction.lock = under;
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    MaskPanel all;
    all.slot_order_ = slot_order_;
    if (!scene.capture || scene.shown_step() < 0 || !all.gather(scene))
      return {scene.em * 24, scene.em * 20};
    const auto columns = static_cast<float>(all.columns_.size());
    const float cell = std::clamp(110 / columns, 0.6f, MaskGrid::kWidestEm);
    return {scene.em * (kLabelEm + kBandEm + 2 + std::min(columns * cell, 700.0f)),
            scene.em * (4.5f + std::max(2.0f, static_cast<float>(all.rows_.size())) *
                                   MaskGrid::kTallestEm)};
  }

  std::string csv(const Scene& scene) const override {
    MaskPanel all;
    all.slot_order_ = slot_order_;
    std::ostringstream out;
    out << "step,row,node,position,slot,sees_prompt,visible_nodes\n";
    if (!scene.capture || scene.shown_step() < 0) return out.str();
    if (!all.gather(scene)) {
      for (const capture::InputRow& row : scene.capture->inputs(scene.shown_step()))
        out << row.step << ',' << row.row << ",," << row.position << ',' << row.slot << ",1,\n";
      return out.str();
    }
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
  struct Key {
    const capture::Capture* capture = nullptr;
    capture::Tick cursor = -1;
    std::int64_t slots = -1;
    bool slot_order = false;
    bool operator==(const Key&) const = default;
  };

  // Rows and columns of the shown step; false: no tree inputs (prefill, or not yet forwarded).
  bool gather(const Scene& scene) {
    const capture::Capture& capture = *scene.capture;
    const std::int32_t step = scene.shown_step();
    const capture::Tick forward = capture::make_tick(step, capture::Phase::kForward);
    // Frames cost pixels, not nodes: gathered once a cursor.
    const Key key{&capture, scene.cursor, capture.counts().slots, slot_order_};
    if (key == gathered_) return !rows_.empty();
    gathered_ = key;
    rows_.clear();
    columns_.clear();
    if (forward < scene.cursor)
      for (const capture::InputRow& row : capture.inputs(step))
        if (row.node > 0) rows_.push_back(row);
    if (rows_.empty()) return false;
    // What holds KV while the forward runs: after it, the commit may already have freed some.
    std::vector<std::pair<std::int32_t, std::int32_t>> found;  // (slot, node)
    for (std::int32_t slot = 0; slot < capture.slot_count_at(forward + 1); ++slot) {
      const capture::SlotView view = capture.slot_at(slot, forward + 1);
      if (view.state != SlotState::kFree && view.node > 0) found.emplace_back(slot, view.node);
    }
    for (const capture::InputRow& row : rows_) found.emplace_back(row.slot, row.node);
    std::sort(found.begin(), found.end());
    // A node may lie in several slots (the batch policy's copies): it is one column.
    std::vector<char> seen(capture.nodes().size(), 0);
    for (const auto& [slot, node] : found) {
      char& is_seen = seen[static_cast<std::size_t>(node)];
      if (!is_seen) columns_.push_back(node);
      is_seen = 1;
    }
    if (slot_order_) return true;
    // Depth first: a node stands behind its ancestors.
    columns_.clear();
    std::vector<std::int32_t> stack = {0};
    while (!stack.empty()) {
      const std::int32_t node = stack.back();
      stack.pop_back();
      if (seen[static_cast<std::size_t>(node)]) columns_.push_back(node);
      const auto children = capture.children(node);
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        if (capture.nodes()[static_cast<std::size_t>(*child)].tick < scene.cursor)
          stack.push_back(*child);
    }
    return true;
  }

  void draw_header(Canvas& canvas, Rect band, Rect body, const Scene& scene) const {
    const float em = scene.em;
    const TextStyle small = dim_text(scene, 0.76f);
    text_in(canvas, {band.x, band.y, band.w - em * 0.3f, band.h},
            "prompt " + std::to_string(scene.capture->run().prompt_tokens.size()), small,
            Align::kCenter);
    const auto [first, last] = grid_.visible_columns();
    if (grid_.cell_w >= em * 1.9f) {
      for (std::size_t c = first; c < last; ++c) {
        const Rect cell = grid_.cell(0, c);
        if (cell.x < body.x - 0.5f || cell.right() > body.right() + 0.5f) continue;
        text_in(canvas, {cell.x + 1, band.y, cell.w - 2, band.h}, node_text(scene, columns_[c], 10),
                mono_text(scene, 0.72f), Align::kCenter);
      }
      return;
    }
    // Too narrow for tokens: how many there are, and the focused one at its place.
    const auto focus = std::find(columns_.begin(), columns_.end(), scene.focus.node());
    std::string label =
        counted(columns_.size(), "node") + (slot_order_ ? " in slot order" : " in path order");
    if (first > 0 || last < columns_.size())
      label += ", " + std::to_string(first + 1) + "–" + std::to_string(last) + " shown";
    if (focus == columns_.end()) {
      text_in(canvas, {body.x, band.y, body.w, band.h}, label, small);
      return;
    }
    const Rect cell = grid_.cell(0, static_cast<std::size_t>(focus - columns_.begin()));
    const std::string text = node_text(scene, *focus, 16);
    const float width = std::min(body.w, canvas.measure(text, mono_text(scene, 0.76f)).x + 2);
    const float x = std::clamp(cell.x + cell.w / 2 - width / 2, body.x, body.right() - width);
    text_in(canvas, {x, band.y, width, band.h}, text, mono_text(scene, 0.76f), Align::kCenter);
  }

  void draw_rows(Canvas& canvas, Rect labels, float band, const Scene& scene) const {
    const float em = scene.em;
    const auto [first_row, last_row] = grid_.visible_rows();
    const auto [first, last] = grid_.visible_columns();
    const bool marks = std::min(grid_.cell_w, grid_.cell_h) > em * 0.55f;
    const float gap = grid_.cell_h > 6 ? 1 : 0;
    const auto prompt = static_cast<float>(scene.capture->run().prompt_tokens.size());
    const auto window = static_cast<float>(scene.capture->run().sliding_window);
    canvas.push_clip({labels.x, grid_.body.y, grid_.body.right() - labels.x, grid_.body.h});
    for (std::size_t r = first_row; r < last_row; ++r) {
      const capture::InputRow& input = rows_[r];
      const Rect line = grid_.cell(r, first);
      const capture::NodeView view = scene.capture->node_at(input.node, scene.cursor);
      const Color color = view.beam_rank >= 0 ? scene.theme.beam(view.beam_rank)
                                              : scene.theme.mark(view.state).color;
      if (grid_.cell_h >= em * 0.8f) {
        const float scale = std::min(0.86f, grid_.cell_h / em * 0.85f);
        draw_glyph(canvas, scene.theme.mark(view.state).glyph,
                   {labels.x + em * 0.4f, line.y + line.h / 2},
                   std::min(em * 0.6f, grid_.cell_h * 0.7f), color);
        const std::string position = std::to_string(input.position);
        const float figures = labels.w > em * 6.5f ? em * 2.4f : 0;
        text_in(canvas, {labels.x + em, line.y, labels.w - em * 1.5f - figures, line.h},
                node_text(scene, input.node, 14), mono_text(scene, scale));
        if (figures > 0)
          text_in(canvas, {labels.x + labels.w - figures - em * 0.4f, line.y, figures, line.h},
                  position, dim_text(scene, scale * 0.86f), Align::kRight);
      }
      // The prompt: one band; with a sliding window the part of it that is still seen.
      const Rect bar{labels.right(), line.y + gap, band - em * 0.3f,
                     std::max(1.0f, line.h - 2 * gap)};
      canvas.fill_rect(bar, scene.theme.grid);
      float from = 0;
      if (window > 0 && prompt > 0)
        from = std::clamp((static_cast<float>(input.position) - window + 1) / prompt, 0.0f, 1.0f);
      if (from < 1)
        canvas.fill_rect({bar.x + bar.w * from, bar.y, bar.w * (1 - from), bar.h},
                         color.with_alpha(0.42f));
      // Cells under 3 px are drawn as stretches: what is visible of them is never dropped.
      for (std::size_t c = first; c < last;) {
        std::size_t end = c + 1;
        const Rect cell = grid_.cell(r, c);
        const auto kind = kind_of(input, columns_[c], scene);
        while (end < last && grid_.cell_w < 3 && kind_of(input, columns_[end], scene) == kind)
          ++end;
        const Rect box{
            cell.x + (grid_.cell_w > 6 ? 0.5f : 0), cell.y + gap,
            std::max(grid_.cell_w < 3 ? 1.0f : 0.5f,
                     static_cast<float>(end - c) * grid_.cell_w - (grid_.cell_w > 6 ? 1.0f : 0)),
            std::max(1.0f, cell.h - 2 * gap)};
        draw_cell(canvas, box, kind, color, marks, scene);
        c = end;
      }
    }
    canvas.pop_clip();
  }

  enum class Kind : std::uint8_t { kHidden, kAncestor, kSelf };
  static Kind kind_of(const capture::InputRow& row, std::int32_t node, const Scene& scene) {
    return node == row.node                    ? Kind::kSelf
           : scene.capture->visible(row, node) ? Kind::kAncestor
                                               : Kind::kHidden;
  }

  static void draw_cell(Canvas& canvas, Rect box, Kind kind, Color color, bool marks,
                        const Scene& scene) {
    const Point middle{box.x + box.w / 2, box.y + box.h / 2};
    const float size = std::min(std::min(box.w, box.h) * 0.4f, scene.em * 0.6f);
    switch (kind) {
      case Kind::kHidden:
        canvas.fill_rect(box, scene.theme.grid.with_alpha(0.55f));
        break;
      case Kind::kAncestor:
        canvas.fill_rect(box, color.with_alpha(0.42f));
        if (marks) canvas.fill_circle(middle, size * 0.42f, color);
        break;
      case Kind::kSelf:
        canvas.fill_rect(box, color);
        if (marks)
          canvas.fill_rect({middle.x - size / 2, middle.y - size / 2, size, size},
                           scene.theme.background);
        break;
    }
  }

  // The focus as row and column.
  void draw_cross(Canvas& canvas, Rect left, const Scene& scene) const {
    const std::int32_t node = scene.focus.node();
    if (node == -1) return;
    canvas.push_clip({left.x, grid_.body.y, grid_.body.right() - left.x, grid_.body.h});
    const float bottom = std::min(grid_.body.bottom(), grid_.cell(grid_.rows - 1, 0).bottom());
    for (std::size_t r = 0; r < rows_.size(); ++r)
      if (rows_[r].node == node) {
        const Rect line = grid_.cell(r, 0);
        const float right = std::min(grid_.body.right(), grid_.cell(0, grid_.columns - 1).right());
        canvas.stroke_rect({left.x + 1, line.y, right - left.x - 2, line.h}, scene.theme.focus,
                           1.5f);
      }
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c] == node) {
        const Rect cell = grid_.cell(0, c);
        canvas.stroke_rect(
            {cell.x - 0.5f, grid_.body.y, std::max(2.0f, cell.w + 1), bottom - grid_.body.y},
            scene.theme.focus, 1.5f);
      }
    canvas.pop_clip();
  }

  void draw_prefill(Canvas& canvas, Rect area, const Scene& scene) const {
    const float em = scene.em;
    const auto count = scene.capture->run().prompt_tokens.size();
    if (scene.shown_step() != 0)
      return draw_empty_state(canvas, area, "The forward of this step comes next (F11).", scene);
    const std::string label = "Prefill: " + std::to_string(count) +
                              " prompt tokens under the plain causal mask. The tree's rows begin "
                              "with step 1.";
    const auto lines = wrap_text(canvas, label, dim_text(scene, 1), area.w - em * 3).size();
    const float text = em * (1.4f * static_cast<float>(lines) + 1);
    const float size = std::min({area.w - em * 3, area.h - text - em * 1.5f, em * 24});
    const bool shown = size > em * 3;
    if (shown) {
      const float x = area.x + (area.w - size) / 2, y = area.y + em;
      canvas.fill_rect({x, y, size, size}, scene.theme.grid.with_alpha(0.55f));
      // Small prompts cell by cell.
      if (count > 0 && size / static_cast<float>(count) >= 5) {
        const float cell = size / static_cast<float>(count);
        for (std::size_t r = 0; r < count; ++r)
          for (std::size_t c = 0; c <= r; ++c)
            canvas.fill_rect({x + static_cast<float>(c) * cell + 0.5f,
                              y + static_cast<float>(r) * cell + 0.5f, cell - 1, cell - 1},
                             scene.theme.accent.with_alpha(c == r ? 1.0f : 0.42f));
      } else {
        const Point triangle[] = {{x, y}, {x + size, y + size}, {x, y + size}};
        canvas.fill_polygon(triangle, scene.theme.accent.with_alpha(0.42f));
        canvas.line({x, y}, {x + size, y + size}, scene.theme.accent, 2);
      }
      canvas.stroke_rect({x, y, size, size}, scene.theme.border);
    }
    draw_empty_state(canvas,
                     {area.x, shown ? area.bottom() - text : area.y, area.w, shown ? text : area.h},
                     label, scene);
  }

  float zoom_ = 1;
  Point offset_;
  bool slot_order_ = false;
  Key gathered_;
  std::vector<capture::InputRow> rows_;
  std::vector<std::int32_t> columns_;
  MaskGrid grid_;
  Rect order_button_;
};

}  // namespace

std::unique_ptr<Panel> make_mask_panel() { return std::make_unique<MaskPanel>(); }

}  // namespace triescope::viz
