// Bookmarks in figures: where they stand, what is listed, and what is left out.
#include "viz/export/note_marks.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/export/export.h"
#include "viz/panels/charts.h"

namespace triescope::viz::test_note_marks {
namespace {

using capture::make_tick;
using capture::Phase;
using test::RecordingCanvas;

// A run of its own, because bookmarks are written into the file: at the ends of steps 12 and 4.
struct Marked {
  std::unique_ptr<test::OpenedCapture> opened =
      test::make_capture([](capture::Recorder& r) { test::record_drafts(r, 30); });
  capture::Capture& run = *opened->capture;
  Marked() {
    run.add_bookmark(make_tick(13, Phase::kDraft), "here it parts");
    run.add_bookmark(make_tick(5, Phase::kDraft), "");
  }
  Scene scene() const {
    Scene scene = test::scene_at(run, run.end_tick());
    scene.theme = light_theme();
    scene.export_mode = true;
    return scene;
  }
  std::vector<NoteMark> in(const std::string& picture, Scene at, Rect area = {0, 0, 900, 500}) {
    const auto panel = make_picture(picture);
    const std::string state = panel->view_state();
    RecordingCanvas measure;
    auto marks = note_marks(*panel, area, at, measure);
    CHECK(panel->view_state() == state);
    return marks;
  }
};

TEST_CASE_FIXTURE(Marked, "note marks: along the run, at the middle of their steps") {
  for (const char* picture : {"memory", "acceptance-by-step"}) {
    CAPTURE(picture);
    const auto marks = in(picture, scene());
    REQUIRE(marks.size() == 2);
    CHECK(marks[0].number == 1);
    CHECK(marks[0].words == "step 4");
    CHECK(marks[1].words == "step 12: here it parts");
    CHECK(marks[0].foot > marks[0].at.y);
    // Steps 0 to 30 over some 900 px.
    CHECK(marks[1].at.x - marks[0].at.x > 8 * 900 / 31.0f * 0.7f);
    CHECK(marks[1].at.x - marks[0].at.x < 8 * 900 / 31.0f * 1.1f);
    // A click there goes to that step.
    const auto panel = make_picture(picture);
    const Rect area{0, 0, 900, 500};
    test::drawn(*panel, scene(), area);
    Input in = test::mouse_at({marks[1].at.x, marks[1].foot - 20});
    in.clicked = true;
    const Reaction reaction = panel->input(in, area, scene());
    REQUIRE(reaction.cursor);
    CHECK(capture::step_of(*reaction.cursor - 1) == 12);
  }
}

TEST_CASE_FIXTURE(Marked, "note marks: a node's stands at its own corner") {
  const auto marks = in("text", scene());
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].foot == 0);
  const auto panel = make_picture("text");
  const Rect area{0, 0, 900, 500};
  test::drawn(*panel, scene(), area);
  const auto under = [&](const NoteMark& mark) {
    return panel->input(test::mouse_at({mark.at.x + 3, mark.at.y + 3}), area, scene())
        .hover.value_or(-1);
  };
  CHECK(under(marks[0]) != under(marks[1]));
  const auto frontier = run.frontier(4);
  CHECK(std::ranges::find(frontier, under(marks[0]), &capture::FrontierRow::node) !=
        frontier.end());
}

TEST_CASE_FIXTURE(Marked, "note marks: none of what the picture does not show") {
  Scene early = scene();
  early.cursor = make_tick(8, Phase::kDraft);
  REQUIRE(in("memory", early).size() == 1);
  CHECK(in("memory", early).front().words == "step 4");
  Scene part = scene();
  part.range = std::pair(10, 20);
  REQUIRE(in("memory", part).size() == 1);
  CHECK(in("memory", part).front().words == "step 12: here it parts");
  // Neither steps nor nodes: a histogram, groups of drafts.
  CHECK(in("acceptance", scene()).empty());
  CHECK(in("acceptance-by-kind", scene()).empty());
}

TEST_CASE_FIXTURE(Marked, "note marks: a figure grows by its notes, and has none unless asked") {
  const auto written = [&](bool notes) {
    ExportOptions options;
    options.notes = notes;
    const std::string path = (opened->folder.path() / "a.svg").string();
    export_panel(run, "memory", path, options);
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string plain = written(false), noted = written(true);
  const auto height = [](const std::string& svg) {
    const std::size_t at = svg.find("height=\"") + 8;
    return std::stof(svg.substr(at));
  };
  CHECK(height(noted) > height(plain) + 20);
  CHECK(written(false) == plain);
}

TEST_CASE("note marks: marks at one place stand below each other") {
  const auto opened = test::make_capture([](capture::Recorder& r) { test::record_drafts(r, 30); });
  for (const char* note : {"first", "second"})
    opened->capture->add_bookmark(make_tick(13, Phase::kDraft), note);
  Scene scene = test::scene_at(*opened->capture, opened->capture->end_tick());
  scene.export_mode = true;
  RecordingCanvas measure;
  const auto marks = note_marks(*make_picture("memory"), {0, 0, 900, 500}, scene, measure);
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].at.x == marks[1].at.x);
  CHECK(marks[1].at.y > marks[0].at.y + scene.em);
  RecordingCanvas canvas;
  const float height = draw_notes(canvas, {0, 0, 900, 200}, marks, scene, /*draws=*/true);
  CHECK(height > 2 * scene.em);
  CHECK(test::find(canvas, "step 12: second"));
}

}  // namespace
}  // namespace triescope::viz::test_note_marks
