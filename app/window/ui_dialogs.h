// Dialogs: open, save, export, palette, keys, breakpoints, what-if, bookmark, messages, about. At
// most one is open; Esc closes it. The contents of each; the frame around them is Ui::draw_dialogs.
// Every function returns true when its dialog is done.
#pragma once

#include "app/window/ui.h"

namespace triescope::app {

bool draw_open(Ui& ui);
bool draw_save_as(Ui& ui);
bool draw_export(Ui& ui);
bool draw_palette(Ui& ui);
bool draw_keys(Ui& ui);
bool draw_breakpoints(Ui& ui);
bool draw_what_if(Ui& ui);

}  // namespace triescope::app
