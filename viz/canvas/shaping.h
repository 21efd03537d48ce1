// Which texts need more than a row of glyphs, and the sign for a character that no font has. Pure
// functions; any thread may call.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace triescope::viz {

// Whether a text has characters whose look or place depends on their neighbours: combining marks
// (which include every Indic and Thai syllable), right-to-left letters, conjoining Hangul, joined
// emoji and flags. Such a text must be laid out as a whole. Every other text, Chinese included, has
// one glyph for each character, from left to right.
bool needs_shaping(std::string_view utf8);

// A frame around a character's code point in hexadecimal, in two rows of digits (01F / 600), as
// many typesetters draw characters without a glyph. It needs no font. `alpha` is 0 or 255, row by
// row.
struct CodePointBox {
  int width = 0, height = 0;  // px
  std::vector<std::uint8_t> alpha;
};
// `size_px` is the size of the surrounding text; the box grows with it in whole steps, so it stays
// sharp.
CodePointBox code_point_box(char32_t code, float size_px);

}  // namespace triescope::viz
