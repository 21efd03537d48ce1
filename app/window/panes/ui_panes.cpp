// The panes of the window and the splitters between them.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"

namespace triescope::app {
namespace {

constexpr float kMinPaneWidthEm = 19, kMinPaneHeightEm = 9, kMinStripEm = 6.2f, kSplitterEm = 0.45f;
constexpr float kSplitterKeyShare = 0.02f;  // of the length, by an arrow key

void draw_splitter(Ui& ui, const PlacedSplitter& splitter) {
  ImGui::PushID(splitter.node);
  ImGui::SetCursorScreenPos(ImVec2(splitter.area.x, splitter.area.y));
  ImGui::InvisibleButton("splitter",
                         ImVec2(std::max(1.0f, splitter.area.w), std::max(1.0f, splitter.area.h)),
                         ImGuiButtonFlags_EnableNav);
  name_part(ui, "splitter");
  const bool beside = splitter.node->side_by_side;
  if (has_walk_focus()) {
    const ImGuiKey less = beside ? ImGuiKey_LeftArrow : ImGuiKey_UpArrow;
    const ImGuiKey more = beside ? ImGuiKey_RightArrow : ImGuiKey_DownArrow;
    own_keys({less, more});
    const float by = static_cast<float>(owned_key(more)) - static_cast<float>(owned_key(less));
    splitter.node->ratio = std::clamp(splitter.node->ratio + by * kSplitterKeyShare, 0.08f, 0.92f);
    draw_walk_ring(splitter.area, to_imgui(ui.theme.accent), ui.em);
  }
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    ImGui::SetMouseCursor(beside ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(splitter.area.x, splitter.area.y),
                                              ImVec2(splitter.area.right(), splitter.area.bottom()),
                                              to_imgui(ui.theme.accent.with_alpha(0.5f)));
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(0)) {
    const float share = beside ? ImGui::GetIO().MouseDelta.x / splitter.parent.w
                               : ImGui::GetIO().MouseDelta.y / splitter.parent.h;
    splitter.node->ratio = std::clamp(splitter.node->ratio + share, 0.08f, 0.92f);
  }
  ImGui::PopID();
}

}  // namespace

void draw_tree(Ui& ui, PaneNode& root, viz::Rect area, Document& document, bool floats) {
  PlacedLayout placed =
      place(root, area, {ui.em * kMinPaneWidthEm, ui.em * kMinPaneHeightEm, ui.em * kMinStripEm},
            std::round(ui.em * kSplitterEm));
  for (PlacedPane& pane : placed.panes) draw_pane(ui, pane, document, floats);
  for (const PlacedSplitter& splitter : placed.splitters) draw_splitter(ui, splitter);
}

void draw_panes(Ui& ui, viz::Rect area) {
  Document& document = *ui.workspace.active();
  ui.drop_targets.clear();
  // Hover is computed again in every frame. Scripts may set it, so it is cleared only when the
  // mouse moves.
  if (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)
    document.focus.hovered = -1;
  if (ui.workspace.comparison.partner() && document.focus.hovered == -1)
    ui.workspace.comparison.partner()->focus.hovered = -1;
  if (!ui.workspace.layouts.maximised.empty() && document.panel(ui.workspace.layouts.maximised)) {
    PaneNode& single = ui.state.maximised;
    single.panels.clear();
    for (const auto& panel : document.panels) single.panels.push_back(panel->info().name);
    const std::string shown = ui.workspace.layouts.maximised;
    single.active = shown;
    PlacedPane pane{&single, single.panels, area};
    ui.maximised = true;
    draw_pane(ui, pane, document, /*floats=*/false);
    ui.maximised = false;
    // A pressed tab becomes the maximised panel. A link or a button may have chosen another one
    // meanwhile, which stays.
    if (ui.workspace.layouts.maximised == shown) ui.workspace.layouts.maximised = single.active;
    ui.drop_targets.clear();
    ui.state.dragged_panel.clear();  // there is one pane, and it is not the layout's
    return;
  }
  // The focus moves before the windows that may get it are drawn.
  if (const int by = std::exchange(ui.state.next_window, 0); by != 0) focus_window(ui, by);
  draw_tree(ui, *ui.workspace.layouts.now.root, area, document, /*floats=*/false);
  draw_floating(ui, document);
  drag_panel(ui, document);
  if (!ui.state.undock.empty()) {
    const ImVec2 at = ImGui::GetMainViewport()->Pos;
    undock_at(ui, ui.state.undock, ImVec2(at.x + ui.em * 6, at.y + ui.em * 6));
    ui.state.undock.clear();
  }
  if (const auto move = std::exchange(ui.state.move_panel, std::nullopt)) {
    ui.workspace.layouts.move(move->first, move->second);
    ui.animating = true;
  }
}

}  // namespace triescope::app
