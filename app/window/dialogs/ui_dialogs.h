// Dialogs: open, save, export, compare, palette, keys, glossary, breakpoints, what-if. At most one
// is open; Esc closes it. These functions draw the contents; the frame and the small dialogs are in
// ui_dialogs.cpp. Each returns true when its dialog is done.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_dialogs(Ui& ui);  // draws the open dialog in its frame

bool draw_open(Ui& ui);
bool draw_save_as(Ui& ui);
bool draw_save_run(Ui& ui);
bool draw_export(Ui& ui);
bool draw_palette(Ui& ui);
bool draw_keys(Ui& ui);
bool draw_glossary(Ui& ui);
bool draw_bookmarks(Ui& ui);
bool draw_breakpoints(Ui& ui);
bool draw_what_if(Ui& ui);
bool draw_connect(Ui& ui);

}  // namespace triescope::app
