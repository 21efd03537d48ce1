// Ui: draws the window from a Workspace: menu, tool bar, run bar, panes, dialogs, status line. Dear
// ImGui from here on.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "app/window/commands.h"
#include "app/window/workspace.h"
#include "viz/canvas/imgui_canvas.h"

namespace triescope::app {

// Keys that act on the panel under the mouse, pressed since the last frame.
struct PanelKeys {
  bool zoom_in = false, zoom_out = false, pan_left = false, pan_right = false, fit = false,
       previous = false, next = false;
};

struct Ui {
  Workspace& workspace;
  UiState& state;
  const CommandTable& commands;
  viz::ImGuiFonts fonts;
  viz::Theme theme;
  float em = 14;  // px
  PanelKeys keys;
  bool animating = false;                   // set while drawing: another frame is wanted
  std::vector<std::string> visible_panels;  // set while drawing

  void draw();  // one frame, between ImGui::NewFrame and ImGui::Render

 private:
  void draw_menu();
  void draw_tool_bar();
  void draw_documents();
  void draw_problems();
  // ui_run_bar.cpp
  void draw_run_bar(ImVec2 size);
  void list_catalog(const std::string& shown, std::string& model);
  void draw_draft_model_field(std::string& model);
  void draw_model_settings(RunRequest& request);
  void draw_prompt_field(std::string& prompt, float height);
  void draw_prompt_count(const RunRequest& request);  // ui_prompt_count.cpp
  void draw_panes(viz::Rect area);
  void draw_pane(PlacedPane& pane, Document& document);
  // ui_compare.cpp
  float draw_compare_strip(float width);  // returns its height
  void draw_compare_pair(const std::string& panel, viz::Rect area, Document& left);
  bool draw_compare_choice();  // the captures to choose from; true: chosen
  bool draw_compare_dialog();
  void draw_panel(viz::Panel& panel, viz::Rect area, Document& document);
  void draw_empty(viz::Rect area);
  void draw_status_line();
  void draw_dialogs();

  bool command_button(const char* id, const char* label, bool primary = false);
};

// --- pieces shared by the drawing files ---
// Text cut in the middle to fit `width`, with the whole of it as a tooltip.
void text_fitted(const std::string& text, float width);
void help_tooltip(const std::string& text, float em);  // shown when the last item is hovered

// Controls of the method parameters (ui_parameters.cpp). True if something changed.
bool edit_parameters(const MethodInfo& method, nlohmann::json& settings, float em);

// A small file browser (ui_files.cpp): `path` is edited; `extensions` filter what is listed ("" =
// folders alone count).
struct FileBrowser {
  std::string folder, path;
  std::vector<std::string> extensions;
  // True when a file was chosen by double click or Enter.
  bool draw(float em, float height);
};

}  // namespace triescope::app
