// A frame of the window, and the parts of it that stand around panes and run bar: a file each.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_window(Ui& ui);  // one frame, between ImGui::NewFrame and ImGui::Render

void draw_menu(Ui& ui);         // ui_menu.cpp
void draw_tool_bar(Ui& ui);     // ui_tool_bar.cpp
void draw_documents(Ui& ui);    // ui_documents.cpp
void draw_status_line(Ui& ui);  // ui_notices.cpp
// Errors and progress, over the panes, which do not move for them; `bottom`: where they end, in px.
void draw_notices(Ui& ui, float bottom);  // ui_notices.cpp
// What stopped the run, in one line of at most `width` px; nothing where nothing did.
void draw_break_reason(Ui& ui, float width);  // ui_notices.cpp
// In place of all else while a run is measured: how far it is, and a button that ends it.
void draw_measuring(Ui& ui);  // ui_notices.cpp

}  // namespace triescope::app
