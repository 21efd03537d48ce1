// A frame of the window, and the parts that stand around panes and run bar, one a file.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_window(Ui& ui);  // one frame, between ImGui::NewFrame and ImGui::Render

void draw_menu(Ui& ui);         // ui_menu.cpp
void draw_tool_bar(Ui& ui);     // ui_tool_bar.cpp
void draw_documents(Ui& ui);    // ui_documents.cpp
void draw_status_line(Ui& ui);  // ui_notices.cpp
// Draws errors and progress over the panes, which do not move for them, down to `bottom` in px.
void draw_notices(Ui& ui, float bottom);  // ui_notices.cpp
// Says what stopped the run, in one line of at most `width` px; draws nothing if nothing did.
void draw_break_reason(Ui& ui, float width);  // ui_notices.cpp
// Replaces all else while a run is measured: its progress, and a button that ends it.
void draw_measuring(Ui& ui);  // ui_notices.cpp

}  // namespace triescope::app
