// The frame of every dialog, and the small ones: messages, about.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>

#include "app/session/text_tools.h"
#include "app/window/compare/ui_compare.h"
#include "app/window/dialogs/dialog_rows.h"
#include "app/window/dialogs/ui_dialogs.h"
#include "app/window/lessons/ui_lesson.h"
#include "app/window/shell/style.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

bool draw_messages(Ui& ui) {
  ImGui::BeginChild("messages", ImVec2(0, 0), ImGuiChildFlags_NavFlattened);
  if (ui.workspace.log.all.empty()) ImGui::TextDisabled("No messages yet.");
  for (const Notice& notice : ui.workspace.log.all) {
    const bool is_error = notice.level == LogLevel::kError;
    const viz::Color color =
        is_error ? ui.theme.legible(ui.theme.mark(capture::NodeState::kRejected).color)
                 : ui.theme.text;
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(color));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(((is_error ? "✕ " : "· ") + notice.text).c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  }
  ImGui::EndChild();
  return false;
}

bool draw_layouts(Ui& ui) {
  std::string& name = ui.state.dialogs.layout_name;
  if (ui.state.dialog_just_opened) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-FLT_MIN);
  bool save = ImGui::InputTextWithHint("##name", "a name for the layout as it is now", &name,
                                       ImGuiInputTextFlags_EnterReturnsTrue);
  save |= ImGui::Button("Save layout");
  if (save) {
    try {
      ui.workspace.layouts.save(name);
      name.clear();
      return true;
    } catch (const Error& error) {
      ui.workspace.say(LogLevel::kError, error.what());
    }
  }
  ImGui::Separator();
  const std::vector<std::string> names = ui.workspace.layouts.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const bool chosen = ImGui::Button("Use");
    ImGui::SameLine();
    const bool is_own = i >= preset_names().size();
    const bool forget = is_own && ImGui::Button("Forget");
    if (is_own) ImGui::SameLine();
    ImGui::TextUnformatted(names[i].c_str());
    ImGui::PopID();
    if (forget) ui.workspace.layouts.forget(names[i]);
    if (!chosen) continue;
    ui.workspace.go_to_layout(names[i]);
    return true;
  }
  return false;
}

bool draw_lessons(Ui& ui) {
  ImGui::BeginChild("lessons", ImVec2(0, 0), ImGuiChildFlags_NavFlattened);
  const bool opened = draw_lesson_list(ui, ImGui::GetContentRegionAvail().x);
  ImGui::EndChild();
  return opened;
}

bool draw_about(Ui&) {
  ImGui::TextUnformatted("triescope shows how a language model decodes.");
  for (const std::string& line : version_lines()) ImGui::BulletText("%s", line.c_str());
  ImGui::BulletText("Dear ImGui %s", ImGui::GetVersion());
  ImGui::TextUnformatted("Apache-2.0");
  return false;
}

struct DialogKind {
  Dialog dialog;
  const char* title;
  float width_em, height_em;  // height 0 = as high as the contents
  bool (*draw)(Ui& ui);       // true: it is done
};

constexpr DialogKind kDialogs[] = {
    {Dialog::kOpen, "Open a capture or a model", 44, 0, draw_open},
    {Dialog::kSaveAs, "Save capture as", 44, 0, draw_save_as},
    {Dialog::kSaveRun, "Save the run", 44, 0, draw_save_run},
    {Dialog::kExport, "Export a panel", 38, 0, draw_export},
    {Dialog::kCompare, "Compare with", 44, 0, draw_compare},
    {Dialog::kPalette, "All commands", 34, 26, draw_palette},
    {Dialog::kKeys, "Keys", 46, 30, draw_keys},
    {Dialog::kBreakpoints, "Breakpoints", 34, 0, draw_breakpoints},
    {Dialog::kWhatIf, "What if: another token", 36, 26, draw_what_if},
    {Dialog::kMessages, "Messages", 52, 28, draw_messages},
    {Dialog::kBookmark, "Bookmarks", 40, 0, draw_bookmarks},
    {Dialog::kAbout, "About triescope", 34, 0, draw_about},
    {Dialog::kLayouts, "Layouts", 34, 0, draw_layouts},
    {Dialog::kLessons, "Lessons", 42, 34, draw_lessons},
    {Dialog::kGlossary, "Glossary", 46, 34, draw_glossary},
    {Dialog::kConnect, "Connect to another machine", 34, 0, draw_connect},
};

}  // namespace

void draw_dialogs(Ui& ui) {
  if (ui.state.dialog == Dialog::kNone) return;
  const Dialog dialog = ui.state.dialog;
  const DialogKind& kind = *std::ranges::find(kDialogs, dialog, &DialogKind::dialog);
  const std::string title = std::string(kind.title) + "###dialog";
  if (ui.state.dialog_just_opened) ImGui::OpenPopup("###dialog");
  const ImVec2 room = ImGui::GetMainViewport()->Size;
  const float width = std::min(kind.width_em * ui.em, room.x - ui.em * 2);
  const float height =
      kind.height_em > 0 ? std::min(kind.height_em * ui.em, room.y - ui.em * 2) : 0;
  ImGui::SetNextWindowSize(ImVec2(width, height));
  const ImVec2 corner = ImGui::GetMainViewport()->Pos;
  ImGui::SetNextWindowPos(ImVec2(corner.x + room.x / 2, corner.y + room.y / 2), ImGuiCond_Always,
                          ImVec2(0.5f, 0.5f));
  ImGui::SetNextWindowViewport(ImGui::GetMainViewport()->ID);
  bool open = true;
  if (!ImGui::BeginPopupModal(
          title.c_str(), &open,
          ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    ui.state.dialog = Dialog::kNone;
    return;
  }
  const bool done = kind.draw(ui);
  const bool replaced = ui.state.dialog != dialog && ui.state.dialog != Dialog::kNone;
  if (!replaced) ui.state.dialog_just_opened = false;
  if (done || !open || replaced || ui.state.dialog == Dialog::kNone) {
    ImGui::CloseCurrentPopup();
    if (!replaced) ui.state.dialog = Dialog::kNone;
  }
  ImGui::EndPopup();
}

}  // namespace triescope::app
