// A lesson's blocks are broken into lines.
#include "app/window/lessons/lesson_text.h"

#include <doctest/doctest.h>

#include "lessons/lesson.h"
#include "tests/unit/viz/recording_canvas.h"

namespace triescope::app::test_lesson_text {
namespace {

// A character is 5.5 px wide at this size.
using PictureSizes = std::function<viz::Point(const std::string&)>;
LessonText lay_out(const std::string& markdown, float width, const PictureSizes& pictures = {}) {
  test::RecordingCanvas canvas;
  const auto blocks = lessons::read_markdown(markdown, "a.md", 1);
  REQUIRE(blocks.size() == 1);
  return lay_out_lesson(canvas, blocks[0], width,
                        {viz::dark_theme(), 10,
                         [](const lessons::Expression&) { return std::string("'·x'"); }, pictures});
}

// "TEXT@X,Y" of every piece.
std::string places(const LessonText& text) {
  std::string all;
  for (const LessonRun& run : text.runs)
    all += run.text + "@" + std::to_string(static_cast<int>(run.box.x)) + "," +
           std::to_string(static_cast<int>(run.box.y)) + " ";
  return all;
}

TEST_CASE("lesson text: lines break at spaces, never within what belongs together") {
  // A line has 20 characters and is 15 px high.
  CHECK(places(lay_out("one two three four five", 110)) ==
        "one@0,0 two@22,0 three@44,0 four@77,0 five@0,15 ");
  CHECK(places(lay_out("aaaaaaaaaaaaaaaa**bb**, c", 110)) ==
        "aaaaaaaaaaaaaaaa@0,0 bb@88,0 ,@99,0 c@0,15 ");
  CHECK(places(lay_out("aaaaaaaaaaaaaaaaaa **bb**, c", 110)) ==
        "aaaaaaaaaaaaaaaaaa@0,0 bb@0,15 ,@11,15 c@22,15 ");
  CHECK(lay_out("one", 110).height == doctest::Approx(15 + 5.5f));
  CHECK(places(lay_out("a\\\nb", 110)) == "a@0,0 b@0,15 ");
}

TEST_CASE("lesson text: strong words and tokens are bold, code is mono, links are marked") {
  const LessonText text = lay_out("a **b** *c* `d` `= p(1)` [e](ts:node/1)", 500);
  REQUIRE(text.runs.size() == 6);
  const auto face = [&](std::size_t i) { return text.runs[i].style.face; };
  CHECK(face(0) == viz::FontFace::kUi);
  CHECK(face(1) == viz::FontFace::kUiBold);
  CHECK(face(2) == viz::FontFace::kUiBold);
  CHECK(face(3) == viz::FontFace::kMono);
  CHECK(text.runs[3].code);
  CHECK(text.runs[4].text == "'·x'");
  CHECK(face(4) == viz::FontFace::kUiBold);
  CHECK(text.runs[4].link == nullptr);
  REQUIRE(text.runs[5].link);
  CHECK(text.runs[5].link->kind == lessons::Link::Kind::kNode);
}

TEST_CASE("lesson text: lists are indented under their marks") {
  const LessonText nested = lay_out("- a\n- b\n  - c\n", 200);
  REQUIRE(nested.runs.size() == 6);
  CHECK(nested.runs[0].text == "•");
  CHECK(nested.runs[1].box.x == 15);
  CHECK(nested.runs[3].box.x == 15);
  CHECK(nested.runs[5].box.x == 30);
  CHECK(nested.runs[3].box.y > nested.runs[1].box.y);
  CHECK(nested.runs[5].box.y > nested.runs[3].box.y);
  const LessonText numbered = lay_out("9. a\n10. b\n", 200);
  REQUIRE(numbered.runs.size() == 4);
  CHECK(numbered.runs[0].text == "9.");
  CHECK(numbered.runs[2].text == "10.");
  CHECK(numbered.runs[0].box.right() == doctest::Approx(numbered.runs[2].box.right()));
  CHECK(numbered.runs[1].box.x == numbered.runs[3].box.x);
}

TEST_CASE("lesson text: a table's columns share the room there is") {
  const LessonText wide = lay_out("| aa | b |\n|---|---|\n| c | dddd |\n", 500);
  REQUIRE(wide.runs.size() == 4);
  CHECK(wide.runs[0].box.x == wide.runs[2].box.x);
  CHECK(wide.runs[1].box.x == wide.runs[3].box.x);
  CHECK(wide.runs[1].box.x > wide.runs[0].box.right());
  CHECK(wide.runs[2].box.y > wide.runs[0].box.y);
  CHECK(wide.grounds.size() == 1);
  CHECK(wide.rules.size() == 2);
  const LessonText narrow =
      lay_out("| aaaa aaaa aaaa | bbbb bbbb bbbb |\n|---|---|\n| c | d |\n", 90);
  CHECK(narrow.grounds[0].w == doctest::Approx(90));
  CHECK(narrow.height > wide.height);
}

TEST_CASE("lesson text: code stands on its own ground, line by line") {
  const LessonText text = lay_out("```\none two\nthree\n```\n", 100);
  REQUIRE(text.runs.size() == 2);
  CHECK(text.runs[0].text == "one two");
  CHECK(text.runs[1].text == "three");
  CHECK(text.runs[0].style.face == viz::FontFace::kMono);
  REQUIRE(text.grounds.size() == 1);
  CHECK(text.grounds[0].contains({text.runs[1].box.x, text.runs[1].box.y}));
}

TEST_CASE("lesson text: a picture stands on a line of its own, never wider than the room") {
  const auto picture = [](const std::string& file) {
    return file == "a.png" ? viz::Point{300, 150} : viz::Point{};  // made for text of 15 px
  };
  const LessonText wide = lay_out("before ![seen](a.png) after\n", 500, picture);
  REQUIRE(wide.pictures.size() == 1);
  CHECK(wide.pictures[0].shown);
  CHECK(wide.pictures[0].file == "a.png");
  CHECK(wide.pictures[0].text == "seen");
  CHECK(wide.pictures[0].box.w == doctest::Approx(200));
  CHECK(wide.pictures[0].box.h == doctest::Approx(100));
  REQUIRE(wide.runs.size() == 2);
  CHECK(wide.pictures[0].box.y >= wide.runs[0].box.bottom());
  CHECK(wide.runs[1].box.y >= wide.pictures[0].box.bottom());
  CHECK(wide.height >= wide.runs[1].box.bottom());
  const LessonText narrow = lay_out("![seen](a.png)\n", 120, picture);
  CHECK(narrow.pictures[0].box.w == 120);
  CHECK(narrow.pictures[0].box.h == doctest::Approx(60));
  CHECK(narrow.runs.empty());
}

TEST_CASE("lesson text: where a picture cannot be shown, its text stands") {
  const LessonText text =
      lay_out("![what is seen](gone.png)\n", 300, [](const std::string&) { return viz::Point{}; });
  REQUIRE(text.pictures.size() == 1);
  CHECK_FALSE(text.pictures[0].shown);
  REQUIRE(text.grounds.size() == 1);
  REQUIRE(text.runs.size() == 4);
  CHECK(text.runs[0].text == "Picture:");
  CHECK(text.runs[1].text == "what");
  CHECK(text.grounds[0].contains({text.runs[0].box.x, text.runs[0].box.y}));
}

TEST_CASE("lesson text: where all words are bold, emphasised ones have a stroke below them") {
  CHECK(lay_out("a *b* c", 500).strokes.empty());
  const LessonText text = lay_out("# after which *all* of **them** go on", 500);
  REQUIRE(text.strokes.size() == 2);
  CHECK(text.runs[2].text == "all");
  CHECK(text.strokes[0].x == text.runs[2].box.x);
  CHECK(text.strokes[0].w == text.runs[2].box.w);
  CHECK(text.strokes[0].y > text.runs[2].box.y + text.runs[2].box.h / 2);
  CHECK(text.strokes[0].bottom() <= text.runs[2].box.bottom());
  CHECK(text.strokes[1].x == text.runs[4].box.x);
}

}  // namespace
}  // namespace triescope::app::test_lesson_text
