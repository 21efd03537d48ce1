// Fonts: found through fontconfig (Inter, JetBrains Mono, DejaVu, else any font of the system). A
// glyph that the first choice lacks comes from the next one, and any other character from any font
// there is. If none has Latin letters, Dear ImGui's built-in font is used. Glyphs are made on
// demand, in every size that is drawn.
#pragma once

#include "viz/canvas/imgui_canvas.h"
#include "viz/canvas/imgui_glyphs.h"

namespace triescope::app {

// Adds the three faces to the atlas of the Dear ImGui context. `glyphs` must outlive the context.
// Never fails.
viz::ImGuiFonts load_fonts(viz::PangoGlyphs& glyphs);

}  // namespace triescope::app
