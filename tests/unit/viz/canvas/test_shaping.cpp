#include "viz/canvas/shaping.h"

#include <doctest/doctest.h>

#include <string>

#include "viz/canvas/pango_text.h"

namespace triescope::viz::test_shaping {
namespace {

// The box's pixels as text, a line a row.
std::string drawn(const CodePointBox& box) {
  std::string out;
  for (int y = 0; y < box.height; ++y) {
    for (int x = 0; x < box.width; ++x)
      out += box.alpha[static_cast<std::size_t>(y * box.width + x)] ? '#' : '.';
    out += '\n';
  }
  return out;
}

TEST_CASE("shaping: text of one glyph a character needs no shaping") {
  for (const char* text : {"", "plain words", "naïve Ærøskøbing", "Ελληνικά", "Русский", "中文字",
                           "日本語のかな", "한국어", "→ ✓ ★ ⟨E2⟩", "😀", "\xE2\x82 broken",
                           "a\xC2\xA0"
                           "b"}) {
    CAPTURE(text);
    CHECK_FALSE(needs_shaping(text));
  }
}

TEST_CASE("shaping: text whose characters change with their neighbours needs shaping") {
  for (const char* text :
       {"e\u0301", "שלום", "سلام", "नमस्ते", "ภาษาไทย ก็", "မြန်မာ", "\u1112\u1161\u11AB", "👩\u200D💻",
        "🇩🇪", "👍🏽", "\u202Eabc", "plain then שלום"}) {
    CAPTURE(text);
    CHECK(needs_shaping(text));
  }
}

TEST_CASE("shaping: a character that no font has is its code point in a box") {
  CHECK(drawn(code_point_box(0x0E01, 15)) ==
        "###########\n"
        "#.........#\n"
        "#.###.###.#\n"
        "#.#.#.#...#\n"
        "#.#.#.##..#\n"
        "#.#.#.#...#\n"
        "#.###.###.#\n"
        "#.........#\n"
        "#.###..#..#\n"
        "#.#.#.##..#\n"
        "#.#.#..#..#\n"
        "#.#.#..#..#\n"
        "#.###.###.#\n"
        "#.........#\n"
        "###########\n");
}

TEST_CASE("shaping: beyond U+FFFF the box has six digits; it grows with the text in whole steps") {
  CHECK(drawn(code_point_box(0x1F600, 14)) ==
        "###############\n"
        "#.............#\n"
        "#.###..#..###.#\n"
        "#.#.#.##..#...#\n"
        "#.#.#..#..##..#\n"
        "#.#.#..#..#...#\n"
        "#.###.###.#...#\n"
        "#.............#\n"
        "#.###.###.###.#\n"
        "#.#...#.#.#.#.#\n"
        "#.###.#.#.#.#.#\n"
        "#.#.#.#.#.#.#.#\n"
        "#.###.###.###.#\n"
        "#.............#\n"
        "###############\n");
  CHECK(code_point_box(0x1F600, 27.9f).width == 15);
  CHECK(code_point_box(0x1F600, 28).width == 30);
  CHECK(code_point_box(0xFFFF, 28).width == 22);
  CHECK(code_point_box(0x10000, 1).width == 15);
  CHECK(code_point_box(0xFFFF, 28).height == 30);
}

TEST_CASE("shaping: Pango lays a word out as a whole: its width is not the sum of its letters") {
  PangoText pango;
  const auto width = [&](const char* text) { return pango.measure(text, FontFace::kUi, 20).x; };
  // A combining mark adds no width.
  CHECK(width("e\u0301x") == doctest::Approx(width("ex")).epsilon(0.02));
  CHECK(width("ee") > width("e") * 1.9f);
}

TEST_CASE("shaping: a picture of a text covers its ink, and says where the baseline is") {
  PangoText pango;
  const PangoText::Picture line = pango.picture("H", FontFace::kUi, 40);
  CHECK(line.complete);
  CHECK_FALSE(line.colored);
  CHECK(line.rgba.size() ==
        static_cast<std::size_t>(line.width) * static_cast<std::size_t>(line.height) * 4);
  // A capital stands on the baseline.
  CHECK(line.top < -24);
  CHECK(line.top + static_cast<float>(line.height) >= -1);
  CHECK(line.top + static_cast<float>(line.height) <= 1);
  CHECK(line.advance > static_cast<float>(line.width) * 0.9f);
  std::size_t ink = 0;
  for (std::size_t i = 3; i < line.rgba.size(); i += 4) ink += line.rgba[i] > 128;
  CHECK(ink > 100);
  // Descenders reach below the baseline.
  const PangoText::Picture deep = pango.picture("g", FontFace::kUi, 40);
  CHECK(deep.top + static_cast<float>(deep.height) > 4);
}

TEST_CASE("shaping: a picture of spaces has no pixels and moves on") {
  PangoText pango;
  const PangoText::Picture blank = pango.picture("  ", FontFace::kMono, 20);
  CHECK(blank.width == 0);
  CHECK(blank.rgba.empty());
  CHECK(blank.advance > 10);
}

TEST_CASE("shaping: a character that no font can have is told") {
  PangoText pango;
  // Noncharacters are in no font.
  CHECK_FALSE(pango.picture("\uFDD0", FontFace::kUi, 20).complete);
  CHECK(pango.picture("a", FontFace::kUi, 20).complete);
}

}  // namespace
}  // namespace triescope::viz::test_shaping
