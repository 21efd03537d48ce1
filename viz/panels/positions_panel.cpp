// Positions: the position ID of every input of this step as it was recorded, beside the sequential ID it
// would have had. Siblings share one. A position that the tree does not ask for is marked, and so is the asked one.
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/base/counted.h"
#include "core/capture/row_faults.h"
#include "viz/draw/drawing.h"
#include "viz/draw/fault_text.h"
#include "viz/draw/node_text.h"
#include "viz/layouts/axis.h"
#include "viz/layouts/zoom.h"
#include "viz/panels/fault_head.h"
#include "viz/panels/owner_switch.h"
#include "viz/panels/panel_rows.h"
#include "viz/panels/panels.h"
#include "viz/panels/zoom_input.h"

namespace triescope::viz {
namespace {

constexpr float kPositionRowEm = 1.7f, kLabelEm = 8, kPositionsMaxZoom = 12;

class PositionsPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "positions",
        "Positions",
        std::string(
            "Position IDs of this step's inputs: prompt length + depth − 1, so siblings "
            "share one. Hollow: the sequential ID a flat list would have given. Where a "
            "recorder says otherwise, ▲ is where a row stood and △ where the tree asks for it. "
            "Wheel to zoom, drag to move, F to fit.") +
            OwnerSwitch::kHelp,
        "Find two beams that left the same parent: both their tokens stand at the same position.",
        "No forward yet: step once more (F10).",
        /*rows=*/{"input"},
        /*zooms=*/true};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    rows_ = {};
    head_ = {};
    const float em = scene.em, pad = em * 0.6f;
    const RowSource source = owner_.source(scene);
    const Rect owner = owner_.draw(canvas, area, scene);
    const auto inputs = rows_of(scene);
    const auto steps = faulty_steps(scene);
    if (inputs.empty()) {
      head_.draw(canvas, {area.x + pad, area.y + em * 0.2f + owner.h, area.w - 2 * pad, em}, 0,
                 "row", steps, scene);
      return draw_empty_state(canvas, area,
                              !source.is_target() ? no_rows_text(source, scene)
                              : scene.capture && scene.shown_step() == 0
                                  ? "Prefill: the prompt's tokens have positions 0, 1, 2 … in "
                                    "order. The tree's rows begin with step 1."
                                  : empty_text(scene.capture, info(), info().empty),
                              scene);
    }
    const float right = owner.w > 0 ? owner.x : area.right();
    std::vector<LegendEntry> entries = {{"tree position", scene.theme.accent, "●"},
                                        {"sequential ID", scene.theme.text_dim, "○"}};
    if (scene.steady) entries.push_back(lit_entry(scene));
    const auto faulty = static_cast<std::size_t>(std::ranges::count_if(
        inputs, [&](const auto& row) { return asked_of(scene, row) != row.position; }));
    if (faulty > 0 || (scene.steady && !steps.empty())) {
      entries.push_back(recorded_fault_entry("recorded, not asked for", scene));
      entries.push_back(missing_fault_entry("asked for", scene));
    }
    float legend = draw_legend(canvas, {area.x + pad, area.y + em * 0.2f},
                               right - pad - (area.x + pad), entries, scene);
    legend += head_.draw(canvas, {area.x + pad, area.y + legend + em * 0.25f, area.w - 2 * pad, em},
                         faulty, "row", steps, scene);
    std::int32_t low = inputs.front().position, high = low;
    std::map<std::int32_t, int> sharing;
    for (const capture::InputRow& row : inputs) {
      const std::int32_t asked = asked_of(scene, row);
      low = std::min({low, row.position, row.naive_position, asked});
      high = std::max({high, row.position, row.naive_position, asked});
      ++sharing[row.position];
    }
    const float label = std::min(em * kLabelEm, area.w * 0.35f);
    const float top = area.y + legend + em * 1.6f;
    const float room = std::max(1.0f, area.bottom() - em * 1.5f - top);
    const float row_height =
        std::clamp(room / static_cast<float>(inputs.size()), 3.0f, em * kPositionRowEm) *
        (scene.export_mode ? 1 : zoom_);
    const float length = row_height * static_cast<float>(inputs.size());
    scroll_ = scene.export_mode ? 0 : scroll_within(scroll_, length, room);
    const AxisScale scale{low - 0.5, high + 0.5, area.x + pad + label,
                          area.right() - pad - em * 1.2f};
    // These rows begin within the room. The first may be cut at its top.
    const auto first = static_cast<std::size_t>(scroll_ / row_height);
    const auto shown =
        std::min(inputs.size() - first,
                 static_cast<std::size_t>(std::max(1.0f, std::ceil(room / row_height - 0.01f))) +
                     (scroll_ > 0 ? 1 : 0));
    const float bottom =
        std::min(top + room, top + row_height * static_cast<float>(first + shown) - scroll_);
    const TextStyle small = dim_text(scene, 0.74f);
    for (const double tick :
         nice_integer_ticks(low, high, static_cast<int>((scale.to - scale.from) / (em * 3)))) {
      const float x = scale.px(tick);
      canvas.line({x, top - em * 0.2f}, {x, bottom}, scene.theme.grid, 1, LineStyle::kSolid);
      text_in(canvas, {x - em * 1.5f, top - em * 1.3f, em * 3, em},
              std::to_string(static_cast<long long>(tick)), small, Align::kCenter);
    }
    // Shared positions are bands with the number of rows that share them.
    for (const auto& [position, count] : sharing) {
      if (count < 2) continue;
      const float x = scale.px(position),
                  width = std::max(2.0f, std::min(em * 0.9f, scale.px(position + 1) - x));
      canvas.fill_rect({x - width / 2, top, width, bottom - top},
                       scene.theme.accent.with_alpha(0.14f), em * 0.3f);
      const float room = std::clamp(scale.px(1) - scale.px(0), em, em * 5.5f);
      if (bottom + em * 1.3f <= area.bottom() && room > em * 1.6f)
        text_in(canvas, {x - room / 2, bottom + em * 0.15f, room, em * 1.1f},
                scale.px(1) - scale.px(0) > em * 5 ? std::to_string(count) + " share it"
                                                   : "×" + std::to_string(count),
                small, Align::kCenter);
    }
    rows_ = {top, row_height, bottom};
    // The rows are this step's alone, so they are as new as its forward.
    const bool lit = scene.lights(capture::make_tick(scene.shown_step(), source.forward_phase()));
    canvas.push_clip({area.x, top, area.w, std::max(1.0f, bottom - top)});
    for (std::size_t i = first; i < first + shown; ++i) {
      const capture::InputRow& row = inputs[i];
      const float y = top + (static_cast<float>(i) + 0.5f) * row_height - scroll_;
      const capture::NodeView view = scene.capture->node_at(row.node, scene.cursor);
      const Color color =
          view.beam_rank >= 0 ? scene.theme.beam(view.beam_rank) : scene.theme.accent;
      if (scene.focus.node() == row.node)
        canvas.fill_rect({area.x + pad, y - row_height / 2, area.w - 2 * pad, row_height},
                         scene.theme.focus.with_alpha(0.1f), 0);
      if (lit)
        draw_lit_row(canvas, {area.x + pad, y - row_height / 2, label - em * 0.3f, row_height},
                     scene);
      if (row_height >= em * 0.8f)
        text_in(canvas, {area.x + pad, y - row_height / 2, label - em * 0.6f, row_height},
                node_text(scene, row.node, 14), mono_text(scene, 0.84f));
      const float radius = std::min(em * 0.36f, row_height * 0.42f);
      const float x = scale.px(row.position), ghost = scale.px(row.naive_position);
      if (row.naive_position != row.position) {
        canvas.line({x, y}, {ghost, y}, scene.theme.text_dim.with_alpha(0.6f), 1,
                    LineStyle::kDotted);
        canvas.stroke_circle({ghost, y}, radius, scene.theme.text_dim, 1.2f);
      }
      const std::int32_t asked = asked_of(scene, row);
      if (asked == row.position) {
        canvas.fill_circle({x, y}, radius, color);
        continue;
      }
      canvas.line({x, y}, {scale.px(asked), y}, scene.theme.fault, 1.2f, LineStyle::kDashed);
      draw_fault(canvas, {scale.px(asked), y}, radius * 2, false, scene);
      draw_fault(canvas, {x, y}, radius * 2.4f, true, scene);
    }
    canvas.pop_clip();
    const auto below =
        static_cast<std::size_t>(std::lround((scroll_limit(length, room) - scroll_) / row_height));
    if (below > 0)
      text_in(canvas, {area.x + pad, area.bottom() - em * 1.2f, label, em * 1.1f},
              "+ " + counted(below, "row") + ": drag", small);
  }

  Reaction input(const Input& in, Rect area, const Scene& scene) override {
    Reaction reaction;
    if (owner_.input(in, scene, reaction)) return reaction;
    if (scene.capture && head_.input(in, faulty_steps(scene), scene, reaction)) return reaction;
    if (const auto factor = static_cast<float>(zoom_of(in)); factor != 1 && rows_.height > 0) {
      const float zoom = std::clamp(zoom_ * factor, 1.0f, kPositionsMaxZoom), ratio = zoom / zoom_;
      scroll_ = std::max(0.0f, scroll_about(scroll_, in.mouse.y - rows_.top, ratio));
      rows_.height *= ratio;
      zoom_ = zoom;
    }
    if (in.dragging) scroll_ = std::max(0.0f, scroll_ - in.drag_delta.y);
    if (in.fit) zoom_ = 1, scroll_ = 0;
    if (!in.inside) return reaction;
    const auto inputs = rows_of(scene);
    reaction.hover = -1;
    if (rows_.height <= 0 || in.mouse.y < rows_.top || in.mouse.y >= rows_.bottom) return reaction;
    const auto i = static_cast<std::size_t>((in.mouse.y - rows_.top + scroll_) / rows_.height);
    if (i >= inputs.size()) return reaction;
    const capture::InputRow& row = inputs[i];
    reaction.hover = row.node;
    if (in.clicked) reaction.lock = row.node;
    const auto sharing = std::count_if(
        inputs.begin(), inputs.end(),
        [&](const capture::InputRow& other) { return other.position == row.position; });
    reaction.tooltip = {node_summary(scene, row.node, row.whose)};
    if (const std::int32_t asked = asked_of(scene, row); asked != row.position) {
      reaction.tooltip.push_back("▲ " + position_text(scene, row, asked));
    } else {
      const auto prompt = scene.capture->run().prompt_tokens.size();
      const int depth = scene.capture->nodes()[static_cast<std::size_t>(row.node)].depth;
      // A draft head's row stands where its hidden state does, one before its token.
      const std::string less =
          " − " + std::to_string(static_cast<std::int64_t>(prompt) + depth - row.position);
      reaction.tooltip.push_back("position = prompt tokens + depth" + less + " = " +
                                 std::to_string(prompt) + " + " + std::to_string(depth) + less +
                                 " = " + std::to_string(row.position));
    }
    reaction.tooltip.push_back("sequential ID = tokens in the cache + row = " +
                               std::to_string(row.naive_position));
    if (sharing > 1)
      reaction.tooltip.push_back(std::to_string(sharing) + " inputs share this position");
    (void)area;
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    return {scene.em * 44,
            scene.em * (5.5f + kPositionRowEm * static_cast<float>(std::max<std::size_t>(
                                                    3, rows_of(scene).size())))};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    // A target's step has one forward. Where a step has several, each numbers its rows from 0.
    const bool target = owner_.source(scene).is_target();
    // A run whose positions are as the tree asks has no column `expected`.
    const bool says_expected = scene.capture && !faulty_steps(scene).empty();
    out << "step," << (target ? "" : "forward,") << "row,node,position,sequential_id"
        << (says_expected ? ",expected" : "") << '\n';
    for (const capture::InputRow& row : rows_of(scene)) {
      out << row.step << ',' << (target ? "" : std::to_string(row.forward) + ",") << row.row << ','
          << (row.node > 0 ? std::to_string(row.node) : "prompt " + std::to_string(-2 - row.node))
          << ',' << row.position << ',' << row.naive_position;
      if (says_expected) out << ',' << asked_of(scene, row);
      out << '\n';
    }
    return out.str();
  }
  std::string whose(const Scene& scene) const override { return owner_.name(scene); }
  std::string view_state() const override { return owner_.state(); }
  void set_view_state(const std::string& state) override { owner_.set_state(state); }

 private:
  std::vector<capture::InputRow> rows_of(const Scene& scene) const {
    std::vector<capture::InputRow> rows;
    if (!scene.capture || scene.shown_step() < 0) return rows;
    const RowSource source = owner_.source(scene);
    // Nobody knows a forward's rows before it.
    if (capture::make_tick(scene.shown_step(), source.forward_phase()) >= scene.cursor) return rows;
    for (const capture::InputRow& row : source.inputs(*scene.capture, scene.shown_step()))
      if (row.node > 0 || asked_of(scene, row) != row.position) rows.push_back(row);
    return rows;
  }
  // The position that the tree asks for, or the row's own if nothing is asked.
  static std::int32_t asked_of(const Scene& scene, const capture::InputRow& row) {
    return scene.capture->row_faults().positions(row.whose).asked(row).value_or(row.position);
  }
  std::span<const std::int32_t> faulty_steps(const Scene& scene) const {
    if (!scene.capture) return {};
    return scene.capture->row_faults().position_steps(owner_.source(scene).whose);
  }

  struct {
    float top = 0, height = 0, bottom = 0;
  } rows_;
  OwnerSwitch owner_;
  FaultHead head_;
  float zoom_ = 1, scroll_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_positions_panel() { return std::make_unique<PositionsPanel>(); }

}  // namespace triescope::viz
