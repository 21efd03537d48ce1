// Theme: every colour and mark of the pictures, checked for colour-blind eyes (docs/colours.md).
// Never colour alone: a glyph, a line style and a word go with it.
#pragma once

#include <string_view>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"

namespace triescope::viz {

struct Mark {
  Color color;
  std::string_view glyph;  // "✓" "✕" "★" "○" ...
  LineStyle line = LineStyle::kSolid;
  std::string_view word;  // "accepted"
  bool hollow = false;
  bool struck = false;
  bool outlined = false;  // boxes of this state get an outline in the text's colour (light bonus)
};

struct Theme {
  bool dark = true;
  Color background, surface, raised, border, grid, text, text_dim, accent, focus, current;
  Color difference;               // what two runs do differently, with the glyph ≠
  Color difference_tint() const;  // behind a token that differs
  Mark mark(capture::NodeState state) const;
  Color beam(int rank) const;  // Okabe-Ito by rank, then shades
  Color source(capture::Source s) const;
  Color legible(Color c) const;   // the same hue, dark enough for letters on a light ground
  Color series(int index) const;  // plot curves
};

Theme dark_theme();
Theme light_theme();

}  // namespace triescope::viz
