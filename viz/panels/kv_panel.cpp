// KV slots: the storage of the cache, slot by slot: live, garbage, free, moved or reused in this
// step. The prompt's slots are one band. In a step that moves slots, before and after.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/draw.h"
#include "viz/layouts/slot_grid.h"
#include "viz/panels/kv_range.h"
#include "viz/panels/panels.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::SlotState;

constexpr float kBandEm = 1.5f, kTitleEm = 1.25f, kRangeEm = 1.25f;
constexpr std::size_t kArrows = 48;  // more would be a tangle: then the focused node's alone

class KvPanel final : public Panel {
 public:
  const PanelInfo& info() const override {
    static const PanelInfo info = {
        "kv", "KV slots",
        "The cache, slot by slot. Live slots carry their token and beam colour, garbage is dashed, "
        "free slots are hollow, reserved ones dotted. A dot marks a slot reused in this step; "
        "where "
        "slots were moved, before and after the move with arrows. A range of steps dragged on the "
        "timeline is counted, and a bar stands under what was written in it. Wheel to zoom, drag "
        "to scroll.",
        "No KV yet: step once (F10) to run the prefill."};
    return info;
  }

  void draw(Canvas& canvas, Rect area, const Scene& scene) override {
    strips_.clear();
    if (!scene.capture || scene.capture->slot_count_at(scene.cursor) == 0)
      return draw_empty_state(canvas, area, info().empty, scene);
    const float em = scene.em, pad = em * 0.6f;
    const Counts counts = count(scene, scene.cursor);
    range_.update(scene);
    const float legend = draw_legend(canvas, {area.x + pad, area.y + em * 0.2f}, area.w - 2 * pad,
                                     legend_of(counts, scene), scene);
    float top = area.y + legend + em * 0.3f;
    if (top + em * (kBandEm + 2) > area.bottom()) top = area.y + em * 0.3f;
    if (range_.any() && top + em * (kRangeEm + kBandEm + 2) <= area.bottom()) {
      const TextStyle style = ui_text(scene, 0.84f);
      text_in(canvas, {area.x + pad, top - em * 0.15f, area.w - 2 * pad, em * kRangeEm},
              range_.text(canvas, style, area.w - 2 * pad), style);
      top += em * kRangeEm;
    }
    if (counts.prompt > 0) {
      draw_band(canvas, {area.x + pad, top, area.w - 2 * pad, em * kBandEm}, counts, scene);
      top += em * (kBandEm + 0.35f);
    }
    const Rect body{area.x + pad, top, area.w - 2 * pad,
                    std::max(1.0f, area.bottom() - pad * 0.5f - top)};
    const capture::Tick commit = capture::make_tick(scene.shown_step(), capture::Phase::kCommit);
    const bool moves = counts.moved > 0 && scene.cursor > commit && body.h > em * 5;
    canvas.push_clip(body);
    if (moves) {
      const Counts before = count(scene, commit);
      const float gap = em * 1.1f, half = (body.h - gap) / 2;
      const std::size_t most = std::max(counts.others.size(), before.others.size());
      add_strip({body.x, body.y, body.w, half}, commit, before.others, most, "before the commit",
                scene);
      add_strip({body.x, body.y + half + gap, body.w, half}, scene.cursor, counts.others, most,
                "after: survivors moved together", scene);
    } else {
      add_strip(body, scene.cursor, counts.others, counts.others.size(), "", scene);
    }
    for (const Strip& strip : strips_) draw_strip(canvas, strip, scene);
    if (moves) draw_moves(canvas, counts, scene);
    canvas.pop_clip();
  }

  Reaction input(const Input& in, Rect, const Scene& scene) override {
    Reaction reaction;
    if (!scene.capture || strips_.empty()) return reaction;
    const Strip& first = strips_.front();
    const float factor = (in.wheel != 0 ? std::pow(1.15f, in.wheel) : 1.0f) *
                         (in.zoom_in ? 1.25f : 1.0f) * (in.zoom_out ? 0.8f : 1.0f);
    if (factor != 1.0f && (in.inside || in.wheel == 0)) {
      const float zoom = std::clamp(zoom_ * factor, 1.0f, 12.0f);
      // What is under the pointer stays there.
      scroll_ = (scroll_ + in.mouse.y - first.body.y) * (zoom * zoom) / (zoom_ * zoom_) -
                (in.mouse.y - first.body.y);
      zoom_ = zoom;
    }
    if (in.dragging) scroll_ -= in.drag_delta.y;
    if (in.fit) zoom_ = 1, scroll_ = 0;
    scroll_ = std::clamp(scroll_, 0.0f, std::max(0.0f, first.grid.height() - first.body.h));
    if (!in.inside) return reaction;
    reaction.hover = -1;
    if (band_.contains(in.mouse)) {
      reaction.tooltip = {"the prompt's slots: every beam and every draft sees them"};
      return reaction;
    }
    for (const Strip& strip : strips_) {
      if (!strip.body.contains(in.mouse)) continue;
      const auto cell =
          strip.grid.at({in.mouse.x - strip.body.x, in.mouse.y - strip.body.y + strip.scroll});
      if (!cell) continue;
      const std::size_t slot_index = *cell * strip.grid.merge;
      if (slot_index >= strip.slots.size()) continue;
      explain(strip, slot_index, scene, reaction);
      if (in.clicked && *reaction.hover != -1) reaction.lock = *reaction.hover;
      if (in.clicked && *reaction.hover == -1) reaction.lock = -1;
    }
    return reaction;
  }

  Point extent(Canvas&, const Scene& scene) const override {
    if (!scene.capture) return {scene.em * 30, scene.em * 8};
    const Counts counts = count(scene, scene.cursor);
    const auto slots = static_cast<float>(std::max<std::size_t>(1, counts.others.size()));
    const float columns = std::clamp(std::ceil(std::sqrt(slots * 1.6f)), 12.0f, 48.0f);
    const float rows = std::ceil(slots / columns);
    const bool moves = counts.moved > 0;
    return {scene.em * (columns * SlotGrid::kWidestEm + 1.2f),
            scene.em * ((moves ? 2 : 1) * (rows * SlotGrid::kTallestEm + kTitleEm) + 6)};
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
  struct Counts {
    int live = 0, garbage = 0, free = 0, moved = 0, reused = 0, prompt = 0, reserved = 0;
    std::vector<std::int32_t> others;  // slots that no prompt token holds; beyond the last used
                                       // one: reserved
    std::int32_t used = 0;             // slots below this one were used
  };
  struct Strip {
    Rect body;
    capture::Tick tick = 0;
    std::string title;
    std::vector<std::int32_t> slots;
    std::int32_t used = 0;
    SlotGrid grid;
    float scroll = 0;
  };

  static Counts count(const Scene& scene, capture::Tick tick) {
    Counts c;
    c.used = scene.capture->slot_count_at(tick);
    for (std::int32_t slot = 0; slot < c.used; ++slot) {
      const capture::SlotView view = scene.capture->slot_at(slot, tick);
      c.live += view.state == SlotState::kLive;
      c.garbage += view.state == SlotState::kGarbage;
      c.free += view.state == SlotState::kFree;
      c.moved += view.moved_this_step;
      c.reused += view.reused_this_step;
      if (view.node <= -2)
        ++c.prompt;
      else
        c.others.push_back(slot);
    }
    // What the policy has reserved beyond, as known from the last sample.
    const auto memory = scene.capture->memory();
    const auto after =
        std::partition_point(memory.begin(), memory.end(), [&](const capture::MemoryRow& row) {
          return capture::make_tick(row.step, capture::Phase::kCommit) < tick;
        });
    const std::int32_t reserved = after == memory.begin() ? 0 : std::prev(after)->reserved;
    for (std::int32_t slot = c.used; slot < reserved; ++slot) c.others.push_back(slot);
    c.reserved = std::max(0, reserved - c.used);
    return c;
  }

  std::vector<LegendEntry> legend_of(const Counts& c, const Scene& scene) const {
    const Color star = scene.theme.mark(NodeState::kBonus).color;
    std::vector<LegendEntry> entries = {
        {"live " + std::to_string(c.live), scene.theme.accent, "■"},
        {"garbage " + std::to_string(c.garbage), scene.theme.mark(NodeState::kPruned).color, "–"},
        {"free " + std::to_string(c.free), scene.theme.text_dim, "□"}};
    if (c.reserved > 0)
      entries.push_back({"reserved, never used " + std::to_string(c.reserved), scene.theme.text_dim,
                         "", LineStyle::kDotted});
    if (c.moved > 0) entries.push_back({"moved " + std::to_string(c.moved), star, "→"});
    if (c.reused > 0)
      entries.push_back({"reused " + std::to_string(c.reused), scene.theme.series(2), "●"});
    if (scene.twins) entries.push_back({"the other run differs", scene.theme.difference, "≠"});
    if (range_.any()) entries.push_back({"written in " + range_.steps(), scene.theme.text, ""});
    return entries;
  }

  void draw_band(Canvas& canvas, Rect band, const Counts& counts, const Scene& scene) {
    band_ = band;
    canvas.fill_rect(band, scene.theme.accent.with_alpha(0.2f), scene.em * 0.2f);
    const auto prompt = static_cast<int>(scene.capture->run().prompt_tokens.size());
    std::string label = "prompt: " + counted(counts.prompt, "slot");
    if (prompt > 0 && counts.prompt > prompt)
      label += ", " + std::to_string((counts.prompt + prompt - 1) / prompt) + " copies of its " +
               counted(prompt, "token");
    else
      label += ", shared by every path";
    text_in(canvas, {band.x + scene.em * 0.5f, band.y, band.w - scene.em, band.h}, label,
            ui_text(scene, 0.86f));
  }

  void add_strip(Rect body, capture::Tick tick, std::vector<std::int32_t> slots, std::size_t most,
                 std::string title, const Scene& scene) {
    Strip strip;
    strip.title = std::move(title);
    if (!strip.title.empty()) {
      body.y += scene.em * kTitleEm;
      body.h -= scene.em * kTitleEm;
    }
    strip.body = {body.x, body.y, body.w, std::max(1.0f, body.h)};
    strip.tick = tick;
    strip.used = scene.capture->slot_count_at(tick);
    strip.slots = std::move(slots);
    strip.grid =
        SlotGrid::fit(strip.body.w, strip.body.h, most, scene.em, scene.export_mode ? 1 : zoom_);
    strip.scroll = scene.export_mode
                       ? 0
                       : std::clamp(scroll_, 0.0f, std::max(0.0f, strip.grid.height() - body.h));
    strips_.push_back(std::move(strip));
  }

  static Rect cell_of(const Strip& strip, std::size_t cell) {
    const Rect r = strip.grid.cell(cell);
    return {strip.body.x + r.x, strip.body.y + r.y - strip.scroll, r.w, r.h};
  }

  void draw_strip(Canvas& canvas, const Strip& strip, const Scene& scene) const {
    if (!strip.title.empty())
      text_in(canvas,
              {strip.body.x, strip.body.y - scene.em * kTitleEm, strip.body.w,
               scene.em * kTitleEm * 0.9f},
              strip.title, dim_text(scene, 0.8f));
    canvas.push_clip({strip.body.x - 2, strip.body.y - 2, strip.body.w + 4, strip.body.h + 2});
    const std::size_t cells = (strip.slots.size() + strip.grid.merge - 1) / strip.grid.merge;
    const auto [first, last] = strip.grid.visible(strip.scroll, strip.body.h, cells);
    for (std::size_t i = first; i < last; ++i) {
      // Of several slots in one cell the most telling state is drawn.
      bool written = false;
      std::size_t best = i * strip.grid.merge;
      int weight = -1;
      for (std::size_t k = best; k < std::min(strip.slots.size(), (i + 1) * strip.grid.merge);
           ++k) {
        const capture::SlotView view = scene.capture->slot_at(strip.slots[k], strip.tick);
        const int w = (view.node != -1 && view.node == scene.focus.node() ? 16 : 0) +
                      (difference_begins(view, strip.tick, scene) ? 8 : 0) +
                      (view.state == SlotState::kLive      ? 3
                       : view.state == SlotState::kGarbage ? 2
                                                           : strip.slots[k] < strip.used);
        if (w > weight) {
          weight = w;
          best = k;
        }
        written |= strip.slots[k] < strip.used && range_.writes(strip.slots[k]) > 0;
      }
      const Rect cell = cell_of(strip, i);
      draw_slot(canvas, strip, strip.slots[best], cell, scene);
      if (written) {
        const float thick = std::clamp(cell.h * 0.08f, 1.5f, scene.em * 0.2f);
        canvas.fill_rect({cell.x, cell.bottom() - thick, cell.w, thick}, scene.theme.text);
      }
    }
    canvas.pop_clip();
  }

  // The first of its path that is held here and not kept, or not decided alike, in the other run.
  static bool difference_begins(const capture::SlotView& view, capture::Tick tick,
                                const Scene& scene) {
    if (view.node < 0 || !scene.differs(view.node)) return false;
    const std::int32_t parent = scene.capture->nodes()[static_cast<std::size_t>(view.node)].parent;
    return !scene.differs(parent) || scene.capture->slot_of(parent, tick) < 0;
  }

  static void draw_slot(Canvas& canvas, const Strip& strip, std::int32_t slot, Rect cell,
                        const Scene& scene) {
    const float em = scene.em;
    const capture::SlotView view = scene.capture->slot_at(slot, strip.tick);
    const float radius = std::min(em * 0.2f, cell.h * 0.2f);
    const Color garbage = scene.theme.mark(NodeState::kPruned).color;
    const bool roomy = cell.w >= em * 1.7f && cell.h >= em * 1.5f;
    if (slot >= strip.used) {
      canvas.stroke_rect(cell, scene.theme.border, 1, LineStyle::kDotted, radius);
    } else if (view.state == SlotState::kFree) {
      canvas.stroke_rect(cell, scene.theme.border, 1, LineStyle::kSolid, radius);
    } else if (view.state == SlotState::kGarbage) {
      canvas.fill_rect(cell, garbage.with_alpha(0.14f), radius);
      canvas.stroke_rect(cell, garbage, 1, cell.w > 8 ? LineStyle::kDashed : LineStyle::kSolid,
                         radius);
    } else {
      const capture::NodeView node = scene.capture->node_at(view.node, strip.tick);
      const Color color =
          node.beam_rank >= 0
              ? scene.theme.beam(node.beam_rank)
              : scene.theme.mark(node.state == NodeState::kAbsent ? NodeState::kLive : node.state)
                    .color;
      canvas.fill_rect(cell, color.with_alpha(scene.theme.dark ? 0.32f : 0.26f), radius);
      canvas.stroke_rect(cell, color, 1, LineStyle::kSolid, radius);
    }
    if (roomy) {
      TextStyle style = mono_text(scene, 0.74f);
      if (view.state == SlotState::kGarbage) style.color = scene.theme.text_dim;
      if (view.node != -1 && slot < strip.used)
        text_in(canvas, {cell.x + 2, cell.y + cell.h * 0.06f, cell.w - 4, cell.h * 0.52f},
                node_text(scene, view.node, 8), style, Align::kCenter);
      text_in(canvas, {cell.x + 2, cell.y + cell.h * 0.58f, cell.w - 4, cell.h * 0.36f},
              std::to_string(slot), dim_text(scene, 0.58f), Align::kCenter);
    }
    if (view.moved_this_step && slot < strip.used)
      draw_glyph(
          canvas, "→", {cell.right() - std::min(cell.w, em) * 0.32f, cell.y + cell.h * 0.75f},
          std::clamp(cell.h * 0.3f, 3.0f, em * 0.5f), scene.theme.mark(NodeState::kBonus).color);
    if (view.reused_this_step && slot < strip.used)
      canvas.fill_circle({cell.x + std::min(cell.w, em) * 0.28f, cell.y + cell.h * 0.76f},
                         std::clamp(cell.h * 0.09f, 1.5f, em * 0.18f), scene.theme.series(2));
    if (slot < strip.used && difference_begins(view, strip.tick, scene)) {
      const float size = std::clamp(cell.h * 0.36f, 6.0f, em * 0.72f);
      draw_difference(canvas, {cell.right() - size * 0.45f, cell.y + size * 0.35f}, size, scene);
    }
    if (view.node != -1 && view.node == scene.focus.node())
      canvas.stroke_rect({cell.x - 1, cell.y - 1, cell.w + 2, cell.h + 2}, scene.theme.focus, 2,
                         LineStyle::kSolid, radius);
  }

  void draw_moves(Canvas& canvas, const Counts& counts, const Scene& scene) const {
    const Strip &before = strips_[0], &after = strips_[1];
    const Color color = scene.theme.mark(NodeState::kBonus).color;
    const bool all = static_cast<std::size_t>(counts.moved) <= kArrows;
    for (std::size_t i = 0; i < after.slots.size(); ++i) {
      const capture::SlotView view = scene.capture->slot_at(after.slots[i], after.tick);
      const bool focused = view.node != -1 && view.node == scene.focus.node();
      if (!view.moved_this_step || (!all && !focused)) continue;
      const auto from = std::lower_bound(before.slots.begin(), before.slots.end(), view.moved_from);
      if (from == before.slots.end() || *from != view.moved_from) continue;
      const Rect a = cell_of(before, static_cast<std::size_t>(from - before.slots.begin()) /
                                         before.grid.merge),
                 b = cell_of(after, i / after.grid.merge);
      const Point p{a.x + a.w / 2, a.bottom()}, q{b.x + b.w / 2, b.y};
      const float bend = (q.y - p.y) * 0.5f;
      canvas.bezier(p, {p.x, p.y + bend}, {q.x, q.y - bend}, q,
                    focused ? scene.theme.focus : color.with_alpha(0.45f), focused ? 2.0f : 1.1f);
    }
  }

  void explain(const Strip& strip, std::size_t i, const Scene& scene, Reaction& reaction) const {
    const std::int32_t slot = strip.slots[i];
    const capture::SlotView view = scene.capture->slot_at(slot, strip.tick);
    static constexpr const char* kNames[] = {"free", "live", "garbage: its node is dead"};
    reaction.tooltip = {"slot " + std::to_string(slot) + ", " +
                        (slot >= strip.used ? "reserved, never used"
                                            : kNames[static_cast<std::size_t>(view.state)])};
    if (view.node != -1 && slot < strip.used) {
      reaction.hover = view.node;
      reaction.tooltip.push_back(node_summary(scene, view.node));
      if (const std::string text = difference_text(scene, view.node); !text.empty())
        reaction.tooltip.push_back(text);
    }
    if (view.moved_this_step)
      reaction.tooltip.push_back("moved here from slot " + std::to_string(view.moved_from) +
                                 " in this step");
    if (view.reused_this_step)
      reaction.tooltip.push_back("reused in this step: its former node died");
    if (const std::int32_t writes = range_.writes(slot); writes > 0)
      reaction.tooltip.push_back("written " +
                                 (writes == 1 ? "once" : std::to_string(writes) + " times") +
                                 " in " + range_.steps() + ", moves into it included");
    if (strip.grid.merge > 1)
      reaction.tooltip.push_back("one mark = " + std::to_string(strip.grid.merge) +
                                 " slots: zoom in");
    reaction.tooltip.push_back(
        "one slot = K and V of one position in every layer = " +
        bytes_text(static_cast<double>(scene.capture->run().kv_bytes_per_token)));
  }

  float zoom_ = 1, scroll_ = 0;
  KvRange range_;
  std::vector<Strip> strips_;
  Rect band_;
};

}  // namespace

std::unique_ptr<Panel> make_kv_panel() { return std::make_unique<KvPanel>(); }

}  // namespace triescope::viz
