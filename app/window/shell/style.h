// Style: sets Dear ImGui's colours from the theme and its sizes from the text size.
#pragma once

#include <imgui.h>

#include "viz/draw/theme.h"

namespace triescope::app {

void apply_style(const viz::Theme& theme, float em);

inline ImU32 to_imgui(viz::Color c) { return IM_COL32(c.r, c.g, c.b, c.a); }
inline ImVec4 to_imgui_vec(viz::Color c) {
  return ImVec4(c.r / 255.0f, c.g / 255.0f, c.b / 255.0f, c.a / 255.0f);
}

}  // namespace triescope::app
