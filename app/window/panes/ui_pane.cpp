// A pane: the tabs of its panels and the panel in front. ui_pane_buttons.cpp draws its buttons,
// ui_tab_menu.cpp the menu of a tab.
#include <algorithm>
#include <cmath>

#include "app/window/compare/ui_compare.h"
#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"

namespace triescope::app {
void draw_pane(Ui& ui, PlacedPane& pane, Document& document, bool floats) {
  ImGui::PushID(pane.node);
  ImGui::SetCursorScreenPos(ImVec2(pane.area.x, pane.area.y));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, to_imgui_vec(ui.theme.surface));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild("pane", ImVec2(pane.area.w, pane.area.h), ImGuiChildFlags_NavFlattened,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();

  // The header has one tab per panel; tabs that do not fit go into a list.
  const float header = std::round(ui.em * 1.75f);
  const float pad = ui.em * 0.45f;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float x = origin.x + pad * 0.5f;
  std::vector<std::string> hidden;
  // The active tab must be visible: it is drawn first if the tabs do not all fit.
  float total = 0;
  const auto title_of = [&](const std::string& name) {
    const viz::Panel* panel = document.panel(name);
    return panel ? panel->info().title : name;
  };
  for (const std::string& name : pane.panels)
    total += ImGui::CalcTextSize(title_of(name).c_str()).x + pad * 2;
  // Zoom buttons are drawn only where they take no tab's room; keys and the tab's menu zoom too.
  const viz::Panel* const front = document.panel(pane.node->active);
  const bool zooms = front && front->info().zooms &&
                     total + pad + pane_buttons_width(ui, /*zooms=*/true) <= pane.area.w;
  const float limit = origin.x + pane.area.w - pane_buttons_width(ui, zooms);
  std::vector<std::string> order = pane.panels;
  if (x + total > limit) {
    std::erase(order, pane.node->active);
    order.insert(order.begin(), pane.node->active);
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const std::string& name : order) {
    const std::string title = title_of(name);
    const float width = ImGui::CalcTextSize(title.c_str()).x + pad * 2;
    const bool is_active = name == pane.node->active;
    if (!is_active && x + width > limit) {
      hidden.push_back(name);
      continue;
    }
    ImGui::SetCursorScreenPos(ImVec2(x, origin.y));
    ImGui::PushID(name.c_str());
    if (ImGui::InvisibleButton("tab", ImVec2(width, header), ImGuiButtonFlags_EnableNav))
      pane.node->active = name;
    name_part(ui, "tab " + name);
    const bool hovered = ImGui::IsItemHovered();
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, ui.em * 0.8f))
      ui.state.dragged_panel = name;
    if (const viz::Panel* panel = document.panel(name); panel && ui.state.dragged_panel.empty())
      help_tooltip(panel->info().help + "\nTry: " + panel->info().to_try +
                       "\nDrag the tab to another pane, to the edge of one, or "
                       "out of the panes into a window of its own.",
                   ui.em);
    draw_tab_menu(ui, name, document);
    ImGui::PopID();
    const viz::Color color = is_active ? ui.theme.text
                             : hovered ? ui.theme.text
                                       : ui.theme.text_dim;
    list->AddText(is_active ? ui.fonts.ui_bold : ui.fonts.ui, ui.em,
                  ImVec2(x + pad, origin.y + (header - ui.em) / 2 - ui.em * 0.1f), to_imgui(color),
                  title.c_str());
    if (is_active)
      list->AddRectFilled(ImVec2(x + pad, origin.y + header - ui.em * 0.16f),
                          ImVec2(x + width - pad, origin.y + header), to_imgui(ui.theme.accent));
    x += width;
  }
  if (!hidden.empty()) {
    ImGui::SetCursorScreenPos(ImVec2(limit, origin.y + ui.em * 0.2f));
    if (ImGui::SmallButton("…")) ImGui::OpenPopup("more");
    help_tooltip("More panels", ui.em);
    if (ImGui::BeginPopup("more")) {
      for (const std::string& name : hidden)
        if (ImGui::Selectable(title_of(name).c_str())) pane.node->active = name;
      ImGui::EndPopup();
    }
  }
  draw_pane_buttons(ui, *pane.node, front, {origin.x, origin.y, pane.area.w, header}, zooms,
                    floats);

  ui.drop_targets.push_back({pane.node, pane.area, ImGui::GetWindowViewport()});
  viz::Panel* panel = document.panel(pane.node->active);
  if (panel) {
    ui.visible_panels.push_back(panel->info().name);
    const viz::Rect area{origin.x, origin.y + header, pane.area.w,
                         std::max(1.0f, pane.area.h - header)};
    list->AddRectFilled(ImVec2(area.x, area.y), ImVec2(area.right(), area.bottom()),
                        to_imgui(ui.theme.background));
    if (ui.workspace.comparison.is_on())
      draw_compare_pair(ui, pane.node->active, area, document);
    else
      draw_panel(ui, *panel, area, document);
  }
  ImGui::EndChild();
  ImGui::PopID();
}

}  // namespace triescope::app
