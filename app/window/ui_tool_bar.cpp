// The tool bar: the commands of a run, and where the cursor stands.
#include <algorithm>
#include <string>
#include <vector>

#include "app/window/shell/line_fit.h"
#include "app/window/shell/style.h"
#include "app/window/ui_frame.h"
#include "core/base/counted.h"

namespace triescope::app {

namespace {

// The number of breakpoints, always in the same place; lit while one of them holds the run.
void draw_breakpoint_button(Ui& ui) {
  const auto& points = ui.workspace.run.breakpoints();
  const auto active = std::ranges::count(points, true, &Breakpoint::enabled);
  const bool hit =
      !ui.workspace.transport.stop_reason().empty() && ui.workspace.live().memory_refused.empty();
  const viz::Color star = ui.theme.legible(ui.theme.mark(capture::NodeState::kBonus).color);
  const std::string label = "● " + std::to_string(active) + "###breakpoints";
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(active > 0 ? star : ui.theme.text_dim));
  if (hit) ImGui::PushStyleColor(ImGuiCol_Button, to_imgui_vec(star.with_alpha(0.25f)));
  if (ImGui::Button(label.c_str())) ui.state.open(Dialog::kBreakpoints);
  ImGui::PopStyleColor(hit ? 2 : 1);
  std::string help = "Breakpoints  F9";
  for (const Breakpoint& point : points)
    help += "\n" + std::string(point.enabled ? "● " : "○ ") + describe(point);
  if (points.empty()) help += "\nNone yet: a run stops at its end.";
  if (active > 0) help += "\nF4, Shift+F4: to the next recorded place, to the one before.";
  help_tooltip(help, ui.em);
}

}  // namespace

void draw_tool_bar(Ui& ui) {
  const LiveStatus& live = ui.workspace.live();
  const Document* document = ui.workspace.active();
  const bool running = ui.workspace.documents.active_is_live() && live.state == LiveState::kRunning;
  const bool playing = document && document->playing;

  command_button(ui, "run-bar",
                 ui.state.run_bar_open(ui.workspace.preferences) ? "‹ Run bar" : "Run bar ›");
  ImGui::SameLine();
  command_button(ui, "start", "Start", /*primary=*/document && !ui.workspace.transport.can_step());
  ImGui::SameLine(0, ui.em);
  command_button(ui, "back", "‹ Back");
  ImGui::SameLine();
  command_button(ui, "step", "Step ›",
                 /*primary=*/document && !running && ui.workspace.transport.can_step());
  ImGui::SameLine();
  command_button(ui, "step-phase", "Phase ›");
  ImGui::SameLine();
  // The button is as wide for both labels, so that the bar does not jump.
  const ImVec2 run_size(ImGui::CalcTextSize("Pause").x + ImGui::GetStyle().FramePadding.x * 2, 0);
  // A live run is decoded ("Run"); a finished one is played back ("Play").
  const bool decodes =
      !document || (ui.workspace.documents.active_is_live() && live.state != LiveState::kDone);
  if (ImGui::Button(running || playing ? "Pause" : decodes ? "Run" : "Play", run_size))
    ui.workspace.transport.toggle_run();
  help_tooltip(running   ? std::string("Pauses after the phase under way  F5")
               : playing ? "Stops playing  F5"
               : decodes ? "Decodes on to the end of the run, or to a breakpoint  F5"
                         : "Plays the recorded steps back, to a breakpoint or the end; nothing is "
                           "decoded  F5\nSpeed: " +
                               play_speed_text(ui.workspace.preferences.play_speed),
               ui.em);
  ImGui::SameLine();
  command_button(ui, "stop", "Stop");
  ImGui::SameLine();
  command_button(ui, "restart", "Restart");
  ImGui::SameLine();
  draw_breakpoint_button(ui);
  ImGui::SameLine(0, ui.em);
  if (!document) {
    ImGui::NewLine();
    return;
  }

  // The cursor's position, and the way back to the newest tick.
  const capture::Tick end = document->capture->end_tick();
  const bool now = document->cursor >= end;
  const bool over =
      now && (!ui.workspace.documents.active_is_live() || live.state == LiveState::kDone);
  // In a narrow bar the step itself matters more than the words.
  std::vector<std::string> positions;
  if (over) {
    const std::int32_t count = document->capture->last_step() + 1;
    const std::string steps = counted(count, "step");
    if (document->capture->status() == capture::RunStatus::kStopped)
      positions = {"stopped after " + steps, "stopped, " + std::to_string(count)};
    else
      positions = {"end, " + steps, "end, " + std::to_string(count)};
  } else {
    const std::string step = std::to_string(capture::step_of(document->cursor)) + ", " +
                             capture::to_string(capture::phase_of(document->cursor));
    positions = {"next: step " + step, "step " + step, step};
  }
  ImGui::AlignTextToFramePadding();
  line_fitted(wording_that_fits(positions, ImGui::GetContentRegionAvail().x, line_width),
              positions.front());
  help_tooltip("The cursor shows what comes next. Everything on screen is the state before it.",
               ui.em);
  if (document && ui.workspace.documents.origin_of(*document)) {
    ImGui::SameLine(0, ui.em);
    command_button(ui, "compare-origin", "Compare with origin");
  }
  if (!now || !document->follow) {
    const std::string back = ui.workspace.documents.active_is_live() ? "Back to now" : "To the end";
    const int steps = std::max(0, capture::step_of(end) - capture::step_of(document->cursor));
    const auto phases = static_cast<int>(end - document->cursor);
    const std::string ahead =
        now ? ""
            : " (" + (steps > 0 ? counted(steps, "step") : counted(phases, "phase")) + " ahead)";
    ImGui::SameLine(0, ui.em);
    const float room = ImGui::GetContentRegionAvail().x - 2 * ImGui::GetStyle().FramePadding.x;
    const auto fits = [&](const std::string& label) {
      return ImGui::CalcTextSize(label.c_str()).x <= room;
    };
    // Where even the short form does not fit, the key and the menu remain.
    if (fits(back)) {
      ImGui::BeginDisabled(now);
      if (ImGui::Button((back + (fits(back + ahead) ? ahead : "") + "###follow").c_str()))
        ui.workspace.documents.follow();
      ImGui::EndDisabled();
      help_tooltip(back + ahead, ui.em);
    } else {
      return ImGui::NewLine();
    }
  }
  // In a narrow window the status line says the reason.
  if (ui.state.narrow || ui.workspace.transport.stop_reason().empty()) return;
  ImGui::SameLine(0, ui.em);
  draw_break_reason(ui, ImGui::GetContentRegionAvail().x);
}

}  // namespace triescope::app
