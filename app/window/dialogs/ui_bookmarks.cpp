// The dialog of bookmarks: adds one at the cursor, lists those of the run shown, changes their notes,
// removes them.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>

#include "app/window/dialogs/ui_dialogs.h"
#include "core/capture/capture.h"

namespace triescope::app {
namespace {

// "12, commit"; the beginning of a step is its number alone.
std::string place_text(capture::Tick tick) {
  const std::string step = std::to_string(capture::step_of(tick));
  const capture::Phase phase = capture::phase_of(tick);
  return phase == capture::Phase::kDraft ? step : step + ", " + to_string(phase);
}

void draw_list(Ui& ui, const Document& document) {
  auto& notes = ui.state.dialogs.bookmark_notes;
  // A copy, because a change reads the list again.
  const auto marks = document.capture->bookmarks();
  const std::vector<capture::Bookmark> bookmarks(marks.begin(), marks.end());
  if (bookmarks.empty()) {
    ImGui::TextDisabled("None yet. They are kept in the capture's file.");
    return;
  }
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg;
  const float rows = static_cast<float>(std::min<std::size_t>(bookmarks.size(), 8)) + 1.3f;
  if (!ImGui::BeginTable("bookmarks", 3, kFlags, {0, rows * ImGui::GetFrameHeightWithSpacing()}))
    return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("before step", ImGuiTableColumnFlags_WidthFixed, ui.em * 7.5f);
  ImGui::TableSetupColumn("note", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, ui.em * 9);
  ImGui::TableHeadersRow();
  for (const capture::Bookmark& bookmark : bookmarks) {
    const std::string id = std::to_string(bookmark.id);
    ImGui::PushID(id.c_str());
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(place_text(bookmark.tick).c_str());
    ImGui::TableNextColumn();
    std::string& note = notes.try_emplace(bookmark.id, bookmark.note).first->second;
    const std::string before = note;
    ImGui::SetNextItemWidth(-FLT_MIN);
    ImGui::InputTextWithHint("##note", "no note", &note);
    keep_on_escape(note, before);
    if (ImGui::IsItemDeactivatedAfterEdit())
      ui.workspace.documents.set_bookmark_note(bookmark.id, note);
    name_part(ui, "bookmark note " + id);
    ImGui::TableNextColumn();
    if (ImGui::Button("Go")) ui.workspace.documents.set_cursor(bookmark.tick);
    name_part(ui, "bookmark go " + id);
    ImGui::SameLine();
    if (ImGui::Button("Remove")) ui.workspace.documents.remove_bookmark(bookmark.id);
    name_part(ui, "bookmark remove " + id);
    ImGui::PopID();
  }
  ImGui::EndTable();
}

}  // namespace

bool draw_bookmarks(Ui& ui) {
  std::string& note = ui.state.dialogs.bookmark_note;
  const Document* const document = ui.workspace.active();
  if (!document) return true;
  if (ui.state.dialog_just_opened) {
    note.clear();
    ui.state.dialogs.bookmark_notes.clear();
    ImGui::SetKeyboardFocusHere();
  }
  const std::string label = "Add before step " + place_text(document->cursor);
  ImGui::SetNextItemWidth(-(ImGui::CalcTextSize(label.c_str()).x + ui.em * 2));
  bool add = ImGui::InputTextWithHint("##note", "a note for this place", &note,
                                      ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  add |= ImGui::Button((label + "###add").c_str());
  if (add) ui.workspace.documents.add_bookmark(note);
  ImGui::Separator();
  draw_list(ui, *document);
  return add;
}

}  // namespace triescope::app
