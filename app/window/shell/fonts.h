// Fonts: found through fontconfig (Inter, JetBrains Mono, DejaVu, else whatever the system has),
// with glyphs that the first choice lacks taken from the next, and any other character from any
// font there is; Dear ImGui's built-in font if none has Latin letters. Glyphs are made on demand, in
// every size that is drawn.
#pragma once

#include "viz/canvas/imgui_canvas.h"
#include "viz/canvas/imgui_glyphs.h"

namespace triescope::app {

// Adds the three faces to the atlas of the Dear ImGui context. `glyphs` must outlive the context.
// Never fails.
viz::ImGuiFonts load_fonts(viz::PangoGlyphs& glyphs);

}  // namespace triescope::app
