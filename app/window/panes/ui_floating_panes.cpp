// Panes in windows of their own, and a dragged tab on its way to a pane or a window.
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

constexpr float kFloatWidthEm = 44, kFloatHeightEm = 30;

std::string window_name(const FloatingPane& pane) {
  return "triescope###floating" + std::to_string(pane.serial);
}

}  // namespace

void focus_window(Ui& ui, int by) {
  std::vector<ImGuiWindow*> windows = {ImGui::FindWindowByName("triescope")};
  for (const FloatingPane& pane : ui.workspace.layouts.now.floating)
    windows.push_back(ImGui::FindWindowByName(window_name(pane).c_str()));
  std::erase(windows, nullptr);  // not drawn yet
  const ImGuiWindow* const now = ImGui::GetCurrentContext()->NavWindow;
  const auto count = static_cast<std::ptrdiff_t>(windows.size());
  const auto at = std::ranges::find(windows, now ? now->RootWindow : nullptr) - windows.begin();
  ImGuiWindow* const next =
      windows[static_cast<std::size_t>(at == count ? 0 : (at + by + count) % count)];
  ui.state.walk.begin();
  ImGui::FocusWindow(next, ImGuiFocusRequestFlags_RestoreFocusedChild);
  // The focus returns to where it was in that window the last time, else to the first part there.
  ImGuiWindow* const inner = ImGui::GetCurrentContext()->NavWindow;
  if (inner->NavLastIds[0] == 0) ImGui::NavInitWindow(inner, /*force_reinit=*/true);
  ImGui::SetNavCursorVisible(true);
  if (const auto focus = ImGui::GetPlatformIO().Platform_SetWindowFocus; focus && next->Viewport)
    focus(next->Viewport);
  ui.animating = true;
}

void draw_floating(Ui& ui, Document& document) {
  PaneLayout& layout = ui.workspace.layouts.now;
  std::size_t closed = layout.floating.size();
  for (std::size_t i = 0; i < layout.floating.size(); ++i) {
    FloatingPane& pane = layout.floating[i];
    ImGuiWindowClass own;
    own.ViewportFlagsOverrideSet = ImGuiViewportFlags_NoAutoMerge;
    ImGui::SetNextWindowClass(&own);
    ImGui::SetNextWindowPos(ImVec2(pane.area.x, pane.area.y), ImGuiCond_Appearing);
    ImGui::SetNextWindowSize(ImVec2(pane.area.w, pane.area.h), ImGuiCond_Appearing);
    ImGui::SetNextWindowSizeConstraints(ImVec2(ui.em * 12, ui.em * 8), ImVec2(1e5f, 1e5f));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
    bool open = true;
    ImGui::Begin(window_name(pane).c_str(), &open,
                 ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    pane.area = {at.x, at.y, size.x, size.y};
    const ImVec2 inside = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    draw_tree(ui, *pane.root, {inside.x, inside.y, std::max(1.0f, room.x), std::max(1.0f, room.y)},
              document, /*floats=*/true);
    ImGui::End();
    if (!open) closed = i;
  }
  if (closed == layout.floating.size()) return;
  dock_back(layout, closed);
  ui.animating = true;  // the panes show the panels in the next frame
}

// Positions are relative to the main window until there is another window, and to the screen from
// then on.
void undock_at(Ui& ui, const std::string& panel, ImVec2 at) {
  ImVec2 corner(0, 0);
  const ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  if (!(ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_ViewportsEnable) &&
      platform.Platform_GetWindowPos)
    corner = platform.Platform_GetWindowPos(ImGui::GetMainViewport());
  ui.workspace.layouts.undock(
      panel, {corner.x + at.x, corner.y + at.y, ui.em * kFloatWidthEm, ui.em * kFloatHeightEm});
  ui.animating = true;
}

void drag_panel(Ui& ui, const Document& document) {
  const std::string panel = ui.state.dragged_panel;
  if (panel.empty()) return;
  ui.animating = true;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const viz::Point at{mouse.x, mouse.y};
  const DropTarget* target = nullptr;
  for (const DropTarget& one : ui.drop_targets)  // the floating ones come last, and lie on top
    if (one.area.contains(at)) target = &one;
  const DropSide side = target ? drop_side(target->area, at) : DropSide::kTabs;
  ImDrawList* list =
      ImGui::GetForegroundDrawList(target ? target->viewport : ImGui::GetMainViewport());
  if (target) {
    const viz::Rect shown = drop_area(target->area, side);
    list->AddRectFilled(ImVec2(shown.x, shown.y), ImVec2(shown.right(), shown.bottom()),
                        to_imgui(ui.theme.accent.with_alpha(0.25f)), ui.em * 0.25f);
    list->AddRect(ImVec2(shown.x, shown.y), ImVec2(shown.right(), shown.bottom()),
                  to_imgui(ui.theme.accent), ui.em * 0.25f, 2);
  }
  const viz::Panel* const shown = document.panel(panel);
  const std::string label =
      (shown ? shown->info().title : panel) + (target ? "" : ": a window of its own");
  const ImVec2 corner(mouse.x + ui.em, mouse.y + ui.em), size = ImGui::CalcTextSize(label.c_str());
  list->AddRectFilled(ImVec2(corner.x - ui.em * 0.4f, corner.y - ui.em * 0.2f),
                      ImVec2(corner.x + size.x + ui.em * 0.4f, corner.y + size.y + ui.em * 0.2f),
                      to_imgui(ui.theme.raised), ui.em * 0.25f);
  list->AddText(corner, to_imgui(ui.theme.text), label.c_str());
  if (ImGui::IsMouseDown(0)) return;
  ui.state.dragged_panel.clear();
  if (target)
    ui.workspace.layouts.dock(panel, *target->pane, side);
  else
    undock_at(ui, panel, ImVec2(mouse.x - ui.em * 3, mouse.y - ui.em));
}

}  // namespace triescope::app
