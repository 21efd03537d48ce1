// Two runs side by side.
#pragma once

#include "app/window/shell/ui.h"

namespace triescope::app {

float draw_compare_strip(Ui& ui, float width);  // returns its height
void draw_compare_pair(Ui& ui, const std::string& panel, viz::Rect area, Document& left);
bool draw_compare(Ui& ui);  // ui_compare_dialog.cpp; true: it is done

}  // namespace triescope::app
