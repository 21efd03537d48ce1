// Panes, their tabs and splitters, and the panels in them.
#include <algorithm>
#include <cmath>

#include "app/window/style.h"
#include "app/window/ui_parts.h"

namespace triescope::app {
namespace {

constexpr float kMinPaneWidthEm = 19, kMinPaneHeightEm = 9, kMinStripEm = 6.2f, kSplitterEm = 0.45f;

void draw_pane(Ui& ui, PlacedPane& pane, Document& document) {
  ImGui::PushID(pane.node);
  ImGui::SetCursorScreenPos(ImVec2(pane.area.x, pane.area.y));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, to_imgui_vec(ui.theme.surface));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild("pane", ImVec2(pane.area.w, pane.area.h), ImGuiChildFlags_None,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();

  // Header: one tab per panel; what does not fit goes into a list.
  const float header = std::round(ui.em * 1.75f);
  const float pad = ui.em * 0.45f;
  const float buttons = ui.em * 5.4f;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float x = origin.x + pad * 0.5f;
  const float limit = origin.x + pane.area.w - buttons;
  std::vector<std::string> hidden;
  // The active tab must be visible: it is drawn first if the tabs do not all fit.
  float total = 0;
  const auto title_of = [&](const std::string& name) {
    const viz::Panel* panel = document.panel(name);
    return panel ? panel->info().title : name;
  };
  for (const std::string& name : pane.panels)
    total += ImGui::CalcTextSize(title_of(name).c_str()).x + pad * 2;
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
    if (ImGui::InvisibleButton("tab", ImVec2(width, header))) pane.node->active = name;
    const bool hovered = ImGui::IsItemHovered();
    if (const viz::Panel* panel = document.panel(name)) help_tooltip(panel->info().help, ui.em);
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
  const bool is_maximised = !ui.workspace.maximised.empty();
  const float button = ui.em * 1.5f;
  const auto header_button = [&](const char* id, float from_right, const char* help) {
    const ImVec2 at(origin.x + pane.area.w - from_right, origin.y + (header - button) / 2);
    ImGui::SetCursorScreenPos(at);
    const bool pressed = ImGui::InvisibleButton(id, ImVec2(button, button));
    if (ImGui::IsItemHovered())
      list->AddRectFilled(at, ImVec2(at.x + button, at.y + button), to_imgui(ui.theme.raised),
                          ui.em * 0.2f);
    help_tooltip(help, ui.em);
    return pressed;
  };
  const ImU32 ink = to_imgui(ui.theme.text_dim);
  if (header_button("export", button * 2 + pad, "Export this panel: SVG, PDF, PNG, CSV  Ctrl+E")) {
    ui.state.export_panel = pane.node->active;
    ui.state.open(Dialog::kExport);
  }
  {  // an arrow onto a line
    const float x0 = origin.x + pane.area.w - button * 1.5f - pad, y0 = origin.y + header / 2,
                r = ui.em * 0.34f;
    list->AddLine(ImVec2(x0, y0 - r), ImVec2(x0, y0 + r * 0.5f), ink, 1.5f);
    list->AddLine(ImVec2(x0 - r * 0.6f, y0 - r * 0.1f), ImVec2(x0, y0 + r * 0.55f), ink, 1.5f);
    list->AddLine(ImVec2(x0 + r * 0.6f, y0 - r * 0.1f), ImVec2(x0, y0 + r * 0.55f), ink, 1.5f);
    list->AddLine(ImVec2(x0 - r, y0 + r), ImVec2(x0 + r, y0 + r), ink, 1.5f);
  }
  if (header_button("maximise", button + pad * 0.5f,
                    is_maximised ? "Back to the panes  Ctrl+M" : "Maximise  Ctrl+M")) {
    ui.workspace.maximised = is_maximised ? "" : pane.node->active;
    ui.animating = true;  // takes effect in the next frame
  }
  {  // a frame; maximised: a frame within a frame
    const float x0 = origin.x + pane.area.w - button * 0.5f - pad * 0.5f,
                y0 = origin.y + header / 2, r = ui.em * 0.34f;
    list->AddRect(ImVec2(x0 - r, y0 - r), ImVec2(x0 + r, y0 + r), ink, 0, 1.5f);
    if (is_maximised)
      list->AddRectFilled(ImVec2(x0 - r * 0.4f, y0 - r * 0.4f),
                          ImVec2(x0 + r * 0.4f, y0 + r * 0.4f), ink);
  }

  viz::Panel* panel = document.panel(pane.node->active);
  if (panel) {
    ui.visible_panels.push_back(panel->info().name);
    const viz::Rect area{origin.x, origin.y + header, pane.area.w,
                         std::max(1.0f, pane.area.h - header)};
    list->AddRectFilled(ImVec2(area.x, area.y), ImVec2(area.right(), area.bottom()),
                        to_imgui(ui.theme.background));
    if (ui.workspace.comparing())
      draw_compare_pair(ui, pane.node->active, area, document);
    else
      draw_panel(ui, *panel, area, document);
  }
  ImGui::EndChild();
  ImGui::PopID();
}

}  // namespace

void draw_empty(Ui& ui, viz::Rect area) {
  ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
  ImGui::BeginChild("empty", ImVec2(area.w, area.h));
  const float width = std::min(area.w - ui.em * 2, ui.em * 34);
  ImGui::SetCursorPos(ImVec2((area.w - width) / 2, std::max(ui.em, area.h * 0.28f)));
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ImGui::PushFont(ui.fonts.ui_bold, 0);
  ImGui::TextUnformatted("Nothing decoded yet.");
  ImGui::PopFont();
  ImGui::TextUnformatted(
      "Choose a model, a method and a prompt in the run bar (F2), then press Start and step "
      "through the run with F10, "
      "or open a capture (Ctrl+O, or drop a .tscap file here).");
  ImGui::PopTextWrapPos();
  ImGui::Dummy(ImVec2(0, ui.em * 0.5f));
  command_button(ui, "start", "Start, paused", /*primary=*/true);
  ImGui::SameLine();
  command_button(ui, "start-run", "Start and run");
  ImGui::SameLine();
  command_button(ui, "open", "Open…");
  ImGui::EndGroup();
  ImGui::EndChild();
}

void draw_panes(Ui& ui, viz::Rect area) {
  Document& document = *ui.workspace.active();
  if (!ui.workspace.maximised.empty() && document.panel(ui.workspace.maximised)) {
    PaneNode& single = ui.state.maximised;
    single.panels.clear();
    for (const auto& panel : document.panels) single.panels.push_back(panel->info().name);
    single.active = ui.workspace.maximised;
    PlacedPane pane{&single, single.panels, area};
    draw_pane(ui, pane, document);
    ui.workspace.maximised = single.active;
    return;
  }
  PlacedLayout placed =
      place(*ui.workspace.layout, area,
            {ui.em * kMinPaneWidthEm, ui.em * kMinPaneHeightEm, ui.em * kMinStripEm},
            std::round(ui.em * kSplitterEm));
  // Hover is computed again in every frame; scripts may set it, so it is only cleared when the
  // mouse moves.
  if (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)
    document.focus.hovered = -1;
  if (ui.workspace.partner() && document.focus.hovered == -1)
    ui.workspace.partner()->focus.hovered = -1;
  for (PlacedPane& pane : placed.panes) draw_pane(ui, pane, document);
  for (const PlacedSplitter& splitter : placed.splitters) {
    ImGui::PushID(splitter.node);
    ImGui::SetCursorScreenPos(ImVec2(splitter.area.x, splitter.area.y));
    ImGui::InvisibleButton(
        "splitter", ImVec2(std::max(1.0f, splitter.area.w), std::max(1.0f, splitter.area.h)));
    const bool beside = splitter.node->side_by_side;
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
      ImGui::SetMouseCursor(beside ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
      ImGui::GetWindowDrawList()->AddRectFilled(
          ImVec2(splitter.area.x, splitter.area.y),
          ImVec2(splitter.area.right(), splitter.area.bottom()),
          to_imgui(ui.theme.accent.with_alpha(0.5f)));
    }
    if (ImGui::IsItemActive()) {
      const float share = beside ? ImGui::GetIO().MouseDelta.x / splitter.parent.w
                                 : ImGui::GetIO().MouseDelta.y / splitter.parent.h;
      splitter.node->ratio = std::clamp(splitter.node->ratio + share, 0.08f, 0.92f);
    }
    ImGui::PopID();
  }
}

void draw_panel(Ui& ui, viz::Panel& panel, viz::Rect area, Document& document) {
  viz::Scene scene;
  scene.capture = document.capture.get();
  scene.cursor = document.cursor;
  scene.focus = document.focus;
  scene.theme = ui.theme;
  scene.em = ui.em;
  scene.range = document.range;
  scene.animate = ui.workspace.animate;
  if (ui.workspace.partner()) scene.twins = &document.twins;

  ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
  ImGui::InvisibleButton("canvas", ImVec2(area.w, area.h));
  const ImGuiIO& io = ImGui::GetIO();
  viz::Input input;
  input.mouse = {io.MousePos.x, io.MousePos.y};
  input.inside = ImGui::IsItemHovered();
  const bool active = ImGui::IsItemActive();
  if (input.inside) {
    ui.state.hovered_panel = panel.info().name;
    input.wheel = io.MouseWheel;
    input.wheel_x = io.MouseWheelH;
    input.double_clicked = ImGui::IsMouseDoubleClicked(0);
    input.right_clicked = ImGui::IsMouseClicked(1);
    input.zoom_in = ui.keys.zoom_in;
    input.zoom_out = ui.keys.zoom_out;
    input.pan_left = ui.keys.pan_left;
    input.pan_right = ui.keys.pan_right;
    input.fit = ui.keys.fit;
    input.previous = ui.keys.previous;
    input.next = ui.keys.next;
  }
  input.shift = io.KeyShift;
  input.ctrl = io.KeyCtrl;
  // A click is a press and release that did not move; a drag is a press that did.
  input.dragging = active && ImGui::IsMouseDragging(0, ui.em * 0.3f);
  if (input.dragging) input.drag_delta = {io.MouseDelta.x, io.MouseDelta.y};
  const ImVec2 moved = ImGui::GetMouseDragDelta(0, 0);
  input.released = ImGui::IsItemDeactivated();
  input.clicked = input.released && input.inside && std::hypot(moved.x, moved.y) < ui.em * 0.3f;

  const viz::Reaction reaction = panel.input(input, area, scene);
  if (reaction.hover && (input.inside || active) && *reaction.hover != document.focus.hovered) {
    document.focus.hovered = *reaction.hover;
    ui.animating = true;  // the panels drawn before this one show the new focus in the next frame
    ui.workspace.mirror_focus(document);
  }
  if (reaction.lock) {
    document.focus.locked = *reaction.lock == document.focus.locked ? -1 : *reaction.lock;
    ui.workspace.mirror_focus(document);
  }
  if (reaction.cursor) ui.workspace.set_cursor_of(document, *reaction.cursor);
  if (reaction.range) ui.workspace.set_range_of(document, reaction.range);
  if (reaction.clear_range) ui.workspace.set_range_of(document, std::nullopt);
  if (reaction.wants_redraw) ui.animating = true;
  scene.focus = document.focus;
  scene.cursor = document.cursor;
  scene.range = document.range;

  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  canvas.push_clip(area);
  panel.draw(canvas, area, scene);
  canvas.pop_clip();

  if (input.inside && !reaction.tooltip.empty()) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ui.em * 32);
    for (const std::string& line : reaction.tooltip) ImGui::TextUnformatted(line.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
}

}  // namespace triescope::app
