// The list of lessons to choose from, on the start screen and in a dialog.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/lessons/ui_lesson.h"
#include "app/window/shell/style.h"
#include "viz/draw/drawing.h"

namespace triescope::app {
namespace {

// Marks a lesson as not begun (an empty circle), begun (a half one) or finished (a tick).
void draw_state(Ui& ui, viz::Canvas& canvas, viz::Point at, bool finished, bool begun) {
  const viz::Mark done = ui.theme.mark(capture::NodeState::kAccepted);
  const float em = ui.em, r = em * 0.28f;
  if (finished) return viz::draw_glyph(canvas, done.glyph, at, em * 0.75f, done.color);
  if (begun) {
    canvas.push_clip({at.x - r, at.y - r, r, 2 * r});
    canvas.fill_circle(at, r, done.color);
    canvas.pop_clip();
  }
  canvas.stroke_circle(at, r, begun ? done.color : ui.theme.text_dim, begun ? 1.5f : 1);
}

// `number` is the place in the list, from 1.
bool draw_row(Ui& ui, const LibraryLesson& one, std::size_t number, float width) {
  const lessons::FrontMatter& about = one.lesson.about;
  const bool finished = ui.workspace.preferences.finished_lessons.count(one.id) > 0;
  const float em = ui.em, pad = em * 0.4f, minutes_width = em * 4.5f;
  const float text_width = width - 2 * pad;
  const ImVec2 summary =
      ImGui::CalcTextSize(about.summary.c_str(), nullptr, false, text_width - em * 1.3f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size(width, std::ceil(em * 1.6f + summary.y + pad));
  ImGui::PushID(one.id.c_str());
  const bool pressed = ImGui::InvisibleButton("lesson", size, ImGuiButtonFlags_EnableNav);
  const bool over = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  name_part(ui, one.id);
  ImGui::PopID();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  if (over)
    list->AddRectFilled(at, ImVec2(at.x + size.x, at.y + size.y), to_imgui(ui.theme.raised),
                        em * 0.25f);
  viz::ImGuiCanvas canvas(list, ui.fonts);
  const float x = at.x + pad, y = at.y + pad * 0.6f;
  const LessonProgress* const progress = ui.workspace.lesson.progress_of(one.id);
  const std::string answered = progress ? answered_text(*progress, one.lesson) : "";
  draw_state(ui, canvas, {x + em * 0.4f, y + em * 0.55f}, finished, !answered.empty());
  const viz::TextStyle title{viz::FontFace::kUiBold, em, ui.theme.text};
  const viz::TextStyle dim{viz::FontFace::kUi, em, ui.theme.text_dim};
  const std::string right = (answered.empty() || finished ? "" : answered + "  ·  ") +
                            std::to_string(about.minutes) + " min";
  const float right_width = std::max(minutes_width, canvas.measure(right, dim).x + em * 0.6f);
  canvas.text({x + em * 1.3f, y},
              viz::fit_text(canvas, std::to_string(number) + "  " + about.title, title,
                            text_width - em * 1.3f - right_width),
              title);
  canvas.text({at.x + width - pad - canvas.measure(right, dim).x, y}, right, dim);
  list->AddText(nullptr, 0, ImVec2(x + em * 1.3f, y + em * 1.3f), to_imgui(ui.theme.text_dim),
                about.summary.c_str(), nullptr, text_width - em * 1.3f);
  return pressed;
}

}  // namespace

bool draw_lesson_list(Ui& ui, float width) {
  if (!ui.state.lessons) {
    std::vector<std::string> problems;
    ui.state.lessons = library_lessons(problems);
    for (const std::string& problem : problems) ui.workspace.say(LogLevel::kError, problem);
  }
  std::string chosen;
  std::size_t number = 0;
  for (const LibraryLesson& one : *ui.state.lessons)
    if (draw_row(ui, one, ++number, width)) chosen = one.file;
  if (chosen.empty()) return false;
  ui.workspace.open_lesson(chosen);
  return true;
}

}  // namespace triescope::app
