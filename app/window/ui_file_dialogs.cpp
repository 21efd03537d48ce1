// Dialogs about files: open, save, export.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <cfloat>
#include <filesystem>

#include "app/window/style.h"
#include "app/window/ui_dialogs.h"

namespace triescope::app {

namespace fs = std::filesystem;

bool draw_open(Ui& ui) {
  FileBrowser& browser = ui.state.dialogs.open_files;
  browser.extensions = {".tscap", ".gguf", ".txt"};
  if (browser.folder.empty() && ui.workspace.active())
    browser.folder = fs::path(ui.workspace.active()->path).parent_path().string();
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "A .tscap capture, a .gguf model, a Hugging Face model folder (config.json, *.safetensors, "
      "tokenizer.json), or a .txt file, which becomes the prompt.");
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
  if (save) ui.workspace.save_capture_as(browser.path);
  return save;
}

bool draw_export(Ui& ui) {
  auto& [format, theme, both, path, suggested] = ui.state.dialogs.picture;
  static constexpr const char* kFormats[] = {"svg", "pdf", "png", "csv"};
  Document* document = ui.workspace.active();
  if (!document) return true;
  if (!document->panel(ui.state.export_panel))
    ui.state.export_panel = document->panels.front()->info().name;
  const auto head = [&](const char* title) {
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(title);
    ImGui::SameLine(ui.em * 5);
  };
  head("Panel");
  ImGui::SetNextItemWidth(ui.em * 16);
  if (ImGui::BeginCombo("##panel", document->panel(ui.state.export_panel)->info().title.c_str())) {
    for (const auto& panel : document->panels)
      if (ImGui::Selectable(panel->info().title.c_str(),
                            panel->info().name == ui.state.export_panel))
        ui.state.export_panel = panel->info().name;
    ImGui::EndCombo();
  }
  head("Format");
  for (int i = 0; i < 4; ++i) {
    if (i) ImGui::SameLine();
    ImGui::RadioButton(kFormats[i], &format, i);
  }
  const bool picture = static_cast<viz::ExportFormat>(format) != viz::ExportFormat::kCsv;
  ImGui::BeginDisabled(!picture);
  head("Theme");
  for (const viz::ThemeName one :
       {viz::ThemeName::kLight, viz::ThemeName::kDark, viz::ThemeName::kProjector}) {
    if (one != viz::ThemeName::kLight) ImGui::SameLine();
    if (ImGui::RadioButton(viz::to_string(one), theme == one)) theme = one;
    name_part(ui, std::string("theme ") + viz::to_string(one));
  }
  help_tooltip("Light, with text contrast of 7 and more: for the last row and a dim projector.",
               ui.em);
  ImGui::EndDisabled();
  const Document* partner = ui.workspace.partner();
  if (partner) {
    ImGui::Checkbox("Both runs, side by side", &both);
    help_tooltip(document->title + "  |  " + partner->title, ui.em);
  }
  const std::string suggestion =
      (fs::current_path() / (ui.state.export_panel + "." + kFormats[format])).string();
  if (path.empty() || path == suggested) path = suggestion;
  suggested = suggestion;
  ImGui::SetNextItemWidth(-FLT_MIN);
  const bool enter = ImGui::InputText("##path", &path, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled(
      "%s",
      partner && both
          ? "The whole extent of the panel of both runs at their cursors, with model, method, "
            "seed, version and step of each in the file; in a CSV the first column names the "
            "run."
          : "The whole extent of the panel at the cursor, with model, method, seed, version "
            "and step in the file.");
  if (document->range)
    ImGui::TextDisabled("Figures are limited to steps %d to %d, as on the screen.",
                        document->range->first, document->range->second);
  ImGui::PopTextWrapPos();
  const bool pressed = ImGui::Button("Export");
  name_part(ui, "export");
  if (!pressed && !enter) return false;
  ui.workspace.start_export(
      {ui.state.export_panel, path, static_cast<viz::ExportFormat>(format), theme, both});
  return true;
}

}  // namespace triescope::app
