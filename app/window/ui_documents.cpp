// A tab for every open capture.
#include "app/window/ui_frame.h"
#include "viz/query/run_settings.h"

namespace triescope::app {

namespace {

std::uint64_t serial_of(const Document* document) { return document ? document->serial : 0; }

}  // namespace

void draw_documents(Ui& ui) {
  if (ui.workspace.documents.all().size() < 2 && !ui.workspace.active()) return;
  // A document that was made active elsewhere, or is new, gets its tab selected. A clicked tab makes its
  // document active. Serials are compared, because a document may be gone.
  if (!ImGui::BeginTabBar("documents", ImGuiTabBarFlags_FittingPolicyScroll)) return;
  const std::uint64_t active = serial_of(ui.workspace.active());
  Document* closing = nullptr;
  for (const auto& document : ui.workspace.documents.all()) {
    bool open = true;
    const bool select = document.get() == ui.workspace.active() && ui.state.tab_shown != active;
    const std::string label = document->title + "###document" + std::to_string(document->serial);
    const bool shown =
        ImGui::BeginTabItem(label.c_str(), &open, select ? ImGuiTabItemFlags_SetSelected : 0);
    const capture::RunInfo& run = document->capture->run();
    help_tooltip(document->path + "\nmethod " + run.method + "\n" + viz::settings_text(run), ui.em);
    if (shown) {
      if (!select && ui.state.tab_shown == active) ui.workspace.documents.activate(document.get());
      ImGui::EndTabItem();
    }
    if (!open) closing = document.get();
  }
  ui.state.tab_shown = serial_of(ui.workspace.active());
  ImGui::EndTabBar();
  if (closing) ui.workspace.run.close(closing);
}

}  // namespace triescope::app
