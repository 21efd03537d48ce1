// The menu of a tab, by right click or by the Menu key while the tab has the focus: where the panel
// goes, its picture, and what of it is shown.
#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"

namespace triescope::app {

void draw_tab_menu(Ui& ui, const std::string& name, Document& document) {
  if (!ImGui::BeginPopupContextItem("tab menu")) return;
  const auto move = [&](const char* label, PaneMove where) {
    if (ImGui::MenuItem(label)) ui.state.move_panel = {name, where};
  };
  move("To the next pane", PaneMove::kNextPane);
  move("To the right of this pane", PaneMove::kRight);
  move("Below this pane", PaneMove::kBelow);
  if (ImGui::MenuItem("Into a window of its own")) ui.state.undock = name;
  if (ImGui::MenuItem("Maximise")) ui.workspace.layouts.maximised = name;
  ImGui::Separator();
  if (ImGui::MenuItem("Save picture…")) ui.state.open_picture(name);
  help_tooltip("As a PNG; asks where. The file's path goes to the clipboard.", ui.em);
  if (ImGui::MenuItem("Export…")) {
    ui.state.export_panel = name;
    ui.state.open(Dialog::kExport);
  }
  // The key acts on this panel, not on the one that the mouse was over.
  const auto key = [&](const char* label, const char* chord, bool PanelKeys::*which) {
    if (!ImGui::MenuItem(label, chord)) return;
    ui.state.panel_keys.*which = true;
    ui.state.panel_keys.panel = name;
  };
  ImGui::Separator();
  key("Fit", "F", &PanelKeys::fit);
  key("Zoom in", "W", &PanelKeys::zoom_in);
  key("Zoom out", "S", &PanelKeys::zoom_out);
  if (name == "trie" || name == "text") key("Fold, the next way", "Z", &PanelKeys::fold);
  viz::Panel* const panel = document.panel(name);
  viz::Scene scene;
  scene.capture = document.capture.get();
  scene.cursor = document.cursor;
  const auto curves =
      panel && scene.capture ? panel->curves(scene) : std::vector<viz::Panel::Curve>{};
  if (!curves.empty()) ImGui::SeparatorText("Shown");
  for (const viz::Panel::Curve& curve : curves)
    if (ImGui::MenuItem(curve.name.c_str(), nullptr, curve.is_shown)) panel->flip_curve(curve.name);
  ImGui::EndPopup();
}

}  // namespace triescope::app
