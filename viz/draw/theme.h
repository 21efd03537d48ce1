// Theme: every colour and mark of the pictures, checked for colour-blind eyes (docs/colours.md).
// Colour never stands alone: a glyph, a line style and a word go with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"

namespace triescope::viz {

struct Mark {
  Color color;
  std::string_view glyph;  // "✓" "✕" "★" "◆" "○" ...
  LineStyle line = LineStyle::kSolid;
  std::string_view word;  // "accepted"
  bool hollow = false;
  bool struck = false;
  bool outlined = false;  // boxes of this state get an outline in the text's colour (light bonus)
};

enum class ThemeName : std::uint8_t { kDark, kLight, kProjector };
const char* to_string(ThemeName name);  // "dark", "light", "projector"
// Error{kInvalidArgument}: lists the names.
ThemeName theme_name_from_string(const std::string& name);

struct Theme {
  ThemeName name = ThemeName::kDark;
  bool dark = true;            // whether its ground is dark
  double text_contrast = 4.5;  // WCAG's contrast of letters with every ground on which they stand
  Color background, surface, raised, border, grid, text, text_dim, accent, focus, current;
  Color kept, rejected, star, corrected, gone;  // colours of verdicts
  bool star_outlined = false;                   // the star's colour alone has too little contrast
  Color lit;                                    // for what changed just now, with the glyph ✦
  Color fault;                    // for what is not as the tree asks, with the glyphs ▲ △
  Color difference;               // for what two runs do differently, with the glyph ≠
  Color difference_tint() const;  // stands behind a token that differs
  Mark mark(capture::NodeState state) const;
  Color beam(int rank) const;     // Okabe-Ito by rank, then shades
  Color legible(Color c) const;   // the same hue, dark enough for letters on a light ground
  Color series(int index) const;  // plot curves
  // Curves of a recorder's own figures: apart from the first five of series(), the phases' in the same picture.
  Color metric(int index) const;
};

Theme dark_theme();
Theme light_theme();
// A light theme for the last row and a weak lamp: letters have a contrast of 7 or more, marks of 3
// or more.
Theme projector_theme();
Theme theme_of(ThemeName name);

}  // namespace triescope::viz
