// The panes, their parts, and the bar that searches them.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_panes(Ui& ui, viz::Rect area);
// ui_start_screen.cpp. Stands in the panes' place while no capture is open.
void draw_empty(Ui& ui, viz::Rect area);
// Draws a tree of panes into `area`. `floats`: it is in a window of its own.
void draw_tree(Ui& ui, PaneNode& root, viz::Rect area, Document& document, bool floats);

// --- ui_floating_panes.cpp ---
// Draws a window for every floating tree; closing one brings its panels back.
void draw_floating(Ui& ui, Document& document);
// Moves the keyboard's focus from its window to the next one and makes it visible there.
void focus_window(Ui& ui, int by);
// Moves a panel into a window at `at`, a position in this frame.
void undock_at(Ui& ui, const std::string& panel, ImVec2 at);
// Shows where the dragged tab would go, and puts it there when it is let go.
void drag_panel(Ui& ui, const Document& document);

// ui_pane.cpp. `floats`: the pane is in a window of its own.
void draw_pane(Ui& ui, PlacedPane& pane, Document& document, bool floats);
// ui_pane_buttons.cpp. `zooms`: the buttons that zoom and fit are drawn too. `front` is the panel
// in front; nullptr = none.
void draw_pane_buttons(Ui& ui, PaneNode& pane, const viz::Panel* front, viz::Rect header,
                       bool zooms, bool floats);
void draw_tab_menu(Ui& ui, const std::string& name, Document& document);  // ui_tab_menu.cpp
float pane_buttons_width(const Ui& ui, bool zooms);  // px, including the list of hidden tabs

// ui_runs_table.cpp. Stands in the panes' place while the table of runs is open.
void draw_runs_table(Ui& ui, viz::Rect area);
void draw_runs_head(Ui& ui, float width);  // ui_runs_head.cpp: what stands above all sheets
// Its other sheets, from the cursor down. ui_runs_beside.cpp, ui_runs_acceptance.cpp.
void draw_runs_beside(Ui& ui, float width);
void draw_runs_acceptance(Ui& ui, float width);
float draw_find_bar(Ui& ui, float width);  // ui_find_bar.cpp; returns its height

}  // namespace triescope::app
