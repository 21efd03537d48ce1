// Dialogs: open, save, export, compare, palette, keys, glossary, breakpoints, what-if. At most one is open;
// Esc closes it. The contents of each; the frame around them, and the small ones, are in
// ui_dialogs.cpp. Every function returns true when its dialog is done.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

void draw_dialogs(Ui& ui);  // the one that is open, in its frame

bool draw_open(Ui& ui);
bool draw_save_as(Ui& ui);
bool draw_save_run(Ui& ui);
bool draw_export(Ui& ui);
bool draw_palette(Ui& ui);
bool draw_keys(Ui& ui);
bool draw_glossary(Ui& ui);
bool draw_breakpoints(Ui& ui);
bool draw_what_if(Ui& ui);

}  // namespace triescope::app
