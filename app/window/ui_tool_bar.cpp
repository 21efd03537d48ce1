// The tool bar: the commands of a run, and where the cursor stands.
#include <algorithm>
#include <cstdio>

#include "app/window/ui_parts.h"
#include "core/base/counted.h"

namespace triescope::app {

void draw_tool_bar(Ui& ui) {
  const LiveStatus& live = ui.workspace.live();
  const Document* document = ui.workspace.active();
  const bool running = ui.workspace.active_is_live() && live.state == LiveState::kRunning;
  const bool playing = document && document->playing;

  command_button(ui, "run-bar",
                 ui.state.run_bar_open(ui.workspace.preferences) ? "‹ Run bar" : "Run bar ›");
  ImGui::SameLine();
  command_button(ui, "start", "Start", /*primary=*/!document);
  ImGui::SameLine(0, ui.em);
  command_button(ui, "back", "‹ Back");
  ImGui::SameLine();
  command_button(ui, "step", "Step ›", /*primary=*/document && !running);
  ImGui::SameLine();
  command_button(ui, "step-phase", "Phase ›");
  ImGui::SameLine();
  // One width for both labels: the bar must not jump.
  const ImVec2 run_size(ImGui::CalcTextSize("Pause").x + ImGui::GetStyle().FramePadding.x * 2, 0);
  if (ImGui::Button(running || playing ? "Pause" : "Run", run_size)) ui.workspace.toggle_run();
  help_tooltip("Run or pause the decoder; a finished capture is replayed  F5", ui.em);
  ImGui::SameLine();
  command_button(ui, "stop", "Stop");
  ImGui::SameLine();
  command_button(ui, "restart", "Restart");
  ImGui::SameLine(0, ui.em);
  if (!document) {
    ImGui::NewLine();
    return;
  }

  // Where the cursor is, and the way back to now.
  const capture::Tick end = document->capture->end_tick();
  const bool now = document->cursor >= end;
  char position[96];
  const bool over = now && (!ui.workspace.active_is_live() || live.state == LiveState::kDone);
  if (over) {
    std::snprintf(position, sizeof position, "end, %s",
                  counted(document->capture->last_step() + 1, "step").c_str());
  } else {
    std::snprintf(position, sizeof position, "next: step %d, %s",
                  capture::step_of(document->cursor),
                  capture::to_string(capture::phase_of(document->cursor)));
  }
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(position);
  help_tooltip("The cursor shows what comes next. Everything on screen is the state before it.",
               ui.em);
  if (!now || !document->follow) {
    const std::string back = ui.workspace.active_is_live() ? "Back to now" : "To the end";
    const int steps = std::max(0, capture::step_of(end) - capture::step_of(document->cursor));
    const std::string ahead = " (" + counted(steps, "step") + " ahead)";
    ImGui::SameLine(0, ui.em);
    const float room = ImGui::GetContentRegionAvail().x - 2 * ImGui::GetStyle().FramePadding.x;
    const auto fits = [&](const std::string& label) {
      return ImGui::CalcTextSize(label.c_str()).x <= room;
    };
    // Where even the short form does not fit, the key and the menu remain.
    if (fits(back)) {
      ImGui::BeginDisabled(now);
      if (ImGui::Button((back + (fits(back + ahead) ? ahead : "") + "###follow").c_str()))
        ui.workspace.follow();
      ImGui::EndDisabled();
      help_tooltip(back + ahead, ui.em);
    } else {
      ImGui::NewLine();
    }
  }
}

}  // namespace triescope::app
