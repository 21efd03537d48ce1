// Nodes and edges of the trie's picture.
#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/panels/trie_picture.h"
#include "viz/text/number_text.h"

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr float kCaptionRoom = 0.96f;           // em of the tree; captions stand below a box
constexpr float kTextPx = 6.5f, kDetailPx = 9;  // text sizes from which labels are drawn

// The score of the newest sequence that ends at the node; `otherwise` where none does.
float final_score(const capture::Capture& capture, std::int32_t node, float otherwise) {
  for (auto rows = capture.sequences(); !rows.empty(); rows = rows.first(rows.size() - 1))
    if (rows.back().node == node) return rows.back().score;
  return otherwise;
}

bool is_dead_verdict(const capture::VerdictRow& row) { return is_dead(state_after(row.verdict)); }

Rect chip_of(const TriePicture& picture, std::int32_t item) {
  const std::int32_t column = picture.shape.layout().column(item);
  const float x = picture.shape.column_x()[TrieShape::index(column)];
  const float width =
      picture.shape.column_x()[TrieShape::index(column) + 1] - TriePicture::kGutterEm - x;
  const float y =
      (static_cast<float>(picture.shape.layout().row(item)) + 0.5f) * picture.view.drawn_pitch;
  return {
      picture.body.x + picture.view.drawn.x + x * picture.unit,
      picture.body.y + picture.view.drawn.y + y - (TriePicture::kChipEm / 2 + 0.2f) * picture.unit,
      width * picture.unit, TriePicture::kChipEm * picture.unit};
}

// The box is as wide as its text; the column may be wider.
Rect box_of(const TriePicture& picture, std::int32_t item) {
  Rect chip = chip_of(picture, item);
  const TrieItem& it = picture.shape.items()[TrieShape::index(item)];
  if (it.node != 0 && it.run == 1) {
    const auto found = picture.shape.chip_width().find(
        picture.shape.capture()->nodes()[TrieShape::index(it.node)].token);
    if (found != picture.shape.chip_width().end())
      chip.w = std::min(chip.w, found->second * picture.unit);
  }
  return chip;
}

// Draws Σ log p of a live beam, or a finished hypothesis's final score, behind a path's last node.
void draw_sum(Canvas& canvas, const TriePicture& picture, std::int32_t node, float x, Rect box,
              const Scene& scene) {
  const bool finished = picture.shape.states()[TrieShape::index(node)] == NodeState::kFinished;
  float value = scene.capture->node_at(node, scene.cursor).row.score;
  if (finished) {
    const auto found = picture.shape.finished().find(node);
    value = found != picture.shape.finished().end() ? found->second
                                                    : final_score(*scene.capture, node, value);
  }
  if (std::isnan(value)) return;
  const TextStyle style = dim_text(scene, picture.view.drawn_zoom * 0.76f);
  const std::string text = (finished ? "final " : "") + logprob_text(value);
  canvas.text({x, box.y + (box.h - canvas.measure(text, style).y) / 2}, text, style);
}

// Draws mark, probability and gap below the box; behind it the rank, or how many nodes are not
// drawn.
void draw_details(Canvas& canvas, const TriePicture& picture, std::int32_t item, Rect box,
                  float column_end, const Scene& scene) {
  const TrieItem& it = picture.shape.items()[TrieShape::index(item)];
  const NodeState state = picture.shape.states()[TrieShape::index(it.node)];
  const Mark mark = scene.theme.mark(state);
  const Color color = picture.shape.color_of(it.node, scene);
  TextStyle small = dim_text(scene, picture.view.drawn_zoom * TrieShape::kCaptionEm);
  const float line = box.bottom() + picture.unit * 0.18f, height = picture.unit * 0.78f;
  float x = box.x + picture.unit * 0.1f;
  const float room = column_end + (TriePicture::kGutterEm - 0.5f) * picture.unit;
  std::string label, gap;
  if (it.node == 0) {
    label = prompt_caption(*scene.capture);
  } else {
    const bool plain = state == NodeState::kLive;
    if (!plain) {
      draw_glyph(canvas, mark.glyph, {x + picture.unit * 0.35f, line + height / 2},
                 picture.unit * 0.6f, color);
      x += picture.unit * 0.8f;
    }
    if (it.run > 1) {
      label = counted(it.run, "token");
      for (const std::int32_t node : picture.shape.forced())
        if (picture.shape.contains(it, node)) label += ", forced " + node_text(scene, node, 12);
    } else {
      const capture::NodeView view = scene.capture->node_at(it.node, scene.cursor);
      if (!std::isnan(view.row.logprob)) label = probability_text(std::exp(view.row.logprob));
      if (view.row.source == capture::Source::kForced) label = "forced " + label;
      if (is_dead(state) && it.hidden_dead + it.hidden_other == 0)
        if (const auto verdict = scene.capture->verdict_at(it.node, scene.cursor);
            verdict && verdict->gap > 0 && is_dead_verdict(*verdict))
          gap = (label.empty() ? "Δ" : "  Δ") + number_text(verdict->gap, 2);
    }
  }
  // Where only one fits, the gap of a dead branch says more than its probability.
  if (!gap.empty())
    label =
        canvas.measure(label + gap, small).x <= room - x ? label + gap : gap.substr(gap.find("Δ"));
  const std::int32_t hidden = it.hidden_dead + it.hidden_other;
  if (hidden > 0) label += (label.empty() ? "+" : "  +") + std::to_string(hidden);
  // The rank stands behind a leaf; where drafts hang from it, before the probability.
  if (const auto found = picture.shape.frontier().find(it.last);
      found != picture.shape.frontier().end()) {
    TextStyle badge = bold_text(scene, picture.view.drawn_zoom * 0.8f);
    badge.color = scene.theme.legible(color);
    const std::string rank = "#" + std::to_string(found->second + 1);
    const Point size = canvas.measure(rank, badge);
    if (picture.shape.layout().first_child(item) < 0) {
      const float at = box.right() + picture.unit * 0.3f;
      canvas.text({at, box.y + (box.h - size.y) / 2}, rank, badge);
      draw_sum(canvas, picture, it.last, at + size.x + picture.unit * 0.35f, box, scene);
    } else {
      text_in(canvas, {x, line, size.x + 1, height}, rank, badge);
      x += size.x + picture.unit * 0.35f;
    }
  }
  if (picture.shape.finished().contains(it.last))
    draw_sum(canvas, picture, it.last, box.right() + picture.unit * 0.3f, box, scene);
  text_in(canvas, {x, line, room - x, height}, label, small);
}

}  // namespace

void draw_trie_edge(Canvas& canvas, const TriePicture& picture, std::int32_t item,
                    const Scene& scene) {
  const TrieItem& it = picture.shape.items()[TrieShape::index(item)];
  if (it.parent < 0) return;
  const Rect from = box_of(picture, it.parent), to = chip_of(picture, item);
  const float column_end = chip_of(picture, it.parent).right();
  const Point a{from.right(), from.y + from.h / 2}, b{to.x, to.y + to.h / 2};
  const NodeState state = picture.shape.states()[TrieShape::index(it.node)];
  const bool dead = is_dead(state);
  const Mark mark = scene.theme.mark(state);
  const bool on_path = picture.path.count(it.node) != 0;
  float logprob = scene.capture->nodes()[TrieShape::index(it.node)].logprob;
  if (std::isnan(logprob)) logprob = scene.capture->node_at(it.node, scene.cursor).row.logprob;
  const float p = std::isnan(logprob) ? 0.15f : std::exp(logprob);
  const float scale = std::clamp(picture.view.drawn_zoom, 0.5f, 2.0f) * scene.em / 14;
  const float width = (0.9f + 3.4f * p) * scale * (dead ? 0.4f : 1.0f);
  Color color = picture.shape.color_of(it.node, scene);
  if (dead) color = color.with_alpha(0.75f);
  if (on_path) color = scene.theme.focus;
  const LineStyle style = state == NodeState::kPending ? LineStyle::kDotted : mark.line;
  // The line is straight to the end of the column, so that it does not cross a wider box beside it.
  if (a.y == b.y) {
    canvas.line(a, b, color, width, style);
    return;
  }
  if (column_end > a.x + 1) canvas.line(a, {column_end + 0.5f, a.y}, color, width, style);
  const float bend = (b.x - column_end) * 0.55f;
  canvas.bezier({column_end, a.y}, {column_end + bend, a.y}, {b.x - bend, b.y}, b, color, width,
                style);
}

void draw_trie_chip(Canvas& canvas, TriePicture& picture, std::int32_t item, const Scene& scene) {
  const TrieItem& it = picture.shape.items()[TrieShape::index(item)];
  const Rect box = box_of(picture, item);
  if (box.right() < picture.body.x || box.x > picture.body.right() ||
      box.bottom() + picture.unit < picture.body.y || box.y > picture.body.bottom())
    return;
  if (picture.section &&
      (box.x < picture.body.x || box.right() > picture.body.right() || box.y < picture.body.y ||
       box.bottom() + picture.unit * kCaptionRoom > picture.body.bottom()))
    return;
  const NodeState state = picture.shape.states()[TrieShape::index(it.node)];
  const Mark mark = scene.theme.mark(state);
  const bool dead = is_dead(state);
  const Color color = it.node == 0 ? scene.theme.text_dim : picture.shape.color_of(it.node, scene);
  const bool focused = picture.shape.contains(it, scene.focus.node());
  const bool on_path = picture.path.count(it.node) != 0;
  picture.chips.push_back({box, item, 0});
  const capture::RowMark fault = picture.shape.fault_of(it, scene);
  if (picture.unit < 4.5f) {
    canvas.fill_rect(box, on_path                            ? scene.theme.focus
                          : fault != capture::RowMark::kNone ? scene.theme.fault
                          : dead                             ? color.with_alpha(0.5f)
                                                             : color);
    return;
  }
  const float radius = picture.unit * 0.32f;
  if (it.run > 1) {  // a stack of cards
    const float d = picture.unit * 0.16f;
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
  // Frames the nodes that this step's forward has read.
  if (picture.shape.current().count(it.node))
    canvas.stroke_rect(box.inset(-1.8f), scene.theme.current.with_alpha(0.85f), 1,
                       LineStyle::kSolid, radius + 2);
  if (focused)
    canvas.stroke_rect(box.inset(-3), scene.theme.focus, 2.4f, LineStyle::kSolid, radius + 3);
  if (scene.differs(it.last) &&
      (it.node == 0 ||
       !scene.differs(picture.shape.capture()->nodes()[TrieShape::index(it.node)].parent))) {
    // The difference begins here. Its mark is on the corner, so that rank, mark and figures stay
    // readable.
    const float size = std::max(6.0f, picture.unit * 0.72f);
    draw_difference(canvas, {box.right() - size * 0.2f, box.y}, size, scene);
  }
  if (picture.shape.is_lit(it)) draw_lit(canvas, box, picture.unit * 0.8f, scene);
  // The edge ends where the fault's mark stands, so that it covers no letters.
  if (fault != capture::RowMark::kNone)
    draw_fault(canvas, {box.x - picture.unit * 0.14f, box.y + box.h * 0.56f},
               std::max(6.0f, picture.unit * 0.66f), fault == capture::RowMark::kRecorded, scene);
  if (picture.unit < kTextPx) return;
  TextStyle style = it.node == 0 ? ui_text(scene, picture.view.drawn_zoom * 0.9f)
                                 : mono_text(scene, picture.view.drawn_zoom);
  // A refused token is read as often as an accepted one, so it is not dimmed.
  if (dead && state != NodeState::kRejected) style.color = scene.theme.text_dim;
  const float inset = picture.unit * 0.35f;
  // The stroke is drawn before the letters.
  if (mark.struck)
    canvas.line({box.x + inset * 0.7f, box.y + box.h / 2},
                {box.right() - inset * 0.7f, box.y + box.h / 2}, color.with_alpha(0.5f), 1.4f);
  text_in(canvas, {box.x + inset, box.y, box.w - 2 * inset, box.h},
          picture.shape.label_of(it, scene), style, Align::kCenter);
  if (picture.unit < kDetailPx) return;
  if (it.run == 1) draw_growth_number(canvas, picture, it.node, box, scene);
  draw_details(canvas, picture, item, box, chip_of(picture, item).right(), scene);
}

}  // namespace triescope::viz
