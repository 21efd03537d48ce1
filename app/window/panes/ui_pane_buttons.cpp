// The buttons at the right of a pane's tabs: about the panel, zoom and fit, export, maximise. All
// but the question mark are drawn as lines and need no font.
#include <cmath>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

constexpr float kButtonEm = 1.5f, kPadEm = 0.45f, kTabListEm = 1.9f;  // the list of hidden tabs

// The popup that the question mark opens.
void draw_about_panel(Ui& ui, const viz::PanelInfo& info) {
  ImGui::SetNextWindowSize(ImVec2(ui.em * 30, 0));
  if (!ImGui::BeginPopup("about this panel")) return;
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(info.title.c_str());
  ImGui::PopFont();
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(info.help.c_str());
  ImGui::Spacing();
  ImGui::TextUnformatted(("Try: " + info.to_try).c_str());
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
  if (ImGui::Button("Glossary  Shift+F1")) {
    ui.state.open(Dialog::kGlossary);
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace

float pane_buttons_width(const Ui& ui, bool zooms) {
  return ui.em * (kButtonEm * (zooms ? 6 : 3) + kPadEm + kTabListEm);
}

void draw_pane_buttons(Ui& ui, PaneNode& pane, const viz::Panel* front, viz::Rect header,
                       bool zooms, bool floats) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImU32 ink = to_imgui(ui.theme.text_dim);
  const float button = ui.em * kButtonEm, r = ui.em * 0.34f;
  float right = header.right() - ui.em * kPadEm * 0.5f;
  // Places the next button to the left; `middle` is the middle of its sign.
  ImVec2 middle;
  const auto pressed = [&](const char* id, const char* help) {
    right -= button;
    const ImVec2 at(right, header.y + (header.h - button) / 2);
    middle = ImVec2(at.x + button / 2, header.y + header.h / 2);
    ImGui::SetCursorScreenPos(at);
    const bool was = ImGui::InvisibleButton(id, ImVec2(button, button), ImGuiButtonFlags_EnableNav);
    name_part(ui, std::string(id) + (front ? " " + front->info().name : ""));
    if (ImGui::IsItemHovered())
      list->AddRectFilled(at, ImVec2(at.x + button, at.y + button), to_imgui(ui.theme.raised),
                          ui.em * 0.2f);
    help_tooltip(help, ui.em);
    return was;
  };
  const auto line = [&](float x0, float y0, float x1, float y1) {
    list->AddLine(ImVec2(middle.x + x0 * r, middle.y + y0 * r),
                  ImVec2(middle.x + x1 * r, middle.y + y1 * r), ink, 1.5f);
  };
  const auto key = [&](bool PanelKeys::*which) {
    ui.state.panel_keys.*which = true;
    ui.state.panel_keys.panel = pane.active;
    ui.animating = true;  // takes effect in the next frame
  };

  const bool is_maximised = !floats && !ui.workspace.layouts.maximised.empty();
  if (floats) {
    right -= button;
  } else {
    if (pressed("maximise", is_maximised ? "Back to the panes  Ctrl+M" : "Maximise  Ctrl+M")) {
      ui.workspace.layouts.maximised = is_maximised ? "" : pane.active;
      ui.animating = true;
    }
    // The sign is a frame, and a frame within a frame while the pane is maximised.
    list->AddRect(ImVec2(middle.x - r, middle.y - r), ImVec2(middle.x + r, middle.y + r), ink, 0,
                  1.5f);
    if (is_maximised)
      list->AddRectFilled(ImVec2(middle.x - r * 0.4f, middle.y - r * 0.4f),
                          ImVec2(middle.x + r * 0.4f, middle.y + r * 0.4f), ink);
  }
  right -= ui.em * kPadEm * 0.5f;
  if (pressed("export", "Export this panel: SVG, PDF, PNG, CSV  Ctrl+E")) {
    ui.state.export_panel = pane.active;
    ui.state.open(Dialog::kExport);
  }
  line(0, -1, 0, 0.5f);  // an arrow onto a line
  line(-0.6f, -0.1f, 0, 0.55f);
  line(0.6f, -0.1f, 0, 0.55f);
  line(-1, 1, 1, 1);
  if (zooms) {
    if (pressed("fit", "Fit: the whole picture, or follow again  F")) key(&PanelKeys::fit);
    for (const float x : {-1.0f, 1.0f})  // four corners
      for (const float y : {-1.0f, 1.0f}) {
        line(x, y, x * 0.35f, y);
        line(x, y, x, y * 0.35f);
      }
    if (pressed("zoom in", "Zoom in  W, or the wheel")) key(&PanelKeys::zoom_in);
    line(-0.8f, 0, 0.8f, 0);
    line(0, -0.8f, 0, 0.8f);
    if (pressed("zoom out", "Zoom out  S, or the wheel")) key(&PanelKeys::zoom_out);
    line(-0.8f, 0, 0.8f, 0);
  }
  if (!front) return;
  if (pressed("about", "What this panel shows, and what to try with it"))
    ImGui::OpenPopup("about this panel");
  const ImVec2 sign = ImGui::CalcTextSize("?");
  list->AddText(ImVec2(middle.x - sign.x / 2, middle.y - sign.y / 2), ink, "?");
  draw_about_panel(ui, front->info());
}

}  // namespace triescope::app
