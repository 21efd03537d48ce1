// Ui: the state that the drawing code shares: the workspace it shows, its own state, and the fonts
// and theme of the frame. The parts of the window are functions over it. Dear ImGui begins at this
// file.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "app/window/shell/command.h"
#include "app/window/shell/ui_state.h"
#include "app/window/workspace/workspace.h"
#include "viz/canvas/imgui_canvas.h"

namespace triescope::app {

// A drawn pane, as a place to drop a panel.
struct DropTarget {
  PaneNode* pane = nullptr;
  viz::Rect area;
  ImGuiViewport* viewport = nullptr;
};

// A part that can be pressed, by name, so that tests can press it.
struct PressTarget {
  std::string name;  // "recent 1"; in a lesson: "choice 1", "show me", "next", "link 0"
  viz::Rect area;
};

struct Ui {
  Workspace& workspace;
  UiState& state;
  const CommandList& commands;
  viz::ImGuiFonts fonts = {};
  viz::Theme theme = viz::dark_theme();
  float em = 15;                                    // px
  float desk_em = 15;                               // px, of the window outside of lecture mode
  PanelKeys keys = {};                              // this frame's
  bool maximised = false;                           // set while drawing a maximised pane
  viz::LegendRoom legend = viz::LegendRoom::kPane;  // for the panels that are being drawn
  bool animating = false;                           // set while drawing: another frame is wanted
  std::vector<std::string> visible_panels = {};     // set while drawing
  std::vector<DropTarget> drop_targets = {};        // set while drawing
  std::vector<PressTarget> press_targets = {};      // set while drawing
  std::string walk_focus = {};                      // name of the focused part; set while drawing
  float smallest_text = 0;  // px, the smallest that panels drew in the last frame; 0 = no text

  void note_text(float px) {
    if (px > 0 && (smallest_text == 0 || px < smallest_text)) smallest_text = px;
  }
};

// Names the last item as a part that can be pressed and focused.
void name_part(Ui& ui, const std::string& name);

// --- pieces that several parts use ---
// A button that runs a command, with its title and key as a tooltip.
bool command_button(Ui& ui, const char* id, const char* label, bool primary = false);
// A button of a choice, lit where it is the one in force.
bool lit_button(const char* label, bool is_lit, bool is_small = false);
// Text cut between words to fit `width`, with the whole of it as a tooltip; one long word in its middle.
void text_fitted(const std::string& text, float width);
// `shown`, which is shorter or says less than `whole`, with that as a tooltip.
void line_fitted(const std::string& shown, const std::string& whole);
float line_width(const std::string& text);  // px; what line_fit.h measures with
// Text of which both ends count, a path or a name, with "…" in its middle where the whole is wider than `width` px.
std::string middle_fitted(const std::string& text, float width);
void help_tooltip(const std::string& text, float em);  // shown when the last item is hovered
viz::Color problem_color(const Ui& ui);
// Says below a field why a run would refuse its content; draws nothing for "".
void draw_problem(const Ui& ui, const std::string& text);
// ui_panel.cpp. `em` is the panel's, in px; 0 = the window's, larger while the panel is maximised.
void draw_panel(Ui& ui, viz::Panel& panel, viz::Rect area, Document& document, float em = 0);
// Makes Escape leave the text field just drawn without undoing what was typed, as Dear ImGui would.
// `before` is the text before the field was drawn.
void keep_on_escape(std::string& text, const std::string& before);

}  // namespace triescope::app
