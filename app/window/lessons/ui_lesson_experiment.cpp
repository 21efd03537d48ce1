// An experiment in the lesson pane: the setup, the chart, chi-square, and the verdict.
#include <algorithm>

#include "app/lesson/lesson_words.h"
#include "app/window/lessons/experiment_chart.h"
#include "app/window/lessons/lesson_card.h"
#include "app/window/shell/style.h"
#include "viz/canvas/imgui_canvas.h"

namespace triescope::app {
void draw_experiment(Ui& ui, std::size_t piece, const lessons::Experiment& experiment, float width,
                     int& links) {
  LessonPlayer& lesson = ui.workspace.lesson;
  LessonCard card(ui, width, ui.theme.text_dim);
  draw_bold_text(ui, experiment.text, card.inner(), links);
  ImGui::TextUnformatted(rule_words(experiment.rule));
  const ExperimentTask* const task = lesson.experiment(piece);
  if (!task) return ImGui::TextDisabled("This experiment cannot be drawn with this run.");
  const Later<ExperimentResult>& drawing = task->drawing;
  ExperimentChart chart{
      .names = {},
      .result = drawing.done() && drawing.error().empty() ? &drawing.value() : nullptr,
      .expected = expected_of(task->setup),
      .draws = task->setup.draws,
      .theme = ui.theme,
      .em = ui.em};
  for (const lessons::Value& name : task->setup.names) chart.names.push_back(shown_value(name));
  // The verdict's place is kept while draws are under way, so that the chart does not move.
  const ImVec2 top = ImGui::GetCursorScreenPos();
  if (chart.result)
    marked_line(ui,
                ui.theme.mark(chart.result->agrees() ? capture::NodeState::kAccepted
                                                     : capture::NodeState::kRejected),
                verdict_words(*chart.result));
  else
    ImGui::TextDisabled("Drawing …");
  const float least = top.y + 2 * ImGui::GetTextLineHeight() + ui.em * 0.5f;
  const ImVec2 at(top.x, std::max(ImGui::GetCursorScreenPos().y + ui.em * 0.2f, least));
  ImGui::SetCursorScreenPos(at);
  const viz::Rect area{at.x, at.y, card.inner(), experiment_chart_height(chart)};
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  draw_experiment_chart(canvas, area, chart);
  ui.note_text(canvas.smallest_text());
  ImGui::Dummy(ImVec2(area.w, area.h));
  if (!drawing.done()) return;
  if (!chart.result) return ImGui::TextUnformatted(drawing.error().c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
  ImGui::TextUnformatted(figures_text(*chart.result, chart.draws).c_str());
  ImGui::PopStyleColor();
  const std::string again = "Draw another " + shown_value(static_cast<double>(chart.draws));
  if (ImGui::SmallButton(again.c_str())) {
    lesson.draw_again(piece);
    ui.animating = true;
  }
  name_part(ui, "draw again");
}

}  // namespace triescope::app
