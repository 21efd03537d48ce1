// The trie panel's nodes and edges.
#include <algorithm>
#include <cmath>

#include "viz/draw.h"
#include "viz/panels/trie_panel.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kTextPx = 6.5f, kDetailPx = 9;  // text sizes from which labels are drawn

bool is_dead_verdict(const capture::VerdictRow& row) { return is_dead(state_after(row.verdict)); }

}  // namespace

Rect TriePanel::chip_of(std::int32_t item) const {
  const std::int32_t column = shape_.layout().column(item);
  const float x = shape_.column_x()[index(column)];
  const float width = shape_.column_x()[index(column) + 1] - kGutterEm - x;
  const float y = (static_cast<float>(shape_.layout().row(item)) + 0.5f) * view_.drawn_pitch;
  return {body_.x + view_.drawn.x + x * unit_,
          body_.y + view_.drawn.y + y - (kChipEm / 2 + 0.2f) * unit_, width * unit_,
          kChipEm * unit_};
}

// The box itself is as wide as its text; the column gives the room.
Rect TriePanel::box_of(std::int32_t item) const {
  Rect chip = chip_of(item);
  const TrieItem& it = shape_.items()[index(item)];
  if (it.node != 0 && it.run == 1) {
    const auto found = shape_.chip_width().find(shape_.capture()->nodes()[index(it.node)].token);
    if (found != shape_.chip_width().end()) chip.w = std::min(chip.w, found->second * unit_);
  }
  return chip;
}

void TriePanel::draw_edge(Canvas& canvas, std::int32_t item, const Scene& scene) const {
  const TrieItem& it = shape_.items()[index(item)];
  if (it.parent < 0) return;
  const Rect from = box_of(it.parent), to = chip_of(item);
  const float column_end = chip_of(it.parent).right();
  const Point a{from.right(), from.y + from.h / 2}, b{to.x, to.y + to.h / 2};
  const NodeState state = shape_.states()[index(it.node)];
  const bool dead = is_dead(state);
  const Mark mark = scene.theme.mark(state);
  const bool on_path = path_.count(it.node) != 0;
  float logprob = scene.capture->nodes()[index(it.node)].logprob;
  if (std::isnan(logprob)) logprob = scene.capture->node_at(it.node, scene.cursor).row.logprob;
  const float p = std::isnan(logprob) ? 0.15f : std::exp(logprob);
  const float scale = std::clamp(view_.drawn_zoom, 0.5f, 2.0f) * scene.em / 14;
  const float width = (0.9f + 3.4f * p) * scale * (dead ? 0.4f : 1.0f);
  Color color = shape_.color_of(it.node, scene);
  if (dead) color = color.with_alpha(0.75f);
  if (on_path) color = scene.theme.focus;
  const LineStyle style = state == NodeState::kPending ? LineStyle::kDotted : mark.line;
  // Straight to the end of the column, so that no line runs through a wider box beside it.
  if (a.y == b.y) {
    canvas.line(a, b, color, width, style);
    return;
  }
  if (column_end > a.x + 1) canvas.line(a, {column_end + 0.5f, a.y}, color, width, style);
  const float bend = (b.x - column_end) * 0.55f;
  canvas.bezier({column_end, a.y}, {column_end + bend, a.y}, {b.x - bend, b.y}, b, color, width,
                style);
}

void TriePanel::draw_chip(Canvas& canvas, std::int32_t item, const Scene& scene) {
  const TrieItem& it = shape_.items()[index(item)];
  const Rect box = box_of(item);
  if (box.right() < body_.x || box.x > body_.right() || box.bottom() + unit_ < body_.y ||
      box.y > body_.bottom())
    return;
  const NodeState state = shape_.states()[index(it.node)];
  const Mark mark = scene.theme.mark(state);
  const bool dead = is_dead(state);
  const Color color = it.node == 0 ? scene.theme.text_dim : shape_.color_of(it.node, scene);
  const bool focused = shape_.contains(it, scene.focus.node());
  const bool on_path = path_.count(it.node) != 0;
  chips_.push_back({box, item, 0});
  if (unit_ < 4.5f) {
    canvas.fill_rect(box, on_path ? scene.theme.focus : dead ? color.with_alpha(0.5f) : color);
    return;
  }
  const float radius = unit_ * 0.32f;
  if (it.run > 1) {  // a stack of cards
    const float d = unit_ * 0.16f;
    canvas.stroke_rect({box.x + d, box.y - d, box.w, box.h}, color.with_alpha(0.55f), 1,
                       LineStyle::kSolid, radius);
  }
  canvas.fill_rect(box, scene.theme.background, radius);
  if (!mark.hollow && it.node != 0)
    canvas.fill_rect(box,
                     color.with_alpha(dead               ? 0.07f
                                      : scene.theme.dark ? 0.22f
                                                         : 0.16f),
                     radius);
  if (it.node == 0) canvas.fill_rect(box, scene.theme.raised, radius);
  canvas.stroke_rect(box,
                     on_path && !focused ? scene.theme.focus.with_alpha(0.75f)
                     : mark.outlined     ? scene.theme.text
                                         : color,
                     on_path ? 1.8f : 1.2f, mark.hollow ? LineStyle::kDashed : mark.line, radius);
  // Current: what this step's forward has read.
  if (shape_.current().count(it.node))
    canvas.stroke_rect(box.inset(-1.8f), scene.theme.current.with_alpha(0.85f), 1,
                       LineStyle::kSolid, radius + 2);
  if (focused)
    canvas.stroke_rect(box.inset(-3), scene.theme.focus, 2.4f, LineStyle::kSolid, radius + 3);
  if (scene.differs(it.last) &&
      (it.node == 0 || !scene.differs(shape_.capture()->nodes()[index(it.node)].parent))) {
    // Where the difference begins. On the corner, so that rank, mark and figures stay readable.
    const float size = std::max(6.0f, unit_ * 0.72f);
    draw_difference(canvas, {box.right() - size * 0.2f, box.y}, size, scene);
  }
  if (unit_ < kTextPx) return;
  TextStyle style =
      it.node == 0 ? ui_text(scene, view_.drawn_zoom * 0.9f) : mono_text(scene, view_.drawn_zoom);
  if (dead) style.color = scene.theme.text_dim;
  const float inset = unit_ * 0.35f;
  text_in(canvas, {box.x + inset, box.y, box.w - 2 * inset, box.h}, shape_.label_of(it, scene),
          style, Align::kCenter);
  if (mark.struck)
    canvas.line({box.x + inset * 0.7f, box.y + box.h / 2},
                {box.right() - inset * 0.7f, box.y + box.h / 2}, color.with_alpha(0.8f), 1.1f);
  if (unit_ >= kDetailPx) draw_details(canvas, item, box, chip_of(item).right(), scene);
}

// Below the box: mark, probability, gap. Behind it: rank, or how many nodes are not drawn.
void TriePanel::draw_details(Canvas& canvas, std::int32_t item, Rect box, float column_end,
                             const Scene& scene) const {
  const TrieItem& it = shape_.items()[index(item)];
  const NodeState state = shape_.states()[index(it.node)];
  const Mark mark = scene.theme.mark(state);
  const Color color = shape_.color_of(it.node, scene);
  TextStyle small = dim_text(scene, view_.drawn_zoom * 0.7f);
  const float line = box.bottom() + unit_ * 0.18f, height = unit_ * 0.74f;
  float x = box.x + unit_ * 0.1f;
  const float room = column_end + (kGutterEm - 0.5f) * unit_;
  std::string label, gap;
  if (it.node == 0) {
    label = "prompt, " + std::to_string(scene.capture->run().prompt_tokens.size()) + " tokens";
  } else {
    const bool plain = state == NodeState::kLive;
    if (!plain) {
      draw_glyph(canvas, mark.glyph, {x + unit_ * 0.35f, line + height / 2}, unit_ * 0.6f, color);
      x += unit_ * 0.8f;
    }
    if (it.run > 1) {
      label = std::to_string(it.run) + " tokens";
    } else {
      const capture::NodeView view = scene.capture->node_at(it.node, scene.cursor);
      if (!std::isnan(view.row.logprob)) label = probability_text(std::exp(view.row.logprob));
      if (is_dead(state) && it.hidden_dead + it.hidden_other == 0)
        if (const auto verdict = scene.capture->verdict_at(it.node, scene.cursor);
            verdict && verdict->gap > 0 && is_dead_verdict(*verdict))
          gap = (label.empty() ? "Δ" : "  Δ") + number_text(verdict->gap, 2);
    }
  }
  // Of a dead branch the gap says more than the probability, where there is room for one only.
  if (!gap.empty())
    label =
        canvas.measure(label + gap, small).x <= room - x ? label + gap : gap.substr(gap.find("Δ"));
  const std::int32_t hidden = it.hidden_dead + it.hidden_other;
  if (hidden > 0) label += (label.empty() ? "+" : "  +") + std::to_string(hidden);
  // The rank stands behind a leaf; where drafts hang there, before the probability.
  if (const auto found = shape_.frontier().find(it.last); found != shape_.frontier().end()) {
    TextStyle badge = bold_text(scene, view_.drawn_zoom * 0.8f);
    badge.color = scene.theme.legible(color);
    const std::string rank = "#" + std::to_string(found->second + 1);
    const Point size = canvas.measure(rank, badge);
    if (shape_.layout().first_child(item) < 0) {
      canvas.text({box.right() + unit_ * 0.3f, box.y + (box.h - size.y) / 2}, rank, badge);
    } else {
      text_in(canvas, {x, line, size.x + 1, height}, rank, badge);
      x += size.x + unit_ * 0.35f;
    }
  }
  text_in(canvas, {x, line, room - x, height}, label, small);
}

}  // namespace triescope::viz
