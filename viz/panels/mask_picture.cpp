#include "viz/panels/mask_picture.h"
#include "viz/panels/panel_rows.h"

#include <algorithm>
#include <string>

#include "core/base/counted.h"
#include "viz/draw/drawing.h"
#include "viz/draw/node_text.h"
#include "viz/panels/owner_switch.h"

namespace triescope::viz {
namespace {

void draw_cell(Canvas& canvas, Rect box, MaskCell cell, Color color, bool marks,
               const Scene& scene) {
  const Point middle{box.x + box.w / 2, box.y + box.h / 2};
  const float size = std::min(std::min(box.w, box.h) * 0.4f, scene.em * 0.6f);
  switch (cell) {
    case MaskCell::kHidden:
      canvas.fill_rect(box, scene.theme.grid.with_alpha(0.55f));
      break;
    case MaskCell::kAncestor:
      canvas.fill_rect(box, color.with_alpha(0.42f));
      if (marks) canvas.fill_circle(middle, size * 0.42f, color);
      break;
    case MaskCell::kSelf:
      canvas.fill_rect(box, color);
      if (marks)
        canvas.fill_rect({middle.x - size / 2, middle.y - size / 2, size, size},
                         scene.theme.background);
      break;
    case MaskCell::kExtra:
      canvas.fill_rect(box, marks ? scene.theme.fault.with_alpha(0.42f) : scene.theme.fault);
      if (marks) draw_fault(canvas, middle, size * 1.5f, true, scene);
      break;
    case MaskCell::kMissing:
      // The shape tells the two apart where no mark fits: half a cell is missing.
      canvas.fill_rect(box, scene.theme.grid.with_alpha(0.55f));
      if (marks) {
        canvas.stroke_rect(box.inset(0.5f), scene.theme.fault, 1.2f);
        draw_fault(canvas, middle, size * 1.5f, false, scene);
      } else {
        canvas.fill_rect({box.x, box.y + box.h * 0.6f, box.w, box.h * 0.4f}, scene.theme.fault);
      }
      break;
  }
}

// Draws the prompt's part of a row.
void draw_prompt(Canvas& canvas, const MaskPicture& picture, std::size_t row, Rect bar, Color color,
                 const Scene& scene) {
  const auto stretches = picture.mask.prompt(row);
  canvas.fill_rect(bar, scene.theme.grid);
  if (stretches.empty()) return canvas.fill_rect(bar, color.with_alpha(0.42f));
  const auto tokens = static_cast<float>(stretches.back().last + 1);
  const auto at = [&](std::int32_t token) {
    return bar.x + bar.w * static_cast<float>(token) / tokens;
  };
  for (const MaskRows::Stretch& one : stretches)
    if (one.cell == MaskCell::kAncestor)
      canvas.fill_rect({at(one.first), bar.y, at(one.last + 1) - at(one.first), bar.h},
                       color.with_alpha(0.42f));
  const bool marks = bar.h > scene.em * 0.55f;
  for (const MaskRows::Stretch& one : stretches) {
    if (one.cell != MaskCell::kExtra && one.cell != MaskCell::kMissing) continue;
    const float width = std::max(2.0f, at(one.last + 1) - at(one.first));
    const Rect box{std::min(at(one.first), bar.right() - width), bar.y, width, bar.h};
    draw_cell(canvas, box, one.cell, color, false, scene);
    if (marks)
      draw_fault(canvas,
                 {std::clamp(box.x + box.w / 2, bar.x + bar.h * 0.4f, bar.right() - bar.h * 0.4f),
                  bar.y + bar.h / 2},
                 std::min(bar.h * 0.6f, scene.em * 0.6f), one.cell == MaskCell::kExtra, scene);
  }
}

}  // namespace

void draw_mask_header(Canvas& canvas, const MaskPicture& picture, Rect band, const Scene& scene) {
  const float em = scene.em;
  const Rect body = picture.grid.body;
  const TextStyle small = dim_text(scene, 0.76f);
  // The label counts the nodes that every row sees: "prompt + 17", "21 + 17", or 38, whichever
  // fits.
  const auto prompt = static_cast<std::int32_t>(scene.capture->run().prompt_tokens.size());
  const std::int32_t shared = picture.mask.shared;
  const std::string plus = " + " + std::to_string(shared);
  std::string label = "prompt" + plus;
  const auto fits = [&] { return canvas.measure(label, small).x <= band.w - em * 0.3f; };
  if (shared == 0)
    label = "prompt " + std::to_string(prompt);
  else if (!fits())
    label = std::to_string(prompt) + plus;
  if (shared > 0 && !fits()) label = std::to_string(prompt + shared);
  text_in(canvas, {band.x, band.y, band.w - em * 0.3f, band.h}, label, small, Align::kCenter);
  const auto [first, last] = picture.grid.visible_columns();
  if (picture.grid.cell_w >= em * 1.9f) {
    for (std::size_t c = first; c < last; ++c) {
      const Rect cell = picture.grid.cell(0, c);
      if (cell.x < body.x - 0.5f || cell.right() > body.right() + 0.5f) continue;
      const std::int32_t node = picture.mask.columns[c];
      const bool is_node = node != MaskRows::kUnwritten;
      text_in(canvas, {cell.x + 1, band.y, cell.w - 2, band.h},
              is_node ? node_text(scene, node, 10) : "empty",
              is_node ? mono_text(scene, 0.74f) : dim_text(scene, 0.74f), Align::kCenter);
    }
    return;
  }
  // The columns are too narrow for tokens: their number stands there, and the focused one at its place.
  const auto focus =
      std::find(picture.mask.columns.begin(), picture.mask.columns.end(), scene.focus.node());
  const bool has_unwritten =
      !picture.mask.columns.empty() && picture.mask.columns.back() == MaskRows::kUnwritten;
  label = counted(picture.mask.columns.size() - has_unwritten, "node") +
          (picture.slot_order ? " in slot order" : " in path order") +
          (has_unwritten ? ", empty slots last" : "");
  if (first > 0 || last < picture.mask.columns.size())
    label += ", " + std::to_string(first + 1) + "–" + std::to_string(last) + " shown";
  if (scene.focus.node() == -1 || focus == picture.mask.columns.end()) {
    text_in(canvas, {body.x, band.y, body.w, band.h}, label, small);
    return;
  }
  const Rect cell =
      picture.grid.cell(0, static_cast<std::size_t>(focus - picture.mask.columns.begin()));
  const std::string text = node_text(scene, *focus, 16);
  const float width = std::min(body.w, canvas.measure(text, mono_text(scene, 0.76f)).x + 2);
  const float x = std::clamp(cell.x + cell.w / 2 - width / 2, body.x, body.right() - width);
  text_in(canvas, {x, band.y, width, band.h}, text, mono_text(scene, 0.76f), Align::kCenter);
}

void draw_mask_rows(Canvas& canvas, const MaskPicture& picture, Rect labels, float band,
                    const Scene& scene) {
  const float em = scene.em;
  const auto [first_row, last_row] = picture.grid.visible_rows();
  const auto [first, last] = picture.grid.visible_columns();
  const bool marks = std::min(picture.grid.cell_w, picture.grid.cell_h) > em * 0.55f;
  const float gap = picture.grid.cell_h > 6 ? 1 : 0;
  const float right =
      std::min(picture.grid.body.right(), picture.grid.cell(0, picture.grid.columns - 1).right());
  // All rows belong to this step, so they are as new as its forward.
  const RowSource source{picture.mask.rows.front().whose};
  const bool lit = scene.lights(capture::make_tick(scene.shown_step(), source.forward_phase()));
  canvas.push_clip(
      {labels.x, picture.grid.body.y, picture.grid.body.right() - labels.x, picture.grid.body.h});
  for (std::size_t r = first_row; r < last_row; ++r) {
    const capture::InputRow& input = picture.mask.rows[r];
    const Rect line = picture.grid.cell(r, first);
    capture::NodeView view = scene.capture->node_at(input.node, scene.cursor);
    if (input.node <= 0) view.state = capture::NodeState::kLive;  // the prompt's own
    const bool is_faulty = !picture.mask.faults[r].empty();
    const Color color =
        view.beam_rank >= 0 ? scene.theme.beam(view.beam_rank) : scene.theme.mark(view.state).color;
    if (lit)
      canvas.fill_rect(
          {labels.x, line.y + gap, labels.w - em * 0.3f, std::max(1.0f, line.h - 2 * gap)},
          scene.theme.lit.with_alpha(0.14f), em * 0.15f);
    if (picture.grid.cell_h >= em * 0.8f) {
      constexpr float kSmallest = 0.74f;  // 11 px at scale 1
      const float scale = std::clamp(picture.grid.cell_h / em * 0.85f, kSmallest, 0.86f);
      draw_glyph(canvas, scene.theme.mark(view.state).glyph,
                 {labels.x + em * 0.4f, line.y + line.h / 2},
                 std::min(em * 0.6f, picture.grid.cell_h * 0.7f), color);
      const std::string position = std::to_string(input.position);
      const float figures = labels.w > em * 6.5f ? em * 2.4f : 0;
      const float warning = is_faulty ? em * 0.75f : 0;
      text_in(canvas, {labels.x + em, line.y, labels.w - em * 1.5f - figures - warning, line.h},
              node_text(scene, input.node, 14), mono_text(scene, scale));
      if (figures > 0)
        text_in(canvas,
                {labels.x + labels.w - figures - em * 0.4f - warning, line.y, figures, line.h},
                position, dim_text(scene, std::max(kSmallest, scale * 0.86f)), Align::kRight);
    }
    // The prompt is one band. With a sliding window it is the part that is still seen.
    draw_prompt(canvas, picture, r,
                {labels.right(), line.y + gap, band - em * 0.3f, std::max(1.0f, line.h - 2 * gap)},
                color, scene);
    if (is_faulty)
      draw_glyph(canvas, "▲", {labels.right() - em * 0.7f, line.y + line.h / 2},
                 std::min(em * 0.65f, picture.grid.cell_h * 0.8f), scene.theme.fault);
    // Cells under 3 px are drawn as stretches, so that a visible one is never dropped.
    for (std::size_t c = first; c < last;) {
      std::size_t end = c + 1;
      const Rect cell = picture.grid.cell(r, c);
      const MaskCell kind = picture.mask.cell(r, c);
      while (end < last && picture.grid.cell_w < 3 && picture.mask.cell(r, end) == kind) ++end;
      const Rect box{cell.x + (picture.grid.cell_w > 6 ? 0.5f : 0), cell.y + gap,
                     std::max(picture.grid.cell_w < 3 ? 1.0f : 0.5f,
                              static_cast<float>(end - c) * picture.grid.cell_w -
                                  (picture.grid.cell_w > 6 ? 1.0f : 0)),
                     std::max(1.0f, cell.h - 2 * gap)};
      draw_cell(canvas, box, kind, color, marks, scene);
      c = end;
    }
    if (lit) {  // between the label and the band, beside the figures
      const float size = std::min(em * 0.5f, picture.grid.cell_h * 0.7f);
      draw_glyph(canvas, "✦", {labels.right(), line.y + line.h / 2}, size, scene.theme.lit);
    }
    if (r > 0 && input.forward != picture.mask.rows[r - 1].forward)
      canvas.line({labels.x, line.y}, {right, line.y}, scene.theme.text_dim, 1);
  }
  canvas.pop_clip();
}

void draw_mask_cross(Canvas& canvas, const MaskPicture& picture, Rect left, const Scene& scene) {
  const std::int32_t node = scene.focus.node();
  if (node == -1) return;
  canvas.push_clip(
      {left.x, picture.grid.body.y, picture.grid.body.right() - left.x, picture.grid.body.h});
  const float bottom =
      std::min(picture.grid.body.bottom(), picture.grid.cell(picture.grid.rows - 1, 0).bottom());
  for (std::size_t r = 0; r < picture.mask.rows.size(); ++r)
    if (picture.mask.rows[r].node == node) {
      const Rect line = picture.grid.cell(r, 0);
      const float right = std::min(picture.grid.body.right(),
                                   picture.grid.cell(0, picture.grid.columns - 1).right());
      canvas.stroke_rect({left.x + 1, line.y, right - left.x - 2, line.h}, scene.theme.focus, 1.5f);
    }
  for (std::size_t c = 0; c < picture.mask.columns.size(); ++c)
    if (picture.mask.columns[c] == node) {
      const Rect cell = picture.grid.cell(0, c);
      canvas.stroke_rect({cell.x - 0.5f, picture.grid.body.y, std::max(2.0f, cell.w + 1),
                          bottom - picture.grid.body.y},
                         scene.theme.focus, 1.5f);
    }
  canvas.pop_clip();
}

void draw_no_mask(Canvas& canvas, Rect area, const RowSource& source, const PanelInfo& panel,
                  const Scene& scene) {
  const float em = scene.em;
  const auto count = scene.capture->run().prompt_tokens.size();
  if (!source.is_target())
    return draw_empty_state(canvas, area, no_rows_text(source, scene), scene);
  if (scene.shown_step() != 0)
    return draw_empty_state(
        canvas, area,
        empty_text(scene.capture, panel, "The forward of this step comes next (F11)."), scene);
  // A token sees those before it, with a sliding window only the last of them.
  const std::int32_t window = scene.capture->run().sliding_window;
  const bool slides = window > 0 && static_cast<std::size_t>(window) < count;
  const std::string label = "Prefill: " + std::to_string(count) + " prompt tokens under " +
                            (slides ? "a causal mask with a window of " + counted(window, "token")
                                    : std::string("the plain causal mask")) +
                            ". The tree's rows begin with step 1.";
  const auto lines = wrap_text(canvas, label, dim_text(scene, 1), area.w - em * 3).size();
  const float text = em * (1.4f * static_cast<float>(lines) + 1);
  const float size = std::min({area.w - em * 3, area.h - text - em * 1.5f, em * 24});
  const bool shown = size > em * 3;
  if (shown) {
    const float x = area.x + (area.w - size) / 2, y = area.y + em;
    canvas.fill_rect({x, y, size, size}, scene.theme.grid.with_alpha(0.55f));
    // Small prompts are drawn cell by cell.
    if (count > 0 && size / static_cast<float>(count) >= 5) {
      const float cell = size / static_cast<float>(count);
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t c = slides && r + 1 > static_cast<std::size_t>(window)
                                 ? r + 1 - static_cast<std::size_t>(window)
                                 : 0;
             c <= r; ++c)
          canvas.fill_rect({x + static_cast<float>(c) * cell + 0.5f,
                            y + static_cast<float>(r) * cell + 0.5f, cell - 1, cell - 1},
                           scene.theme.accent.with_alpha(c == r ? 1.0f : 0.42f));
    } else {
      // It is a triangle, or a band below the diagonal that is as high as the window.
      const float band =
          slides ? size * static_cast<float>(window) / static_cast<float>(count) : size;
      const Point seen[] = {
          {x, y}, {x + size, y + size}, {x + size - band, y + size}, {x, y + band}};
      canvas.fill_polygon(seen, scene.theme.accent.with_alpha(0.42f));
      canvas.line({x, y}, {x + size, y + size}, scene.theme.accent, 2);
    }
    canvas.stroke_rect({x, y, size, size}, scene.theme.border);
  }
  draw_empty_state(canvas,
                   {area.x, shown ? area.bottom() - text : area.y, area.w, shown ? text : area.h},
                   label, scene);
}

}  // namespace triescope::viz
