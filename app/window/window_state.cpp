#include "app/window/window_state.h"

#include <imgui_internal.h>

#include "app/window/lessons/presenter_words.h"
#include "app/window/workspace/runs_acceptance.h"
#include "app/window/workspace/runs_side_by_side.h"
#include "core/base/json_io.h"
#include "viz/export/whole_file.h"

namespace triescope::app {
namespace {

nlohmann::json runs_state(RunsView& runs) {
  nlohmann::json now = {{"folder", runs.folder()},   {"columns", runs.table().columns},
                        {"rows", runs.table().rows}, {"chosen", runs.chosen()},
                        {"problem", runs.problem()}, {"sheet", to_string(runs.sheet())},
                        {"only", runs.only_words()}};
  if (runs.sheet() == RunsSheet::kSideBySide) {
    const RunsSideBySide& sheet = runs.side_by_side();
    now["beside"] = beside_table(sheet.beside(), sheet.partings()).rows;
  }
  if (runs.sheet() == RunsSheet::kAcceptance) {
    const RunsAcceptance& sheet = runs.acceptance();
    now["acceptance"] = {{"by", to_string(sheet.shown_by())},
                         {"bars", nlohmann::json::array()},
                         {"chosen", sheet.choice_words()},
                         {"behind", sheet.behind().size()}};
    for (const viz::NamedAcceptance& method : sheet.methods())
      for (const viz::AcceptanceGroup& group : method.acceptance.groups)
        now["acceptance"]["bars"].push_back({{"method", method.name},
                                             {"group", group.label},
                                             {"n", group.n},
                                             {"accepted", group.accepted}});
  }
  return now;
}

}  // namespace

void write_window_state(const std::string& path, const Ui& ui, std::int64_t frames,
                        bool fullscreen) {
  nlohmann::json now = ui.workspace.state_json(ui.visible_panels);
  now["frames"] = frames;
  for (const DropTarget& pane : ui.drop_targets)
    now["areas"].push_back({pane.area.x, pane.area.y, pane.area.w, pane.area.h});
  for (const PressTarget& one : ui.press_targets)
    now["targets"][one.name] = {one.area.x, one.area.y, one.area.w, one.area.h};
  now["smallest_text"] = ui.smallest_text;
  if (ui.workspace.lecture.has_presenter_view())
    now["presenter"] = to_json(presenter_words(*ui.workspace.active()));
  now["dialog"] = ui.state.dialog != Dialog::kNone;
  now["walk"] = ui.walk_focus;
  now["glossary"] = ui.state.dialogs.glossary_query;
  if (ui.state.find.open)
    now["find"] = {{"by", ui.state.find.by == FindBy::kText ? "text" : "where"},
                   {"query", ui.state.find.asked()},
                   {"problem", ui.state.find.problem()},
                   {"matches", ui.state.find.matches().size()},
                   {"count", ui.state.find.count_text(ui.workspace)}};
  if (ui.workspace.runs.is_open()) now["runs"] = runs_state(ui.workspace.runs);
  const ImGuiWindow* const tooltip = ImGui::FindWindowByName("##Tooltip_00");
  now["tooltip"] = tooltip && tooltip->WasActive;
  now["popups"] = ImGui::GetCurrentContext()->OpenPopupStack.Size;
  now["fullscreen"] = fullscreen;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  now["size"] = {size.x, size.y};
  viz::write_whole(path, dump_json(now, 2) + "\n");
}

}  // namespace triescope::app
