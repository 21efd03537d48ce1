// The panes of the window, those that float in windows of their own, their splitters, and tabs that
// are dragged between them.
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/window/lessons/ui_lesson.h"
#include "app/window/panes/ui_panes.h"
#include "app/window/shell/style.h"
#include "app/window/workspace/document_names.h"

namespace triescope::app {
namespace {

constexpr float kMinPaneWidthEm = 19, kMinPaneHeightEm = 9, kMinStripEm = 6.2f, kSplitterEm = 0.45f;
constexpr float kSplitterKeyShare = 0.02f;  // of the length, by an arrow key
constexpr float kFloatWidthEm = 44, kFloatHeightEm = 30;

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

void draw_tree(Ui& ui, PaneNode& root, viz::Rect area, Document& document, bool floats) {
  PlacedLayout placed =
      place(root, area, {ui.em * kMinPaneWidthEm, ui.em * kMinPaneHeightEm, ui.em * kMinStripEm},
            std::round(ui.em * kSplitterEm));
  for (PlacedPane& pane : placed.panes) draw_pane(ui, pane, document, floats);
  for (const PlacedSplitter& splitter : placed.splitters) draw_splitter(ui, splitter);
}

std::string window_name(const FloatingPane& pane) {
  return "triescope###floating" + std::to_string(pane.serial);
}

// Moves the keyboard's focus from its window to the next one and makes it visible there.
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

// Draws a window for every floating tree; closing one brings its panels back.
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

// Moves a panel into a window at `at`, a position in this frame. Positions are relative to the main
// window until there is another window, and to the screen from then on.
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

// Shows where the dragged tab would go, and puts it there when it is let go.
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

// Lists earlier runs or captures by name or prompt, method and time; a click opens one.
void draw_recent(Ui& ui, const char* title, const std::string& part,
                 const std::vector<RecentCapture>& recent, std::size_t most, float width) {
  if (recent.empty()) return;
  ImGui::Dummy(ImVec2(0, ui.em * 1.2f));
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(title);
  ImGui::PopFont();
  if (!ImGui::BeginTable(part.c_str(), 3, ImGuiTableFlags_None, ImVec2(width, 0))) return;
  ImGui::TableSetupColumn("file", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("method", ImGuiTableColumnFlags_WidthFixed, ui.em * 12);
  ImGui::TableSetupColumn("recorded", ImGuiTableColumnFlags_WidthFixed, ui.em * 8.5f);
  std::string chosen;
  int number = 0;
  for (const RecentCapture& one : recent) {
    if (most-- == 0) break;
    ImGui::TableNextColumn();
    const std::string name =
        middle_fitted(recent_name(one), ImGui::GetContentRegionAvail().x) + "###" + one.path;
    if (ImGui::Selectable(name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns))
      chosen = one.path;
    name_part(ui, part + " " + std::to_string(++number));
    help_tooltip(one.path, ui.em);
    for (const std::string& text : {one.method, one.recorded}) {
      ImGui::TableNextColumn();
      ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(ui.theme.text_dim));
      ImGui::TextUnformatted(middle_fitted(text, ImGui::GetContentRegionAvail().x).c_str());
      ImGui::PopStyleColor();
    }
  }
  ImGui::EndTable();
  if (!chosen.empty()) ui.workspace.documents.open(chosen);
}

}  // namespace

void draw_empty(Ui& ui, viz::Rect area) {
  ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
  ImGui::BeginChild("empty", ImVec2(area.w, area.h), ImGuiChildFlags_NavFlattened);
  // Lessons stand beside the rest where there is room, else below it.
  const bool beside = area.w >= ui.em * 58;
  const float whole = std::min(area.w - ui.em * 2, ui.em * (beside ? 66 : 34));
  const float width = beside ? whole * 0.45f : whole, left = (area.w - whole) / 2;
  // The list starts higher up where the lessons need the room.
  float& list_height = ui.state.lesson_list_height;
  const float top = std::max(
      ui.em, beside ? std::min(area.h * 0.14f, area.h - list_height - ui.em) : area.h * 0.1f);
  ImGui::SetCursorPos(ImVec2(left, top));
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  const RunRequest& request = ui.workspace.request();
  const bool ready = has_prompt(request) && !(request.model.empty() && ui.state.catalog.empty());
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted(ready ? "Ready to decode your prompt" : "Nothing decoded yet");
  ImGui::PopFont();
  ImGui::TextUnformatted(
      ready
          ? "Start loads the model; then Step (F10) goes on by a token and Back returns. The "
            "run bar (F2) has the prompt, the method and the model. Ctrl+O opens a capture, or "
            "drop its file here."
          : "Choose a model, a method and a prompt in the run bar (F2), then press Start and step "
            "through the run with F10, or open a capture (Ctrl+O, or drop its file here).");
  ImGui::PopTextWrapPos();
  ImGui::Dummy(ImVec2(0, ui.em * 0.5f));
  command_button(ui, "start", "Start", /*primary=*/true);
  ImGui::SameLine();
  command_button(ui, "start-run", "Start and run");
  ImGui::SameLine();
  command_button(ui, "open", "Open…");
  // Runs come first, because a saved or opened file can also be found by its name.
  draw_recent(ui, "Recent runs", "run", ui.workspace.preferences.recent_runs, beside ? 6 : 4,
              width);
  draw_recent(ui, "Recent captures", "recent", ui.workspace.preferences.recent_captures,
              beside ? 10 : 6, width);
  ImGui::EndGroup();
  if (beside) {
    ImGui::SetCursorPos(ImVec2(left + whole * 0.5f, top));
  } else {
    ImGui::SetCursorPosX(left);
  }
  ImGui::BeginGroup();
  if (!beside) ImGui::Dummy(ImVec2(0, ui.em * 1.2f));
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted("Or take a lesson");
  ImGui::PopFont();
  draw_lesson_list(ui, beside ? whole * 0.5f : width);
  ImGui::EndGroup();
  const float height = ImGui::GetItemRectSize().y;
  if (height != list_height) ui.animating = true;
  list_height = height;
  ImGui::EndChild();
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
