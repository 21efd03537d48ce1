#include "viz/panels/kv_strip.h"

#include <algorithm>

#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;
using capture::SlotState;

constexpr std::size_t kArrows = 48;  // more are a tangle; then only the focused node's are drawn

// The first node of its path that is held here and that the other run lacks or decided otherwise.
bool difference_begins(const RowSource& source, const capture::SlotView& view, capture::Tick tick,
                       const Scene& scene) {
  if (view.node < 0 || !scene.differs(view.node)) return false;
  const std::int32_t parent = scene.capture->nodes()[static_cast<std::size_t>(view.node)].parent;
  return !scene.differs(parent) || source.slot_of(*scene.capture, parent, tick) < 0;
}

bool is_faulty(const KvStrip& strip, std::int32_t slot) {
  return std::ranges::binary_search(strip.faulty, slot);
}

void draw_slot(Canvas& canvas, const RowSource& source, const KvStrip& strip, std::int32_t slot,
               Rect cell, const Scene& scene) {
  const float em = scene.em;
  const capture::SlotView view = source.slot_at(*scene.capture, slot, strip.tick);
  const float radius = std::min(em * 0.2f, cell.h * 0.2f);
  const Color garbage = scene.theme.mark(NodeState::kPruned).color;
  // The label has two lines where they fit, else one, and is never smaller than kNumberEm.
  constexpr float kNumberEm = 0.74f, kLineEm = 0.92f;
  const bool one_line = cell.w >= em * 1.7f && cell.h >= em * kLineEm;
  const bool two_lines = one_line && cell.h >= em * kLineEm * 2;
  const bool shows_node = view.node != -1 && slot < strip.used;
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
  if (one_line) {
    TextStyle style = mono_text(scene, kNumberEm);
    if (view.state == SlotState::kGarbage) style.color = scene.theme.text_dim;
    const float line = two_lines ? cell.h / 2 : cell.h;
    if (shows_node)
      text_in(canvas, {cell.x + 2, cell.y, cell.w - 4, line}, node_text(scene, view.node, 8), style,
              Align::kCenter);
    // The dim colour could not be read on a filled cell.
    TextStyle number = view.state == SlotState::kLive && slot < strip.used
                           ? ui_text(scene, kNumberEm)
                           : dim_text(scene, kNumberEm);
    if (two_lines || !shows_node)
      text_in(canvas, {cell.x + 2, cell.bottom() - line, cell.w - 4, line}, std::to_string(slot),
              number, Align::kCenter);
  }
  if (view.moved_this_step && slot < strip.used)
    draw_glyph(canvas, "→", {cell.right() - std::min(cell.w, em) * 0.32f, cell.y + cell.h * 0.75f},
               std::clamp(cell.h * 0.3f, 3.0f, em * 0.5f),
               scene.theme.mark(NodeState::kBonus).color);
  if (view.reused_this_step && slot < strip.used)
    canvas.fill_circle({cell.x + std::min(cell.w, em) * 0.28f, cell.y + cell.h * 0.76f},
                       std::clamp(cell.h * 0.09f, 1.5f, em * 0.18f), scene.theme.series(2));
  const float mark = std::clamp(cell.h * 0.36f, 6.0f, em * 0.72f);
  float from_right = mark * 0.45f;
  if (slot < strip.used && difference_begins(source, view, strip.tick, scene)) {
    draw_difference(canvas, {cell.right() - from_right, cell.y + mark * 0.35f}, mark, scene);
    from_right += mark * 1.3f;
  }
  if (is_faulty(strip, slot)) {
    canvas.stroke_rect(cell, scene.theme.fault, 2, LineStyle::kDashed, radius);
    draw_fault(canvas, {cell.right() - from_right, cell.y + mark * 0.35f}, mark, true, scene);
  }
  if (view.node != -1 && view.node == scene.focus.node())
    canvas.stroke_rect({cell.x - 1, cell.y - 1, cell.w + 2, cell.h + 2}, scene.theme.focus, 2,
                       LineStyle::kSolid, radius);
}

// Whether one of the cell's slots was taken, moved or freed where the scene lights that.
bool is_lit(const RowSource& source, const KvStrip& strip, std::size_t cell, const Scene& scene) {
  if (!scene.lights()) return false;
  const std::size_t first = cell * strip.grid.merge;
  for (std::size_t k = first; k < std::min(strip.slots.size(), first + strip.grid.merge); ++k) {
    if (strip.slots[k] >= strip.used) continue;
    const capture::SlotView before = source.slot_at(*scene.capture, strip.slots[k], scene.lit_from),
                            now = source.slot_at(*scene.capture, strip.slots[k], strip.tick);
    if (before.state != now.state || before.node != now.node) return true;
  }
  return false;
}

}  // namespace

Rect cell_of(const KvStrip& strip, std::size_t cell) {
  const Rect r = strip.grid.cell(cell);
  return {strip.body.x + r.x, strip.body.y + r.y - strip.scroll, r.w, r.h};
}

void draw_strip(Canvas& canvas, const RowSource& source, const KvStrip& strip, const KvRange& range,
                const Scene& scene) {
  if (!strip.title.empty())
    text_in(canvas,
            {strip.body.x, strip.body.y - scene.em * kStripTitleEm, strip.body.w,
             scene.em * kStripTitleEm * 0.9f},
            strip.title, dim_text(scene, 0.8f));
  canvas.push_clip({strip.body.x - 2, strip.body.y - 2, strip.body.w + 4, strip.body.h + 2});
  const std::size_t cells = (strip.slots.size() + strip.grid.merge - 1) / strip.grid.merge;
  const auto [first, last] = strip.grid.visible(strip.scroll, strip.body.h, cells);
  for (std::size_t i = first; i < last; ++i) {
    // A cell with several slots has the most telling of their states.
    bool written = false;
    std::size_t best = i * strip.grid.merge;
    int weight = -1;
    for (std::size_t k = best; k < std::min(strip.slots.size(), (i + 1) * strip.grid.merge); ++k) {
      const capture::SlotView view = source.slot_at(*scene.capture, strip.slots[k], strip.tick);
      const int w = (is_faulty(strip, strip.slots[k]) ? 32 : 0) +
                    (view.node != -1 && view.node == scene.focus.node() ? 16 : 0) +
                    (difference_begins(source, view, strip.tick, scene) ? 8 : 0) +
                    (view.state == SlotState::kLive      ? 3
                     : view.state == SlotState::kGarbage ? 2
                                                         : strip.slots[k] < strip.used);
      if (w > weight) {
        weight = w;
        best = k;
      }
      written |= strip.slots[k] < strip.used && range.writes(strip.slots[k]) > 0;
    }
    const Rect cell = cell_of(strip, i);
    draw_slot(canvas, source, strip, strip.slots[best], cell, scene);
    if (written) {
      const float thick = std::clamp(cell.h * 0.08f, 1.5f, scene.em * 0.2f);
      canvas.fill_rect({cell.x, cell.bottom() - thick, cell.w, thick}, scene.theme.text);
    }
  }
  canvas.pop_clip();
  // Marks stand on corners, so they are drawn over all cells and over the edge.
  for (std::size_t i = first; i < last; ++i)
    if (const Rect cell = cell_of(strip, i);
        cell.y >= strip.body.y - 1 && is_lit(source, strip, i, scene))
      draw_lit(canvas, cell.inset(2), std::clamp(cell.h * 0.4f, 5.0f, scene.em * 0.7f), scene);
}

void draw_moves(Canvas& canvas, const RowSource& source, const KvStrip& before,
                const KvStrip& after, int moved, const Scene& scene) {
  const Color color = scene.theme.mark(NodeState::kBonus).color;
  const bool all = static_cast<std::size_t>(moved) <= kArrows;
  for (std::size_t i = 0; i < after.slots.size(); ++i) {
    const capture::SlotView view = source.slot_at(*scene.capture, after.slots[i], after.tick);
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

}  // namespace triescope::viz
