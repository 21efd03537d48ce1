// Fonts: found through fontconfig (Inter, JetBrains Mono, DejaVu, else whatever the system has),
// with glyphs that the first choice lacks taken from the next; Dear ImGui's built-in bitmap font
// if there is none at all. Needs a rebuild when the text size changes.
#pragma once

#include "viz/canvas/imgui_canvas.h"

namespace triescope::app {

// Clears the atlas and loads the three faces at `size_px`. Never fails.
viz::ImGuiFonts load_fonts(float size_px);

}  // namespace triescope::app
