// PangoGlyphs: what Dear ImGui's fonts lack, as glyphs in its atlas, made on demand in the size
// that is drawn. A character of any script comes from whatever font the system has, and one that no
// font has is a box with its code point. A text that must be laid out as a whole (shaping.h) is one
// glyph in a font of its own. Pango draws them, so nothing here knows fonts or scripts. Must
// outlive the atlas. Window thread only.
#pragma once

#include <imgui.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/canvas/pango_text.h"

namespace triescope::viz {

class PangoGlyphs {
 public:
  PangoGlyphs() = default;
  PangoGlyphs(const PangoGlyphs&) = delete;
  PangoGlyphs& operator=(const PangoGlyphs&) = delete;

  // Makes `font` (just added to `atlas`, otherwise complete) cover every character, and prepares
  // the texts that stand beside its letters. Called once for each face.
  void complete(ImFontAtlas& atlas, ImFont* font, FontFace face);

  // A text as one character of fonts(face): draw it there at the size of the surrounding text.
  ImFont* font(FontFace face) const { return faces_[static_cast<std::size_t>(face)].texts; }
  ImWchar character(std::string_view utf8);

  // Dear ImGui asks this for the picture of `c`. False: `c` is not a character of this font.
  struct Source {
    PangoGlyphs* glyphs = nullptr;
    FontFace face = FontFace::kUi;
    bool of_texts = false;  // whether its characters are texts
  };

 private:
  friend struct PangoLoader;
  struct Face {
    ImFont *letters = nullptr, *texts = nullptr;
    Source fallback, whole;  // Dear ImGui's font sources point to these
  };
  PangoText pango_;
  std::array<Face, 3> faces_{};
  std::map<std::string, ImWchar, std::less<>> characters_;
  std::vector<const std::string*> texts_;  // by character, from kFirstText
};

}  // namespace triescope::viz
