// The panes, their parts, and the bar that searches them.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_panes(Ui& ui, viz::Rect area);
void draw_empty(Ui& ui, viz::Rect area);  // stands in the panes' place while no capture is open
// ui_pane.cpp. `floats`: the pane is in a window of its own.
void draw_pane(Ui& ui, PlacedPane& pane, Document& document, bool floats);
// ui_pane_buttons.cpp. `zooms`: the buttons that zoom and fit are drawn too. `front` is the panel
// in front; nullptr = none.
void draw_pane_buttons(Ui& ui, PaneNode& pane, const viz::Panel* front, viz::Rect header,
                       bool zooms, bool floats);
void draw_tab_menu(Ui& ui, const std::string& name, Document& document);  // ui_tab_menu.cpp
float pane_buttons_width(const Ui& ui, bool zooms);  // px, including the list of hidden tabs

float draw_find_bar(Ui& ui, float width);  // ui_find_bar.cpp; returns its height

}  // namespace triescope::app
