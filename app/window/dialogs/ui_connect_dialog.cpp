// The dialog that connects the window to a decoder on another machine.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <cfloat>

#include "app/window/dialogs/ui_dialogs.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

// A field below its name.
bool text_row(Ui& ui, const char* name, const char* id, const char* hint, std::string& text) {
  ImGui::TextUnformatted(name);
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool entered =
      ImGui::InputTextWithHint(id, hint, &text, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::Dummy(ImVec2(0, ui.em * 0.2f));
  return entered;
}

void list_recent_hosts(Ui& ui, std::string& host) {
  const std::vector<std::string>& recent = ui.workspace.preferences.recent_hosts;
  if (recent.empty()) return;
  ImGui::TextDisabled("Recent");
  for (const std::string& one : recent)
    if (ImGui::Selectable((one + "###recent " + one).c_str(), one == host,
                          ImGuiSelectableFlags_NoAutoClosePopups))
      host = one;
  ImGui::Dummy(ImVec2(0, ui.em * 0.2f));
}

}  // namespace

bool draw_connect(Ui& ui) {
  auto& [host, program, session, watch] = ui.state.dialogs.connect;
  Connection& connection = ui.workspace.connection;
  if (ui.state.dialog_just_opened) {
    const std::vector<std::string>& recent = ui.workspace.preferences.recent_hosts;
    if (host.empty() && !recent.empty()) host = recent.front();
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "Runs are decoded there and shown here. triescope is started over ssh, so `ssh HOST` must work "
      "without a question. Nothing listens on a port.");
  ImGui::PopTextWrapPos();
  ImGui::Dummy(ImVec2(0, ui.em * 0.2f));
  const bool waits = connection.under_way();
  ImGui::BeginDisabled(waits);
  bool go = text_row(ui, "Host", "##host", "user@host, or a name of ~/.ssh/config", host);
  list_recent_hosts(ui, host);
  go |= text_row(ui, "triescope there", "##program", "triescope", program);
  go |= text_row(ui, "Session", "##session", "a new one", session);
  help_tooltip("The name of a session that runs there, as `triescope serve --list` shows it.",
               ui.em);
  ImGui::BeginDisabled(session.empty());
  ImGui::Checkbox("Watch only", &watch);
  ImGui::EndDisabled();
  ImGui::EndDisabled();
  if (!connection.problem().empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(problem_color(ui)));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(("✕ " + connection.problem()).c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  }
  if (waits) {
    if (ImGui::Button("Cancel")) connection.cancel();
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(("connecting to " + host + " …").c_str());
  } else {
    ImGui::BeginDisabled(host.empty());
    go |= ImGui::Button("Connect");
    ImGui::EndDisabled();
    if (go && !host.empty()) {
      ui.state.dialogs.connect_lines = connection.lines();
      connection.connect({.host = host,
                          .program = program.empty() ? "triescope" : program,
                          .attach = session,
                          .watch = watch && !session.empty()});
    }
  }
  // It closes once the line stands.
  return ui.state.dialogs.connect_lines >= 0 &&
         connection.lines() > ui.state.dialogs.connect_lines && !waits;
}

}  // namespace triescope::app
