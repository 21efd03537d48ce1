// What the lesson pane shows those who write the lesson: a mistake in its file as it is now, and the
// lines that are being recorded.
#include "app/window/lesson_card.h"
#include "app/window/style.h"
#include "viz/canvas/imgui_canvas.h"
#include "viz/look/drawing.h"

namespace triescope::app {
namespace {

void draw_mistake(Ui& ui, float width) {
  const viz::Mark mark = ui.theme.mark(capture::NodeState::kRejected);
  LessonCard card(ui, width, mark.color);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  viz::draw_glyph(canvas, mark.glyph, {at.x + ui.em * 0.5f, at.y + ui.em * 0.62f}, ui.em * 0.85f,
                  mark.color);
  ImGui::SetCursorScreenPos(ImVec2(at.x + ui.em * 1.4f, at.y));
  bold_line(ui, "The file cannot be read as it is now");
  ImGui::TextUnformatted(ui.workspace.lesson.mistake().c_str());
  ImGui::TextDisabled("Below is the last version that could be read.");
  target(ui, "mistake");
}

void draw_recorder(Ui& ui, float width) {
  LessonPlayer& lesson = ui.workspace.lesson;
  LessonCard card(ui, width, ui.theme.accent);
  bold_line(ui, "Recording what the window shows");
  ImGui::PushFont(ui.fonts.mono, ui.em * 0.92f);
  for (const std::string& line : lesson.recorder()->lines()) ImGui::TextUnformatted(line.c_str());
  ImGui::PopFont();
  if (command_button(ui, "lesson-record", "Copy as a do block")) return;
  target(ui, "record");
  ImGui::SameLine();
  if (ImGui::Button("Discard")) lesson.stop_recording();
  target(ui, "discard");
}

}  // namespace

void draw_writing(Ui& ui, float width) {
  LessonPlayer& lesson = ui.workspace.lesson;
  if (!lesson.mistake().empty()) draw_mistake(ui, width);
  if (lesson.recorder()) draw_recorder(ui, width);
}

}  // namespace triescope::app
