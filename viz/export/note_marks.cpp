#include "viz/export/note_marks.h"

#include <algorithm>
#include <cmath>

#include "viz/canvas/common_rect.h"
#include "viz/draw/drawing.h"
#include "viz/export/note_places.h"

namespace triescope::viz {
namespace {

constexpr float kNoteMarkEm = 0.62f;  // the radius of a mark

struct Note {
  std::int32_t step = 0;
  std::vector<std::int32_t> nodes = {};  // that the text had reached
  std::string words = {};
};

std::vector<Note> notes_of(const Scene& scene) {
  std::vector<capture::Bookmark> bookmarks;
  for (const capture::Bookmark& one : scene.capture->bookmarks())
    if (one.tick > 0 && one.tick <= scene.cursor && scene.in_range(capture::step_of(one.tick - 1)))
      bookmarks.push_back(one);
  std::ranges::stable_sort(bookmarks, {}, &capture::Bookmark::tick);
  std::vector<Note> notes;
  for (const capture::Bookmark& one : bookmarks) {
    Note note{.step = capture::step_of(one.tick - 1)};
    for (const std::int32_t step : {note.step, note.step - 1})
      for (const capture::FrontierRow& row : scene.capture->frontier(step))
        note.nodes.push_back(row.node);
    note.words = "step " + std::to_string(note.step) + (one.note.empty() ? "" : ": " + one.note);
    notes.push_back(std::move(note));
  }
  return notes;
}

// Moves a mark of a step below letters that it would cover, and ends its line above those below it.
void keep_off(NoteMark& mark, const std::vector<Rect>& texts, float em) {
  const float r = em * kNoteMarkEm;
  for (int tries = 0; tries < 4; ++tries)
    for (const Rect& text : texts)
      if (overlap({mark.at.x - r, mark.at.y - r, 2 * r, 2 * r}, text))
        mark.at.y = text.bottom() + r + 1;
  for (const Rect& text : texts)
    if (text.y > mark.at.y && text.x <= mark.at.x && mark.at.x <= text.right())
      mark.foot = std::min(mark.foot, text.y);
}

// A mark that would lie on another goes below it.
void set_apart(std::vector<NoteMark>& marks, float em) {
  for (std::size_t i = 0; i < marks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::abs(marks[i].at.x - marks[j].at.x) < em * 2.2f * kNoteMarkEm &&
          std::abs(marks[i].at.y - marks[j].at.y) < em * 2.2f * kNoteMarkEm)
        marks[i].at.y = marks[j].at.y + em * 2.2f * kNoteMarkEm;
}

}  // namespace

std::vector<NoteMark> note_marks(Panel& panel, Rect area, const Scene& scene, Canvas& measure) {
  std::vector<NoteMark> marks;
  if (!scene.capture) return marks;
  const std::vector<Note> notes = notes_of(scene);
  if (notes.empty()) return marks;
  const std::string state = panel.view_state();  // a click may change it
  BoxCanvas canvas(measure);
  panel.draw(canvas, area, scene);
  std::vector<std::int32_t> nodes;
  for (const Note& note : notes) nodes.insert(nodes.end(), note.nodes.begin(), note.nodes.end());
  const auto boxes = node_boxes(panel, area, scene, canvas.boxes(), nodes);
  const auto plot = boxes.empty() ? step_plot(panel, area, scene) : std::nullopt;
  panel.set_view_state(state);
  const float inset = scene.em * (kNoteMarkEm + 0.1f);
  for (const Note& note : notes) {
    NoteMark mark{.number = static_cast<int>(marks.size()) + 1, .at = {}, .words = note.words};
    const auto drawn =
        std::ranges::find_if(note.nodes, [&](std::int32_t node) { return boxes.contains(node); });
    if (drawn != note.nodes.end()) {
      const Rect box = boxes.at(*drawn);
      mark.at = {box.x, box.y - scene.em * 0.2f};  // most of the node's own letters stay free
    } else if (plot && plot->middles.contains(note.step)) {
      mark.at = {plot->middles.at(note.step), plot->plot.y + inset};
      mark.foot = plot->plot.bottom();
      keep_off(mark, canvas.texts(), scene.em);
    } else {
      continue;
    }
    mark.at.x =
        std::clamp(mark.at.x, area.x + inset, std::max(area.x + inset, area.right() - inset));
    mark.at.y =
        std::clamp(mark.at.y, area.y + inset, std::max(area.y + inset, area.bottom() - inset));
    marks.push_back(std::move(mark));
  }
  set_apart(marks, scene.em);
  return marks;
}

namespace {

void draw_mark(Canvas& canvas, Point at, int number, const Scene& scene) {
  const float em = scene.em, radius = em * kNoteMarkEm;
  canvas.fill_circle(at, radius + em * 0.1f, scene.theme.background);
  canvas.fill_circle(at, radius, scene.theme.text);
  TextStyle style = bold_text(scene, 0.74f);
  style.color = scene.theme.background;
  text_in(canvas, {at.x - radius * 1.5f, at.y - radius, radius * 3, radius * 2},
          std::to_string(number), style, Align::kCenter);
}

}  // namespace

void draw_note_marks(Canvas& canvas, Rect area, const std::vector<NoteMark>& marks,
                     const Scene& scene) {
  canvas.push_clip(area);
  for (const NoteMark& mark : marks)
    if (mark.foot > mark.at.y)
      canvas.line(mark.at, {mark.at.x, mark.foot}, scene.theme.text.with_alpha(0.6f), 1,
                  LineStyle::kDotted);
  for (const NoteMark& mark : marks) draw_mark(canvas, mark.at, mark.number, scene);
  canvas.pop_clip();
}

float draw_notes(Canvas& canvas, Rect area, const std::vector<NoteMark>& marks, const Scene& scene,
                 bool draws) {
  const float em = scene.em, row = em * 1.5f, left = em * 1.8f;
  const TextStyle style = ui_text(scene, 0.86f);
  float y = area.y + em * 0.3f;
  for (const NoteMark& mark : marks) {
    if (draws) draw_mark(canvas, {area.x + em * 0.8f, y + row / 2}, mark.number, scene);
    for (const std::string& line : wrap_text(canvas, mark.words, style, area.w - left)) {
      if (draws) text_in(canvas, {area.x + left, y, area.w - left, row}, line, style);
      y += row;
    }
  }
  return marks.empty() ? 0 : y - area.y + em * 0.3f;
}

}  // namespace triescope::viz
