// KV slots: the storage of the cache, slot by slot: live, garbage, free, moved or reused in this
// step. The prompt's slots are one band.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "viz/draw.h"
#include "viz/panels/panels.h"

namespace triescope::viz {
namespace {

using capture::SlotState;

constexpr float kMaxCellEm = 2.6f, kMinCellPx = 5, kBandEm = 1.5f;

class KvPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "kv", "KV slots",
        "The cache, slot by slot. Live slots carry their token and beam colour, garbage is dashed, "
        "free slots are empty; arrows mark what was moved in this "
        "step, dots what was reused.",
        "No KV yet: step once (F10) to run the prefill."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    grid_ = {};
    if (!scene.capture || scene.capture->slot_count_at(scene.cursor) == 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    gather(scene);
    const std::vector<LegendEntry> entries = {
        {"live " + std::to_string(live_), scene.theme.accent, "■"},
        {"garbage " + std::to_string(garbage_), scene.theme.mark(capture::NodeState::kPruned).color,
         "–"},
        {"free " + std::to_string(free_), scene.theme.text_dim, "○"},
        {"moved " + std::to_string(moved_), scene.theme.mark(capture::NodeState::kBonus).color,
         "→"},
        {"reused " + std::to_string(reused_), scene.theme.series(2), "●"}};
    float y = area.y + em * 0.2f;
    y += draw_legend(canvas, {area.x + pad, y}, area.w - 2 * pad, entries, scene) + em * 0.3f;
    // The prompt: one band, whatever its length.
    const Rect band{area.x + pad, y, area.w - 2 * pad, em * kBandEm};
    canvas.fill_rect(band, scene.theme.accent.with_alpha(0.18f), em * 0.25f);
    std::string text =
        "prompt: " + std::to_string(prompt_slots_) + (prompt_slots_ == 1 ? " slot" : " slots");
    if (prompt_copies_ > 1) text += " (" + std::to_string(prompt_copies_) + " copies)";
    text_in(canvas, band.inset(em * 0.4f), text, dim_text(scene, 0.82f));
    y = band.bottom() + em * 0.4f;

    const Rect body{area.x + pad, y, area.w - 2 * pad, std::max(1.0f, area.bottom() - pad - y)};
    const float cell = cell_size(body, em);
    const auto per_row = static_cast<std::size_t>(std::max(1.0f, std::floor(body.w / cell)));
    const auto rows = static_cast<std::size_t>(std::max(1.0f, std::floor(body.h / cell)));
    const std::size_t shown = std::min(slots_.size(), per_row * rows);
    grid_ = {body, cell, per_row, shown};
    for (std::size_t i = 0; i < shown; ++i) draw_slot(canvas, slots_[i], cell_rect(i), scene);
    if (shown < slots_.size())
      text_in(canvas, {body.x, area.bottom() - pad, body.w, pad},
              "+ " + std::to_string(slots_.size() - shown) + " slots: make the pane larger",
              dim_text(scene, 0.6f));
    draw_moves(canvas, scene);
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!in.inside || !scene.capture) return reaction;
    reaction.hover = -1;
    if (grid_.cell <= 0 || !grid_.body.contains(in.mouse)) return reaction;
    const auto column = static_cast<std::size_t>((in.mouse.x - grid_.body.x) / grid_.cell),
               row = static_cast<std::size_t>((in.mouse.y - grid_.body.y) / grid_.cell);
    const std::size_t i = row * grid_.per_row + column;
    if (column >= grid_.per_row || i >= grid_.shown) return reaction;
    const std::int32_t slot = slots_[i];
    const capture::SlotView view = scene.capture->slot_at(slot, scene.cursor);
    static constexpr const char* kNames[] = {"free", "live", "garbage"};
    reaction.tooltip = {"slot " + std::to_string(slot) + ": " +
                        kNames[static_cast<std::size_t>(view.state)]};
    if (view.node != -1) {
      reaction.hover = view.node;
      if (in.clicked) reaction.lock = view.node;
      reaction.tooltip.push_back(node_summary(scene, view.node));
    }
    if (view.moved_this_step)
      reaction.tooltip.push_back("moved here from slot " + std::to_string(view.moved_from) +
                                 " in this step");
    if (view.reused_this_step)
      reaction.tooltip.push_back("reused in this step: its former node died");
    reaction.tooltip.push_back(
        "one slot = K and V of one position in every layer = " +
        bytes_text(static_cast<double>(scene.capture->run().kv_bytes_per_token)));
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    const float count =
        scene.capture ? static_cast<float>(scene.capture->slot_count_at(scene.cursor)) : 1;
    const float per_row = std::clamp(std::sqrt(count) * 2, 12.0f, 60.0f);
    return {scene.em * (per_row * 2.2f + 1.2f), scene.em * (5 + std::ceil(count / per_row) * 2.2f)};
  }

  std::string csv(const Scene& scene) const override {
    std::ostringstream out;
    out << "slot,state,node,moved_from,reused\n";
    if (!scene.capture) return out.str();
    static constexpr const char* kNames[] = {"free", "live", "garbage"};
    for (std::int32_t slot = 0; slot < scene.capture->slot_count_at(scene.cursor); ++slot) {
      const capture::SlotView view = scene.capture->slot_at(slot, scene.cursor);
      out << slot << ',' << kNames[static_cast<std::size_t>(view.state)] << ','
          << (view.node == -1   ? std::string()
              : view.node <= -2 ? "prompt " + std::to_string(-2 - view.node)
                                : std::to_string(view.node))
          << ',' << (view.moved_this_step ? std::to_string(view.moved_from) : std::string()) << ','
          << view.reused_this_step << '\n';
    }
    return out.str();
  }

 private:
  // Which slots are drawn (all that no prompt token holds), and the counts of all.
  void gather(const Scene& scene) {
    slots_.clear();
    live_ = garbage_ = free_ = moved_ = reused_ = prompt_slots_ = 0;
    const std::int32_t count = scene.capture->slot_count_at(scene.cursor);
    for (std::int32_t slot = 0; slot < count; ++slot) {
      const capture::SlotView view = scene.capture->slot_at(slot, scene.cursor);
      live_ += view.state == SlotState::kLive;
      garbage_ += view.state == SlotState::kGarbage;
      free_ += view.state == SlotState::kFree;
      moved_ += view.moved_this_step;
      reused_ += view.reused_this_step;
      if (view.node <= -2) {
        ++prompt_slots_;
      } else {
        slots_.push_back(slot);
      }
    }
    const auto prompt = static_cast<int>(scene.capture->run().prompt_tokens.size());
    prompt_copies_ = prompt > 0 ? (prompt_slots_ + prompt - 1) / prompt : 0;
  }

  float cell_size(Rect body, float em) const {
    const auto count = static_cast<float>(std::max<std::size_t>(1, slots_.size()));
    float cell = std::min(em * kMaxCellEm, std::sqrt(body.w * body.h / count));
    while (cell > kMinCellPx && std::floor(body.w / cell) * std::floor(body.h / cell) < count)
      cell *= 0.96f;
    return std::max(kMinCellPx, cell);
  }

  Rect cell_rect(std::size_t i) const {
    const float gap = grid_.cell > 8 ? 1.5f : 0.5f;
    return {grid_.body.x + static_cast<float>(i % grid_.per_row) * grid_.cell + gap / 2,
            grid_.body.y + static_cast<float>(i / grid_.per_row) * grid_.cell + gap / 2,
            grid_.cell - gap, grid_.cell - gap};
  }

  void draw_slot(Canvas& canvas, std::int32_t slot, Rect cell, const Scene& scene) const {
    const float em = scene.em;
    const capture::SlotView view = scene.capture->slot_at(slot, scene.cursor);
    const bool focused = view.node != -1 && view.node == scene.focus.node();
    switch (view.state) {
      case SlotState::kFree:
        canvas.stroke_rect(cell, scene.theme.grid, 1, LineStyle::kSolid, 0);
        break;
      case SlotState::kGarbage:
        canvas.stroke_rect(cell, scene.theme.mark(capture::NodeState::kPruned).color, 1,
                           cell.w > 8 ? LineStyle::kDashed : LineStyle::kSolid, 0);
        if (cell.w > em * 0.6f)
          draw_glyph(canvas, "–", {cell.x + cell.w / 2, cell.y + cell.h / 2}, cell.w * 0.4f,
                     scene.theme.mark(capture::NodeState::kPruned).color);
        break;
      case SlotState::kLive: {
        const capture::NodeView node = scene.capture->node_at(view.node, scene.cursor);
        const Color color =
            node.beam_rank >= 0
                ? scene.theme.beam(node.beam_rank)
                : scene.theme
                      .mark(node.state == capture::NodeState::kAbsent ? capture::NodeState::kLive
                                                                      : node.state)
                      .color;
        canvas.fill_rect(cell, color.with_alpha(0.38f), 0);
        canvas.stroke_rect(cell, color, 1, LineStyle::kSolid, 0);
        if (cell.w >= em * 1.5f)
          text_in(canvas, {cell.x + 1, cell.y + cell.h * 0.08f, cell.w - 2, cell.h * 0.55f},
                  node_text(scene, view.node, 6),
                  mono_text(scene, std::min(0.8f, cell.w / em * 0.3f)), Align::kCenter);
        break;
      }
    }
    if (cell.w >= em * 1.9f)
      text_in(canvas, {cell.x + 1, cell.y + cell.h * 0.62f, cell.w - 2, cell.h * 0.34f},
              std::to_string(slot), dim_text(scene, 0.56f), Align::kCenter);
    if (view.moved_this_step)
      draw_glyph(canvas, "→", {cell.right() - cell.w * 0.2f, cell.y + cell.h * 0.2f},
                 std::max(4.0f, cell.w * 0.34f),
                 scene.theme.mark(capture::NodeState::kBonus).color);
    if (view.reused_this_step)
      draw_glyph(canvas, "●", {cell.x + cell.w * 0.18f, cell.y + cell.h * 0.18f},
                 std::max(4.0f, cell.w * 0.24f), scene.theme.series(2));
    if (focused)
      canvas.stroke_rect({cell.x - 1, cell.y - 1, cell.w + 2, cell.h + 2}, scene.theme.focus, 2,
                         LineStyle::kSolid, 0);
  }

  // Arrows from where moved slots came from; many moves would be a tangle, so only the focused
  // node's is drawn then.
  void draw_moves(Canvas& canvas, const Scene& scene) const {
    for (std::size_t i = 0; i < grid_.shown; ++i) {
      const capture::SlotView view = scene.capture->slot_at(slots_[i], scene.cursor);
      if (!view.moved_this_step || (moved_ > 24 && view.node != scene.focus.node())) continue;
      const auto from = std::find(slots_.begin(), slots_.end(), view.moved_from);
      if (from == slots_.end() || static_cast<std::size_t>(from - slots_.begin()) >= grid_.shown)
        continue;
      const Rect a = cell_rect(static_cast<std::size_t>(from - slots_.begin())), b = cell_rect(i);
      const Point p{a.x + a.w / 2, a.y + a.h / 2}, q{b.x + b.w / 2, b.y + b.h / 2};
      const float lift = std::min(scene.em * 2, std::hypot(p.x - q.x, p.y - q.y) * 0.3f);
      canvas.bezier(p, {p.x, p.y - lift}, {q.x, q.y - lift}, q,
                    scene.theme.mark(capture::NodeState::kBonus).color.with_alpha(0.7f), 1.3f,
                    LineStyle::kSolid);
    }
  }

  std::vector<std::int32_t> slots_;
  int live_ = 0, garbage_ = 0, free_ = 0, moved_ = 0, reused_ = 0, prompt_slots_ = 0,
      prompt_copies_ = 0;
  struct {
    Rect body;
    float cell = 0;
    std::size_t per_row = 1, shown = 0;
  } grid_;
};

}  // namespace

std::unique_ptr<Panel> make_kv_panel() { return std::make_unique<KvPanel>(); }

}  // namespace triescope::viz
