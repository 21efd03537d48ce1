// Dialogs about files: open, save, export.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <filesystem>

#include "app/window/dialogs/ui_dialogs.h"
#include "app/window/shell/style.h"
#include "viz/export/file_ending.h"
#include "viz/panels/charts.h"

namespace triescope::app {

namespace fs = std::filesystem;

bool draw_open(Ui& ui) {
  FileBrowser& browser = ui.state.dialogs.open_files;
  browser.extensions = {".tscap", ".gguf", ".txt", ".json", ".jinja"};
  if (browser.folder.empty() && ui.workspace.active())
    browser.folder = fs::path(ui.workspace.active()->path).parent_path().string();
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "A .tscap capture, a .gguf model, a Hugging Face model folder (config.json, *.safetensors, "
      "tokenizer.json), a .txt file, which becomes the prompt, a .json file with the messages of a "
      "chat or its tools, or a .jinja chat template.");
  ImGui::PopTextWrapPos();
  bool open = browser.draw(ui.em * 14);
  ImGui::BeginDisabled(browser.path.empty());
  open |= ImGui::Button("Open");
  ImGui::EndDisabled();
  if (open) ui.workspace.open_path(browser.path);
  return open;
}

bool draw_save_as(Ui& ui) {
  FileBrowser& browser = ui.state.dialogs.save_files;
  browser.extensions = {".tscap"};
  if (ui.state.dialog_just_opened || browser.path.empty())
    browser.path = (fs::current_path() / "run.tscap").string();
  bool save = browser.draw(ui.em * 12);
  save |= ImGui::Button("Save");
  if (save) ui.workspace.documents.save_as(browser.path);
  return save;
}

bool draw_save_run(Ui& ui) {
  FileBrowser& browser = ui.state.dialogs.run_files;
  const WholeRun as = ui.state.save_run;
  const Document* const document = ui.workspace.active();
  if (!document) return true;
  if (ui.state.dialog_just_opened) {
    browser.extensions = {as == WholeRun::kHandout ? ".html" : ".jsonl"};
    browser.path = ui.workspace.exports.whole_run_path(as);
  }
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("%s", as == WholeRun::kHandout
                                ? "One HTML page for any browser, without a network."
                                : "JSON lines, a line a step, for a notebook.");
  if (document->range)
    ImGui::TextDisabled("Steps %d to %d, as chosen on the timeline.", document->range->first,
                        document->range->second);
  ImGui::PopTextWrapPos();
  bool save = browser.draw(ui.em * 12);
  save |= ImGui::Button("Save");
  name_part(ui, "save");
  if (save) ui.workspace.exports.start_whole_run(as, browser.path);
  return save;
}

namespace {

constexpr const char* kFormats[] = {"svg", "pdf", "png", "csv", "gif", "png frames"};
constexpr int kStills = 4;  // the first ones; Animation's come behind them

void row_head(const Ui& ui, const char* title) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(title);
  ImGui::SameLine(ui.em * 5);
}

// A radio button in a row; tests press it by its label.
template <class T>
void choice(Ui& ui, const std::string& label, T& value, T own, bool first, bool enabled = true) {
  if (!first) ImGui::SameLine();
  ImGui::BeginDisabled(!enabled);
  if (ImGui::RadioButton(label.c_str(), value == own)) value = own;
  ImGui::EndDisabled();
  name_part(ui, label);
}

// Rows that choose how much of the picture is exported, and its size.
void draw_part_rows(Ui& ui, const Document& document, const viz::Panel& picture, bool on_screen,
                    bool still) {
  auto& memory = ui.state.dialogs.picture;
  enum class Show : std::uint8_t { kWhole, kSteps, kStep, kSeen };
  Show show = memory.part == viz::ExportPart::kStep   ? Show::kStep
              : memory.part == viz::ExportPart::kSeen ? Show::kSeen
              : memory.in_range && document.range     ? Show::kSteps
                                                      : Show::kWhole;
  const bool grows = picture.info().grows;
  if (show == Show::kSeen && (!on_screen || !still)) show = Show::kWhole;
  if (show == Show::kStep && (!grows || !still)) show = Show::kWhole;
  if (ui.state.dialog_just_opened && document.range && show == Show::kWhole) show = Show::kSteps;
  row_head(ui, "Show");
  choice(ui, "whole", show, Show::kWhole, true);
  if (document.range) choice(ui, viz::range_text(document.range), show, Show::kSteps, false);
  choice(ui, "this step", show, Show::kStep, false, still && grows);
  help_tooltip("Of the trie: the nodes of the step shown, and the way to them.", ui.em);
  choice(ui, "as on the screen", show, Show::kSeen, false, still && on_screen);
  help_tooltip("The pane's size, its zoom and what it has scrolled to.", ui.em);
  memory.in_range = show == Show::kSteps || (show != Show::kWhole && memory.in_range);
  memory.part = show == Show::kStep   ? viz::ExportPart::kStep
                : show == Show::kSeen ? viz::ExportPart::kSeen
                                      : viz::ExportPart::kWhole;
  row_head(ui, "Size");
  bool slide = memory.slide || !still;
  const bool chosen = still && show != Show::kSeen;
  choice(ui, "its own", slide, false, true, chosen);
  choice(ui, "a slide, 960 × 540", slide, true, false, chosen);
  help_tooltip(
      "Where it is too small for the whole: a section in letters that can be read, with "
      "how much it lacks.",
      ui.em);
  if (chosen) memory.slide = slide;
}

}  // namespace

bool draw_export(Ui& ui) {
  auto& memory = ui.state.dialogs.picture;
  Document* document = ui.workspace.active();
  if (!document) return true;
  std::string& name = ui.state.export_panel;
  if (std::ranges::count(viz::picture_names(), name) == 0)
    name = document->panels.front()->info().name;
  const auto picture = viz::make_picture(name);
  row_head(ui, "Panel");
  ImGui::SetNextItemWidth(ui.em * 16);
  if (ImGui::BeginCombo("##panel", picture->info().title.c_str())) {
    for (const std::string& one : viz::picture_names()) {
      if (one == viz::chart_names().front()) ImGui::SeparatorText("Charts");
      if (ImGui::Selectable(viz::make_picture(one)->info().title.c_str(), one == name)) name = one;
    }
    ImGui::EndCombo();
  }
  row_head(ui, "Format");
  const int format_before = memory.format;
  for (int i = 0; i < IM_ARRAYSIZE(kFormats); ++i)
    choice(ui, kFormats[i], memory.format, i, i == 0);
  help_tooltip("gif, png frames: a picture a step, for slides.", ui.em);
  const bool format_changed = memory.format != format_before;
  const bool still = memory.format < kStills;
  const bool table = memory.format == static_cast<int>(viz::ExportFormat::kCsv);
  const Document* partner = ui.workspace.comparison.partner();
  const bool both = partner && memory.both && still;
  const auto seen = ui.state.seen(name, ui.workspace, both);
  ImGui::BeginDisabled(table);
  draw_part_rows(ui, *document, *picture, !seen.empty(), still);
  row_head(ui, "Theme");
  for (const viz::ThemeName one :
       {viz::ThemeName::kLight, viz::ThemeName::kDark, viz::ThemeName::kProjector}) {
    if (one != viz::ThemeName::kLight) ImGui::SameLine();
    if (ImGui::RadioButton(viz::to_string(one), memory.theme == one)) memory.theme = one;
    name_part(ui, std::string("theme ") + viz::to_string(one));
  }
  help_tooltip("Light, with text contrast of 7 and more: for the last row and a dim projector.",
               ui.em);
  const bool has_notes = still && !document->capture->bookmarks().empty();
  ImGui::BeginDisabled(!has_notes);
  ImGui::Checkbox("Bookmarks, their notes below", &memory.notes);
  ImGui::EndDisabled();
  name_part(ui, "notes");
  help_tooltip("Numbered marks where their step or node is drawn. Ctrl+B sets a bookmark.", ui.em);
  ImGui::EndDisabled();
  if (partner) {
    ImGui::BeginDisabled(!still);
    ImGui::Checkbox("Both runs, side by side", &memory.both);
    ImGui::EndDisabled();
    help_tooltip(document->title + "  |  " + partner->title, ui.em);
  }
  const std::string ending = still || memory.format == kStills ? kFormats[memory.format] : "png";
  const std::string suggestion = ui.workspace.exports.picture_path(name, "." + ending);
  // The path has the focus, so that somebody who opened the dialog by key need only press Enter.
  const bool asks = ui.state.dialog_just_opened && memory.path.empty();
  if (memory.path.empty() || memory.path == memory.suggested) memory.path = suggestion;
  // A name that was typed follows the format, unless somebody types just now.
  if (format_changed) memory.path = viz::with_ending_of(memory.path, ending);
  memory.suggested = suggestion;
  ImGui::SetNextItemWidth(-FLT_MIN);
  if (asks) ImGui::SetKeyboardFocusHere();
  const bool enter = ImGui::InputText("##path", &memory.path, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "%s", !still ? (memory.format == kStills
                          ? "A frame for each step, 960 × 540, 0.8 s each; without end."
                          : "A picture for each step, 960 × 540: NAME-000.png, NAME-001.png, …")
            : both ? "The panel of both runs at their cursors, with model, method, seed, version "
                     "and step of each in the file; in a CSV the first column names the run."
                   : "The panel at the cursor, with model, method, seed, version and step in the "
                     "file.");
  ImGui::PopTextWrapPos();
  const bool pressed = ImGui::Button("Export");
  help_tooltip("The file's path goes to the clipboard.", ui.em);
  name_part(ui, "export");
  if (!pressed && !enter) return false;
  ExportJob job{name, memory.path};
  job.theme = memory.theme;
  job.both = memory.both;
  job.part = memory.part;
  job.in_range = memory.in_range;
  job.slide = memory.slide;
  job.notes = memory.notes && has_notes;
  job.seen = seen;
  if (still)
    job.format = static_cast<viz::ExportFormat>(memory.format);
  else
    job.animation = static_cast<Animation>(memory.format - kStills);
  ui.workspace.exports.start(job);
  ui.state.copy = memory.path;
  return true;
}

}  // namespace triescope::app
