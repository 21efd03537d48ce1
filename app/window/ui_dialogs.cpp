// Dialogs: open, save, export, palette, keys, breakpoints, what-if, bookmark, messages, about. At
// most one is open; Esc closes it.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <cfloat>
#include <cmath>
#include <filesystem>

#include "app/run/text_tools.h"
#include "app/window/style.h"
#include "app/window/ui.h"
#include "viz/token_text.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;

struct ModalSize {
  float width_em, height_em;  // height 0 = what the contents need
};

ModalSize size_of(Dialog dialog) {
  switch (dialog) {
    case Dialog::kOpen:
    case Dialog::kSaveAs:
      return {44, 0};
    case Dialog::kExport:
      return {38, 0};
    case Dialog::kCompare:
      return {44, 0};
    case Dialog::kPalette:
      return {34, 26};
    case Dialog::kKeys:
      return {46, 30};
    case Dialog::kMessages:
      return {52, 28};
    case Dialog::kWhatIf:
      return {36, 26};
    case Dialog::kBreakpoints:
      return {34, 0};
    default:
      return {34, 0};
  }
}

const char* title_of(Dialog dialog) {
  switch (dialog) {
    case Dialog::kOpen:
      return "Open a capture or a model";
    case Dialog::kSaveAs:
      return "Save capture as";
    case Dialog::kExport:
      return "Export a panel";
    case Dialog::kCompare:
      return "Compare with";
    case Dialog::kPalette:
      return "All commands";
    case Dialog::kKeys:
      return "Keys";
    case Dialog::kBreakpoints:
      return "Breakpoints";
    case Dialog::kWhatIf:
      return "What if: another token";
    case Dialog::kMessages:
      return "Messages";
    case Dialog::kBookmark:
      return "Bookmark";
    case Dialog::kAbout:
      return "About triescope";
    case Dialog::kNone:
      break;
  }
  return "";
}

// Returns true when the dialog is done.
bool draw_open(Ui& ui) {
  static FileBrowser browser;
  browser.extensions = {".tscap", ".gguf"};
  if (browser.folder.empty() && ui.workspace.active())
    browser.folder = fs::path(ui.workspace.active()->path).parent_path().string();
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "A .tscap capture, a .gguf model, or a Hugging Face model folder (config.json, "
      "*.safetensors, tokenizer.json).");
  ImGui::PopTextWrapPos();
  bool open = browser.draw(ui.em, ui.em * 14);
  ImGui::BeginDisabled(browser.path.empty());
  open |= ImGui::Button("Open");
  ImGui::EndDisabled();
  if (open) ui.workspace.open_path(browser.path);
  return open;
}

bool draw_save_as(Ui& ui) {
  static FileBrowser browser;
  browser.extensions = {".tscap"};
  if (ui.state.dialog_just_opened || browser.path.empty())
    browser.path = (fs::current_path() / "run.tscap").string();
  bool save = browser.draw(ui.em, ui.em * 12);
  save |= ImGui::Button("Save");
  if (save) ui.workspace.save_capture_as(browser.path);
  return save;
}

bool draw_export(Ui& ui) {
  static int format = 0;
  static bool dark = false;
  static std::string path, path_for;
  static constexpr const char* kFormats[] = {"svg", "pdf", "png", "csv"};
  Document* document = ui.workspace.active();
  if (!document) return true;
  if (!document->panel(ui.state.export_panel))
    ui.state.export_panel = document->panels.front()->info().name;
  ImGui::SetNextItemWidth(ui.em * 16);
  if (ImGui::BeginCombo("Panel", document->panel(ui.state.export_panel)->info().title.c_str())) {
    for (const auto& panel : document->panels)
      if (ImGui::Selectable(panel->info().title.c_str(),
                            panel->info().name == ui.state.export_panel))
        ui.state.export_panel = panel->info().name;
    ImGui::EndCombo();
  }
  for (int i = 0; i < 4; ++i) {
    if (i) ImGui::SameLine();
    ImGui::RadioButton(kFormats[i], &format, i);
  }
  ImGui::Checkbox("Dark background", &dark);
  const std::string suggestion =
      (fs::current_path() / (ui.state.export_panel + "." + kFormats[format])).string();
  if (path.empty() || path == path_for) path = suggestion;
  path_for = suggestion;
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool enter = ImGui::InputText("##path", &path, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "The whole extent of the panel at the cursor, with model, method, seed, version and step in "
      "the file.");
  ImGui::PopTextWrapPos();
  if (!ImGui::Button("Export") && !enter) return false;
  ui.workspace.start_export(
      {ui.state.export_panel, path, static_cast<viz::ExportFormat>(format), dark});
  return true;
}

bool draw_palette(Ui& ui) {
  static std::string query;
  static int selected = 0;
  if (ui.state.dialog_just_opened) {
    query.clear();
    selected = 0;
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool enter = ImGui::InputTextWithHint("##query", "type a part of a command's name", &query,
                                              ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsItemEdited()) selected = 0;
  std::vector<const Command*> matches;
  for (const Command& command : ui.commands.all()) {
    if (command.id == "palette") continue;
    if (lower(command.title).find(lower(query)) != std::string::npos) matches.push_back(&command);
  }
  const int count = static_cast<int>(matches.size());
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_DownArrow))) ++selected;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_UpArrow))) --selected;
  selected = std::clamp(selected, 0, std::max(0, count - 1));
  const Command* chosen =
      enter && count > 0 ? matches[static_cast<std::size_t>(selected)] : nullptr;
  ImGui::BeginChild("matches");
  for (int i = 0; i < count; ++i) {
    const Command* command = matches[static_cast<std::size_t>(i)];
    ImGui::BeginDisabled(!command->is_enabled());
    if (ImGui::Selectable(command->title.c_str(), i == selected)) chosen = command;
    if (!command->chords.empty()) {
      const std::string chord = to_string(command->chords.front());
      ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - ImGui::CalcTextSize(chord.c_str()).x -
                      ui.em * 0.4f);
      ImGui::TextDisabled("%s", chord.c_str());
    }
    ImGui::EndDisabled();
  }
  ImGui::EndChild();
  if (!chosen || !chosen->is_enabled()) return false;
  ui.state.dialog = Dialog::kNone;  // the command may open another
  chosen->run();
  return ui.state.dialog == Dialog::kNone;
}

bool draw_keys(Ui& ui) {
  ImGui::BeginChild("keys");
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_RowBg)) {
    ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, ui.em * 18);
    ImGui::TableSetupColumn("what");
    const auto row = [&](const std::string& keys, const std::string& what) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(keys.c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(what.c_str());
    };
    for (const Command& command : ui.commands.all()) {
      if (command.chords.empty()) continue;
      std::string keys;
      for (const Chord chord : command.chords)
        keys += (keys.empty() ? "" : "   ") + to_string(chord);
      row(keys, command.title);
    }
    row("W  S", "zoom the panel under the mouse (wheel: at the pointer)");
    row("A  D", "move it left and right (drag: anywhere)");
    row("F", "fit the whole picture");
    row(",  .", "neighbours of the focused node");
    row("click", "lock the focus on a node;  Esc lets go");
    row("Shift+drag on the timeline", "select a range of steps");
    ImGui::EndTable();
  }
  ImGui::EndChild();
  return false;
}

bool draw_breakpoints(Ui& ui) {
  std::vector<Breakpoint> points = ui.workspace.breakpoints;
  bool changed = false;
  if (points.empty())
    ImGui::TextDisabled("None yet. Running stops after the phase in which one is met.");
  for (std::size_t i = 0; i < points.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    changed |= ImGui::Checkbox("##on", &points[i].enabled);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(describe({points[i].kind, points[i].threshold, true}).c_str());
    if (needs_threshold(points[i].kind)) {
      ImGui::SameLine();
      int value = static_cast<int>(points[i].threshold);
      ImGui::SetNextItemWidth(ui.em * 8);
      if (ImGui::InputInt("##threshold", &value)) {
        points[i].threshold = std::max(0, value);
        changed = true;
      }
    }
    ImGui::SameLine();
    if (ImGui::SmallButton("Remove")) {
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
      changed = true;
      ImGui::PopID();
      break;
    }
    ImGui::PopID();
  }
  ImGui::Separator();
  ImGui::TextDisabled("Add");
  for (const BreakKind kind : all_break_kinds()) {
    if (ImGui::Selectable(describe({kind, 1, true}).c_str(), false,
                          ImGuiSelectableFlags_DontClosePopups)) {
      points.push_back({kind, 1, true});
      changed = true;
    }
  }
  if (changed) ui.workspace.set_breakpoints(std::move(points));
  return false;
}

bool draw_what_if(Ui& ui) {
  Document* document = ui.workspace.active();
  if (!document) return true;
  const capture::Capture& capture = *document->capture;
  std::int32_t node = document->focus.node();
  // Without a focus: the best live leaf.
  if (node < 0) {
    const auto frontier = capture.frontier(std::max(0, capture.frontier_step(document->cursor)));
    if (!frontier.empty()) node = frontier.front().node;
  }
  if (node < 0 || node >= static_cast<std::int32_t>(capture.nodes().size())) {
    ImGui::TextDisabled("Lock a node in the trie (click it), then come back.");
    return false;
  }
  auto candidates = capture.candidates(node, document->cursor);
  if (candidates.empty() && node > 0) {
    // A leaf has no row yet: offer the other ways at its parent.
    node = capture.nodes()[static_cast<std::size_t>(node)].parent;
    candidates = capture.candidates(node, document->cursor);
  }
  ImGui::PushTextWrapPos(0);
  ImGui::Text("After node %d, decode on with:", node);
  if (!ui.workspace.active_is_live())
    ImGui::TextDisabled(
        "This capture was opened from a file, or a newer run has begun: it can be looked at, not "
        "decoded on.");
  ImGui::PopTextWrapPos();
  bool done = false;
  ImGui::BeginChild("candidates");
  if (candidates.empty()) ImGui::TextDisabled("No candidates were recorded for this node.");
  for (const capture::CandidateRow& candidate : candidates) {
    char label[192];
    std::snprintf(label, sizeof label, "%2d  %-20s  p = %.4f%s###%d", candidate.rank,
                  viz::token_text(capture.piece(candidate.token)).c_str(),
                  std::exp(candidate.logprob), candidate.chosen ? "  (taken)" : "",
                  candidate.token);
    if (!ImGui::Selectable(label)) continue;
    ui.workspace.branch(node, candidate.token);
    done = true;
  }
  ImGui::EndChild();
  return done;
}

bool draw_bookmark(Ui& ui) {
  static std::string note;
  Document* document = ui.workspace.active();
  if (!document) return true;
  if (ui.state.dialog_just_opened) {
    note.clear();
    ImGui::SetKeyboardFocusHere();
  }
  ImGui::SetNextItemWidth(-FLT_MIN);
  bool add = ImGui::InputTextWithHint("##note", "a note for this step", &note,
                                      ImGuiInputTextFlags_EnterReturnsTrue);
  add |= ImGui::Button("Add bookmark");
  if (add) ui.workspace.add_bookmark(note);
  ImGui::Separator();
  for (const capture::Bookmark& bookmark : document->capture->bookmarks()) {
    ImGui::PushID(static_cast<int>(bookmark.id));
    if (ImGui::SmallButton("Go")) ui.workspace.set_cursor(bookmark.tick);
    ImGui::SameLine();
    ImGui::Text("step %d  %s", capture::step_of(bookmark.tick), bookmark.note.c_str());
    ImGui::PopID();
  }
  return add;
}

bool draw_messages(Ui& ui) {
  ImGui::BeginChild("messages");
  if (ui.workspace.messages.empty()) ImGui::TextDisabled("Nothing was said yet.");
  for (const Notice& notice : ui.workspace.messages) {
    const bool is_error = notice.level == LogLevel::kError;
    const viz::Color color =
        is_error ? ui.theme.mark(capture::NodeState::kRejected).color : ui.theme.text;
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui_vec(color));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(((is_error ? "✕ " : "· ") + notice.text).c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
  }
  ImGui::EndChild();
  return false;
}

bool draw_about(Ui&) {
  ImGui::TextUnformatted("triescope shows how a language model decodes.");
  const nlohmann::json all = versions();
  for (const auto& [name, value] : all.items())
    ImGui::BulletText("%s %s", name.c_str(),
                      (value.is_string() ? value.get<std::string>() : value.dump()).c_str());
  ImGui::BulletText("Dear ImGui %s", ImGui::GetVersion());
  ImGui::TextUnformatted("Apache-2.0");
  return false;
}

}  // namespace

void Ui::draw_dialogs() {
  if (state.dialog == Dialog::kNone) return;
  const Dialog dialog = state.dialog;
  const std::string title = std::string(title_of(dialog)) + "###dialog";
  if (state.dialog_just_opened) ImGui::OpenPopup("###dialog");
  const ImVec2 room = ImGui::GetMainViewport()->Size;
  const ModalSize size = size_of(dialog);
  const float width = std::min(size.width_em * em, room.x - em * 2);
  const float height = size.height_em > 0 ? std::min(size.height_em * em, room.y - em * 2) : 0;
  ImGui::SetNextWindowSize(ImVec2(width, height));
  ImGui::SetNextWindowPos(ImVec2(room.x / 2, room.y / 2), ImGuiCond_Always, ImVec2(0.5f, 0.5f));
  bool open = true;
  if (!ImGui::BeginPopupModal(
          title.c_str(), &open,
          ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings)) {
    state.dialog = Dialog::kNone;
    return;
  }
  bool done = false;
  switch (dialog) {
    case Dialog::kOpen:
      done = draw_open(*this);
      break;
    case Dialog::kSaveAs:
      done = draw_save_as(*this);
      break;
    case Dialog::kExport:
      done = draw_export(*this);
      break;
    case Dialog::kCompare:
      done = draw_compare_dialog();
      break;
    case Dialog::kPalette:
      done = draw_palette(*this);
      break;
    case Dialog::kKeys:
      done = draw_keys(*this);
      break;
    case Dialog::kBreakpoints:
      done = draw_breakpoints(*this);
      break;
    case Dialog::kWhatIf:
      done = draw_what_if(*this);
      break;
    case Dialog::kMessages:
      done = draw_messages(*this);
      break;
    case Dialog::kBookmark:
      done = draw_bookmark(*this);
      break;
    case Dialog::kAbout:
      done = draw_about(*this);
      break;
    case Dialog::kNone:
      break;
  }
  const bool replaced = state.dialog != dialog && state.dialog != Dialog::kNone;
  if (!replaced) state.dialog_just_opened = false;
  if (done || !open || replaced || state.dialog == Dialog::kNone) {
    ImGui::CloseCurrentPopup();
    if (!replaced) state.dialog = Dialog::kNone;
  }
  ImGui::EndPopup();
}

}  // namespace triescope::app
