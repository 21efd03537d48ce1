// The lesson pane's help for authors: a mistake in the present file, and the lines that are being
// recorded.
#include <algorithm>

#include "app/window/lessons/lesson_card.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMostFindings = 5;

void draw_mistake(Ui& ui, float width) {
  const viz::Mark mark = ui.theme.mark(capture::NodeState::kRejected);
  LessonCard card(ui, width, mark.color);
  marked_line(ui, mark, "The file cannot be read as it is now");
  ImGui::TextUnformatted(ui.workspace.lesson.mistake().c_str());
  ImGui::TextDisabled("Below is the last version that could be read.");
  name_part(ui, "mistake");
}

// Lists the findings about the file, with their lines.
void draw_findings(Ui& ui, float width) {
  const LessonPlayer& lesson = ui.workspace.lesson;
  const auto& findings = lesson.findings();
  const viz::Mark mark = ui.theme.mark(capture::NodeState::kRejected);
  LessonCard card(ui, width, mark.color);
  marked_line(ui, mark,
              findings.size() == 1
                  ? "A line does not hold against the run"
                  : std::to_string(findings.size()) + " lines do not hold against the run");
  for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i)
    ImGui::TextUnformatted(
        (lesson.lesson().file + ":" + std::to_string(findings[i].line) + ": " + findings[i].text)
            .c_str());
  if (findings.size() > kMostFindings)
    ImGui::TextDisabled("`triescope lesson check` says the others.");
  name_part(ui, "findings");
}

void draw_recorder(Ui& ui, float width) {
  LessonPlayer& lesson = ui.workspace.lesson;
  LessonCard card(ui, width, ui.theme.accent);
  bold_line(ui, "Recording what the window shows");
  ImGui::PushFont(ui.fonts.mono, ui.em * 0.92f);
  for (const std::string& line : lesson.recorder()->lines()) ImGui::TextUnformatted(line.c_str());
  ImGui::PopFont();
  if (command_button(ui, "lesson-record", "Copy as a do block")) return;
  name_part(ui, "record");
  ImGui::SameLine();
  if (ImGui::Button("Discard")) lesson.stop_recording();
  name_part(ui, "discard");
}

}  // namespace

void draw_writing(Ui& ui, float width) {
  LessonPlayer& lesson = ui.workspace.lesson;
  if (!lesson.mistake().empty())
    draw_mistake(ui, width);
  else if (!lesson.findings().empty())
    draw_findings(ui, width);
  if (lesson.recorder()) draw_recorder(ui, width);
}

}  // namespace triescope::app
