// Draws a panel and hands it the mouse's input.
#include <algorithm>
#include <cmath>

#include "app/window/shell/resting_mouse.h"
#include "app/window/shell/style.h"
#include "app/window/shell/ui.h"
#include "viz/canvas/shaping.h"
#include "viz/layouts/zoom.h"
#include "viz/text/glossary.h"

namespace triescope::app {
namespace {

// Draws a line as panels do, so that Arabic reads the same under the mouse as in the picture.
void tooltip_line(const Ui& ui, const std::string& line) {
  if (!viz::needs_shaping(line)) return ImGui::TextUnformatted(line.c_str());
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  const viz::TextStyle style{viz::FontFace::kUi, ui.em, ui.theme.text};
  const viz::Point size = canvas.measure(line, style);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  canvas.text({at.x, at.y}, line, style);
  ImGui::Dummy(ImVec2(size.x, size.y));
}

}  // namespace

namespace {

// A maximised panel's letters grow with its area.
float em_of(const Ui& ui, viz::Rect area, Document& document) {
  document.enlarged = 1;
  if (!ui.maximised || ui.workspace.comparison.is_on() || !document.capture) return ui.em;
  document.enlarged = viz::maximised({area.w, area.h}, ui.em);
  return std::round(ui.em * document.enlarged);
}

// Arrows move a focused panel's selection from node to node as they lie there; where there are
// none, they step. Enter acts as a double click on the selected node.
void walk_in_panel(Ui& ui, viz::Panel& panel, viz::Rect area, Document& document,
                   const viz::Scene& scene) {
  own_keys({ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow,
            ImGuiKey_Enter, ImGuiKey_KeypadEnter});
  const int x = owned_key(ImGuiKey_RightArrow) - owned_key(ImGuiKey_LeftArrow);
  const int y = owned_key(ImGuiKey_DownArrow) - owned_key(ImGuiKey_UpArrow);
  const bool enter = owned_key(ImGuiKey_Enter) || owned_key(ImGuiKey_KeypadEnter);
  if ((x == 0 && y == 0 && !enter) || !scene.capture) return;
  // A second panel of the same kind is asked for its boxes, so that the mouse's state in this one
  // stays as it is.
  const auto twin = viz::make_panel(panel.info().name);
  twin->set_view_state(panel.view_state());
  viz::Scene still = scene;
  still.animate = false;
  viz::TextSizes sizes;
  viz::ElementCanvas canvas(sizes);
  twin->draw(canvas, area, still);
  const auto boxes = viz::hit_boxes(*twin, area, still, canvas.take());
  if (enter) {
    const auto here = std::ranges::find(boxes, document.focus.locked, &viz::HitBox::node);
    if (here == boxes.end()) return;
    viz::Input twice;
    twice.mouse = twice.pressed = {here->box.x + here->box.w / 2, here->box.y + here->box.h / 2};
    twice.inside = twice.double_clicked = true;
    panel.input(twice, area, scene);
  } else if (boxes.empty()) {
    const Command* const step = ui.commands.find(x + y > 0 ? "step" : "back");
    if (step->is_enabled()) step->run();
  } else if (const std::int32_t node = node_beside(boxes, document.focus.locked, x, y);
             node != -1) {
    document.focus = {.hovered = -1, .locked = node};
    ui.workspace.comparison.mirror_focus(document);
  }
  ui.animating = true;
}

}  // namespace

void draw_panel(Ui& ui, viz::Panel& panel, viz::Rect area, Document& document, float em) {
  const bool lecture = ui.workspace.lecture.is_on();
  viz::Scene scene;
  scene.capture = document.capture.get();
  scene.cursor = document.cursor;
  scene.focus = document.focus;
  scene.theme = ui.theme;
  scene.em = ui.em;
  scene.range = document.range;
  const std::vector<viz::BreakMark> breaks = ui.workspace.transport.break_marks(document);
  scene.breaks = breaks;
  scene.animate = ui.workspace.animate;
  if (Document* const partner = ui.workspace.comparison.partner()) {
    scene.twins = &document.twins;
    const Document& other = &document == partner ? *ui.workspace.active() : *partner;
    if (!ui.workspace.comparison.own_scales())
      scene.beside = {other.capture.get(), other.cursor, other.range};
  }
  scene.legend = ui.legend;
  scene.series = scene.steady = lecture;
  if (lecture) scene.lit_from = ui.workspace.lecture.lit_from(document);
  scene.em = em > 0 ? em : em_of(ui, area, document);

  ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
  ImGui::InvisibleButton("canvas", ImVec2(area.w, area.h), ImGuiButtonFlags_EnableNav);
  name_part(ui, "panel " + panel.info().name);
  const bool walked = has_walk_focus();
  if (walked) walk_in_panel(ui, panel, area, document, scene);
  const ImGuiIO& io = ImGui::GetIO();
  viz::Input input;
  input.mouse = {io.MousePos.x, io.MousePos.y};
  input.inside = ImGui::IsItemHovered(ImGuiHoveredFlags_NoNavOverride);
  const bool active = ImGui::IsItemActive() && io.MouseDown[0];
  if (input.inside || walked) ui.state.hovered_panel = ui.state.last_panel = panel.info().name;
  if (ui.keys.panel.empty() ? input.inside : ui.keys.panel == panel.info().name) {
    input.zoom_in = ui.keys.zoom_in;
    input.zoom_out = ui.keys.zoom_out;
    input.pan_left = ui.keys.pan_left;
    input.pan_right = ui.keys.pan_right;
    input.fit = ui.keys.fit;
    input.fold = ui.keys.fold;
    input.previous = ui.keys.previous;
    input.next = ui.keys.next;
  }
  if (input.inside) {
    input.wheel = io.MouseWheel;
    input.wheel_x = io.MouseWheelH;
    input.double_clicked = ImGui::IsMouseDoubleClicked(0);
    input.right_clicked = ImGui::IsMouseClicked(1);
  }
  input.shift = io.KeyShift;
  input.ctrl = io.KeyCtrl;
  // A click is a press and release that did not move; a drag is a press that did. The last moves
  // may come with the release, so a release far from its press ends a drag there.
  const float threshold = ui.em * 0.3f;
  const ImVec2 moved = ImGui::GetMouseDragDelta(0, 0);
  const bool far = std::hypot(moved.x, moved.y) >= threshold;
  input.released = ImGui::IsItemDeactivated();
  input.dragging = (active && ImGui::IsMouseDragging(0, threshold)) || (input.released && far);
  input.pressed = {io.MouseClickedPos[0].x, io.MouseClickedPos[0].y};
  if (input.dragging) input.drag_delta = {io.MouseDelta.x, io.MouseDelta.y};
  input.clicked = input.released && input.inside && !far;

  viz::Reaction reaction = panel.input(input, area, scene);
  if (reaction.hover && (input.inside || active) && *reaction.hover != document.focus.hovered) {
    document.focus.hovered = *reaction.hover;
    ui.animating = true;  // the panels drawn before this one show the new focus in the next frame
    ui.workspace.comparison.mirror_focus(document);
  }
  if (reaction.lock) {
    document.focus.locked = *reaction.lock == document.focus.locked ? -1 : *reaction.lock;
    ui.workspace.comparison.mirror_focus(document);
  }
  if (reaction.cursor) ui.workspace.documents.set_cursor_of(document, *reaction.cursor);
  if (reaction.range) ui.workspace.comparison.set_range_of(document, reaction.range);
  if (reaction.clear_range) ui.workspace.comparison.set_range_of(document, std::nullopt);
  if (!reaction.panel.empty() && ui.workspace.show_panel(reaction.panel)) {
    if (!lecture && !ui.workspace.layouts.maximised.empty())
      ui.workspace.layouts.maximised = reaction.panel;
    ui.animating = true;
  }
  if (reaction.wants_redraw) ui.animating = true;
  scene.focus = document.focus;
  scene.cursor = document.cursor;
  scene.range = document.range;

  if (!lecture) {
    ui.state.drawn_panels.push_back(
        {document.serial, panel.info().name, scene, viz::Point{area.w, area.h}});
    ui.state.drawn_panels.back().scene.breaks = {};  // a span of marks that end with this frame
  }
  viz::ImGuiCanvas canvas(ImGui::GetWindowDrawList(), ui.fonts);
  if (input.inside) canvas.look_under(input.mouse);
  canvas.push_clip(area);
  panel.draw(canvas, area, scene);
  canvas.pop_clip();
  if (walked) draw_walk_ring(area, to_imgui(ui.theme.accent), ui.em);
  ui.note_text(canvas.smallest_text());

  std::vector<std::string>& tooltip = reaction.tooltip;
  if (const std::string& term = canvas.term_under_mouse(); tooltip.empty() && !term.empty())
    if (const std::string meaning = viz::meaning_of(term); !meaning.empty()) {
      tooltip = {term + ": " + meaning};
      if (!lecture) tooltip.push_back("Shift+F1: all terms");  // only the window has this key
      ui.state.hovered_term = term;
    }
  // While keys lead, Dear ImGui would put the tooltip beside the focused item.
  if (input.inside && !tooltip.empty() && !keys_lead() && !tooltips_wait()) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ui.em * 32);
    for (const std::string& line : tooltip) tooltip_line(ui, line);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
}

}  // namespace triescope::app
