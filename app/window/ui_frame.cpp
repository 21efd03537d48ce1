#include "app/window/ui_frame.h"

#include <algorithm>
#include <utility>

#include "app/window/compare/ui_compare.h"
#include "app/window/dialogs/ui_dialogs.h"
#include "app/window/lessons/ui_lesson.h"
#include "app/window/panes/ui_panes.h"
#include "app/window/run_bar/ui_run_bar.h"

namespace triescope::app {
namespace {

constexpr float kRunBarEm = 21;  // width
constexpr float kLessonShare = 0.36f, kLessonMinEm = 20, kLessonEm = 36;
// A narrower window gives the run bar's room to the panes once a capture is open; F2 brings it
// back.
constexpr float kRunBarMinWindowEm = 66;

void draw_lecture_mode(Ui& ui) {
  draw_lecture(ui);
  if (ui.workspace.lecture.has_presenter_view()) draw_presenter_view(ui);
  if (ui.workspace.lesson.is_open()) ui.animating |= ui.workspace.lesson.notice(ui.visible_panels);
  draw_dialogs(ui);
}

}  // namespace

void draw_window(Ui& ui) {
  ui.animating = false;
  ui.smallest_text = 0;
  ui.keys = std::exchange(ui.state.panel_keys, {});
  // Keys for a panel that is no longer shown go to the trie.
  if (!ui.keys.panel.empty() && std::ranges::count(ui.visible_panels, ui.keys.panel) == 0)
    ui.keys.panel = "trie";
  ui.visible_panels.clear();
  ui.state.drawn_panels.clear();
  ui.walk_focus.clear();
  ui.press_targets.clear();
  ui.state.walk.revive();
  ui.state.hovered_panel.clear();
  ui.state.hovered_term.clear();
  if (!ui.workspace.active()) ui.workspace.lecture.leave();
  if (ui.workspace.lecture.is_on()) return draw_lecture_mode(ui);
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize(viewport->Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0f);
  ImGui::Begin("triescope", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_MenuBar |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavFocus);
  ImGui::PopStyleVar(2);
  ui.state.narrow = viewport->Size.x < ui.em * kRunBarMinWindowEm;
  const std::size_t documents = ui.workspace.documents.all().size();
  if (documents != ui.state.seen_documents) ui.state.run_bar_when_narrow = documents == 0;
  ui.state.seen_documents = documents;
  draw_menu(ui);
  draw_tool_bar(ui);
  draw_documents(ui);
  ui.workspace.comparison.sync();

  const float status_height = ImGui::GetTextLineHeightWithSpacing() + ui.em * 0.1f;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float body_height = std::max(ui.em * 6, room.y - status_height);
  const bool run_bar =
      ui.state.run_bar_open(ui.workspace.preferences) && ui.workspace.layouts.maximised.empty();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  float panes_x = origin.x, panes_width = room.x;
  if (run_bar) {
    const float width = std::min(ui.em * kRunBarEm, room.x * 0.55f);
    draw_run_bar(ui, ImVec2(width, body_height));
    panes_x += width + ui.em * 0.4f;
    panes_width -= width + ui.em * 0.4f;
  }
  if (ui.workspace.lesson.is_open()) {
    const float width = std::clamp(room.x * kLessonShare, ui.em * kLessonMinEm, ui.em * kLessonEm);
    ImGui::SetCursorScreenPos(ImVec2(panes_x, origin.y));
    draw_lesson(ui, ImVec2(width, body_height));
    panes_x += width + ui.em * 0.4f;
    panes_width -= width + ui.em * 0.4f;
  }
  viz::Rect area{panes_x, origin.y, panes_width, body_height};
  const auto strip_above = [&](float (*draw)(Ui&, float)) {
    ImGui::SetCursorScreenPos(ImVec2(area.x, area.y));
    const float strip = draw(ui, area.w) + ui.em * 0.3f;
    area.y += strip;
    area.h = std::max(ui.em * 3, area.h - strip);
  };
  const bool runs = ui.workspace.runs.is_open();
  if (ui.state.find.open && ui.workspace.active() && !runs) strip_above(draw_find_bar);
  if (ui.workspace.comparison.is_on() && ui.workspace.active() && !runs)
    strip_above(draw_compare_strip);
  if (runs) {
    draw_runs_table(ui, area);
  } else if (ui.workspace.active()) {
    draw_panes(ui, area);
  } else {
    draw_empty(ui, area);
  }
  if (ui.workspace.lesson.is_open()) ui.animating |= ui.workspace.lesson.notice(ui.visible_panels);
  ImGui::SetCursorScreenPos(ImVec2(origin.x, origin.y + body_height + ui.em * 0.15f));
  draw_status_line(ui);
  ImGui::End();
  draw_notices(ui, origin.y + body_height);
  draw_dialogs(ui);
  ui.animating |= !(ui.state.panel_keys == PanelKeys{});  // the palette's act in the next frame
}

}  // namespace triescope::app
