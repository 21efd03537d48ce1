// Small parts that panels share: texts cut and wrapped, legends, buttons.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/viz/recording_canvas.h"
#include "viz/draw/drawing.h"

namespace triescope::viz::test_drawing {
namespace {

using test::RecordingCanvas;
using Lines = std::vector<std::string>;

// A character of this style is 10 px wide.
const TextStyle kTen{FontFace::kMono, 10 / 0.6f, {}};

Scene plain() {
  Scene scene;
  scene.theme = dark_theme();
  return scene;
}

TEST_CASE("drawing: a text that does not fit ends in …, and never within a character") {
  RecordingCanvas canvas;
  CHECK(fit_text(canvas, "abcde", kTen, 50.01f) == "abcde");
  CHECK(fit_text(canvas, "abcde", kTen, 49.9f) == "abc…");
  CHECK(fit_text(canvas, "aéé", kTen, 29.9f) == "a…");
  CHECK(fit_text(canvas, "abc", kTen, 19.9f) == "");
  CHECK(fit_text(canvas, "", kTen, 0) == "");
}

TEST_CASE("drawing: words are broken into lines, a space at a break goes") {
  RecordingCanvas canvas;
  CHECK(wrap_text(canvas, "ab cd ef", kTen, 50.01f) == Lines{"ab cd", "ef"});
  CHECK(wrap_text(canvas, "ab cd ef", kTen, 49.9f) == Lines{"ab", "cd", "ef"});
  CHECK(wrap_text(canvas, "a\nb", kTen, 100) == Lines{"a", "b"});
  CHECK(wrap_text(canvas, "", kTen, 100) == Lines{""});
  CHECK(wrap_text(canvas, "abcdef gh", kTen, 30) == Lines{"abcdef", "gh"});
}

TEST_CASE("drawing: texts stand left, in the middle or right in their box") {
  RecordingCanvas canvas;
  text_in(canvas, {100, 50, 80, 30}, "abc", kTen);
  text_in(canvas, {100, 50, 80, 30}, "abc", kTen, Align::kCenter);
  text_in(canvas, {100, 50, 80, 30}, "abc", kTen, Align::kRight);
  REQUIRE(canvas.texts.size() == 3);
  CHECK(canvas.texts[0].box.x == 100);
  CHECK(canvas.texts[1].box.x == doctest::Approx(125));
  CHECK(canvas.texts[2].box.x == doctest::Approx(150));
  for (const auto& text : canvas.texts) CHECK(text.box.y + text.box.h / 2 == doctest::Approx(65));
}

TEST_CASE("drawing: a legend breaks into rows, and what is beyond the last is counted") {
  const Scene scene = plain();
  const std::vector<LegendEntry> entries = {{"one", {}, "■"}, {"two", {}, "■"}, {"three", {}, "■"}};
  const float row = scene.em * 1.35f;
  std::vector<Rect> boxes;
  RecordingCanvas wide, narrow, cut;
  CHECK(draw_legend(wide, {5, 7}, 1000, entries, scene, &boxes) == doctest::Approx(row));
  REQUIRE(boxes.size() == 3);
  CHECK(boxes[0].x == 5);
  CHECK(boxes[0].y == 7);
  CHECK(boxes[1].x == doctest::Approx(boxes[0].right() + scene.em));
  CHECK(boxes[2].y == 7);
  const float two = boxes[1].right() - 5;
  CHECK(draw_legend(narrow, {5, 7}, two + 1, entries, scene, &boxes) == doctest::Approx(2 * row));
  REQUIRE(boxes.size() == 3);
  CHECK(boxes[2].x == 5);
  CHECK(boxes[2].y == doctest::Approx(7 + row));
  CHECK(legend_height(narrow, two + 1, entries, scene) == doctest::Approx(2 * row));
  CHECK(draw_legend(cut, {5, 7}, two + 1, entries, scene, &boxes, 1) == doctest::Approx(row));
  CHECK(boxes.size() == 1);  // the second would leave no room for the count
  REQUIRE(cut.texts.size() == 2);
  CHECK(cut.texts[1].text == "+ 2");
  CHECK(cut.texts[1].box.right() <= 5 + two + 1);
  RecordingCanvas roomy, whole;
  draw_legend(roomy, {5, 7}, two + scene.em * 3.5f, entries, scene, &boxes, 1);
  CHECK(boxes.size() == 2);
  CHECK(roomy.texts.back().text == "+ 1");
  // An entry that fits to the px is not counted.
  const float three =
      legend_height(whole, 1000, entries, scene) > 0 ? wide.texts.back().box.right() - 5 : 0;
  draw_legend(whole, {5, 7}, three + 1, entries, scene, &boxes, 1);
  CHECK(boxes.size() == 3);
  CHECK(draw_legend(cut, {5, 7}, 100, {}, scene, &boxes) == 0);
  CHECK(boxes.empty());
}

TEST_CASE(
    "drawing: beside another run before an audience a legend has two rows at most, its letters the smallest") {
  Scene scene = plain();
  scene.legend = LegendRoom::kTwoRows;
  std::vector<LegendEntry> entries;
  for (const char* name : {"accepted", "rejected", "bonus", "corrected", "pending", "withdrawn",
                           "differs", "changed just now"})
    entries.push_back({name, {}, "■"});
  RecordingCanvas canvas;
  const float width = scene.em * 28, row = scene.em * 1.15f;
  CHECK(draw_legend(canvas, {0, 0}, width, entries, scene) == doctest::Approx(2 * row));
  CHECK(legend_height(canvas, width, entries, scene) == doctest::Approx(2 * row));
  REQUIRE(canvas.texts.size() == entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CHECK(canvas.texts[i].text == entries[i].label);
    CHECK(canvas.texts[i].size == doctest::Approx(scene.em * 0.74f));
    CHECK(canvas.texts[i].box.right() <= width);
  }
  // What has no room there is counted.
  RecordingCanvas narrow;
  CHECK(draw_legend(narrow, {0, 0}, scene.em * 12, entries, scene) == doctest::Approx(2 * row));
  CHECK(legend_height(narrow, scene.em * 12, entries, scene) == doctest::Approx(2 * row));
  const std::size_t shown = narrow.texts.size() - 1;
  CHECK(narrow.texts.back().text == "+ " + std::to_string(entries.size() - shown));
}

TEST_CASE("drawing: every glyph that a legend or a mark asks for is drawn") {
  for (const char* glyph :
       {"✓", "✕", "★", "○", "◇", "◆", "■", "□", "–", "Δ", "▼", "●", "#", "≠", "✦", "→"}) {
    CAPTURE(glyph);
    RecordingCanvas canvas;
    draw_glyph(canvas, glyph, {50, 50}, 10, {});
    CHECK(canvas.shapes > 0);
    CHECK(canvas.ink.w > 0);
  }
}

TEST_CASE("drawing: low panes have a legend of one row") {
  const Scene scene = plain();
  CHECK(legend_rows({0, 0, 500, scene.em * 14 - 1}, scene) == 1);
  CHECK(legend_rows({0, 0, 500, scene.em * 14}, scene) == 4);
}

TEST_CASE("drawing: a button hangs from its top right corner, as wide as its label needs") {
  RecordingCanvas canvas;
  const Scene scene = plain();
  const Rect box = draw_button(canvas, {300, 20}, "lines", scene);
  CHECK(box.right() == doctest::Approx(300));
  CHECK(box.y == 20);
  CHECK(box.h == doctest::Approx(scene.em * 1.3f));
  CHECK(box.w == doctest::Approx(5 * 0.8f * scene.em * 0.55f + scene.em * 0.9f));
}

}  // namespace
}  // namespace triescope::viz::test_drawing
