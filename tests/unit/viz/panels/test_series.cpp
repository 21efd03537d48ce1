// Pictures along a run: the cursor is marked, nothing jumps, no button is drawn.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/draw/drawing.h"
#include "viz/panels/memory_curves.h"

namespace test_series {

using namespace triescope;
using namespace triescope::viz;
using test::scene_at;

namespace {

Scene series_at(const capture::Capture& run, std::int32_t step) {
  Scene scene = scene_at(run, capture::make_tick(step + 1, capture::Phase::kDraft));
  scene.export_mode = true;
  scene.series = true;
  return scene;
}

std::string calls_of(const std::string& panel, const Scene& scene, Rect area) {
  const auto made = make_panel(panel);
  std::string out;
  for (const std::string& call : test::drawn(*made, scene, area).calls) out += call + "\n";
  return out;
}

}  // namespace

TEST_CASE("series: a node of the trie keeps its size and its place") {
  const capture::Capture& run = test::beam_capture();
  const auto trie = make_panel("trie");
  const Rect area{0, 0, 6000, 1200};
  // The points at which the mouse finds the root.
  using Box = std::array<int, 4>;
  std::vector<Box> boxes;
  for (const std::int32_t step : {1, 6, 20}) {
    const Scene scene = series_at(run, step);
    test::drawn(*trie, scene, area);
    Box box{10000, 10000, 0, 0};
    for (int y = 20; y < 120; ++y)
      for (int x = 0; x < 200; ++x)
        if (trie->input(test::mouse_at({static_cast<float>(x), static_cast<float>(y)}), area, scene)
                .hover == 0)
          box = {std::min(box[0], x), std::min(box[1], y), std::max(box[2], x),
                 std::max(box[3], y)};
    boxes.push_back(box);
  }
  CHECK(boxes[0][2] - boxes[0][0] > 20);
  CHECK(boxes[1] == boxes[0]);
  CHECK(boxes[2] == boxes[0]);
}

TEST_CASE("series: the memory's curves are those of the whole run, its figures the step's") {
  const capture::Capture& run = test::beam_capture();
  Scene scene = series_at(run, 5);
  const RowSource source;
  CHECK(memory_curves::rows_of(source, scene).size() == source.memory(run).size());
  const auto memory = make_panel("memory");
  const auto canvas = test::drawn(*memory, scene, {0, 0, 800, 400});
  CHECK(test::find(canvas, "end of step 5:"));
  const std::string series = calls_of("memory", scene, {0, 0, 800, 400});
  scene.series = false;
  const std::string alone = calls_of("memory", scene, {0, 0, 800, 400});
  const auto discs = [](const std::string& calls) {
    std::size_t count = 0;
    for (auto at = calls.find("fill_circle"); at != std::string::npos;
         at = calls.find("fill_circle", at + 1))
      ++count;
    return count;
  };
  CHECK(discs(alone) == 0);
  CHECK(discs(series) >= 3);  // where the cursor meets the curves
}

TEST_CASE("series: timeline and history mark the step") {
  for (const char* panel : {"timeline", "verdict"}) {
    CAPTURE(panel);
    Scene scene = series_at(test::draft_capture(), 9);
    const std::string series = calls_of(panel, scene, {0, 0, 800, 500});
    scene.series = false;
    const std::string alone = calls_of(panel, scene, {0, 0, 800, 500});
    CHECK(std::ranges::count(series, '\n') > std::ranges::count(alone, '\n'));
  }
}

TEST_CASE("series: no button is drawn") {
  for (const auto& [panel, button] :
       {std::pair{"trie", "folds: auto"}, {"mask", "columns: paths"}, {"memory", "lines"}}) {
    CAPTURE(panel);
    Scene scene = scene_at(test::draft_capture(), test::draft_capture().end_tick());
    const Rect area{0, 0, 900, 500};
    CHECK(scene.has_buttons());
    const auto made = make_panel(panel);
    CHECK(test::find(test::drawn(*made, scene, area), button));
    scene.series = true;
    CHECK_FALSE(scene.has_buttons());
    CHECK_FALSE(test::find(test::drawn(*made, scene, area), button));
  }
}

TEST_CASE("series: an empty state names no key of the window") {
  Scene scene;
  test::RecordingCanvas window, page;
  draw_empty_state(window, {0, 0, 900, 100}, "Nothing yet: step once (F10).", scene);
  scene.series = true;
  draw_empty_state(page, {0, 0, 900, 100}, "Nothing yet: step once (F10).", scene);
  CHECK(window.texts.at(0).text == "Nothing yet: step once (F10).");
  CHECK(page.texts.at(0).text == "Nothing yet: step once.");
}

TEST_CASE("series: cells of the mask keep their size, however many columns there are") {
  const capture::Capture& run = test::draft_capture();
  const auto mask = make_panel("mask");
  const auto cell_at = [&](std::int32_t step, bool series) {
    Scene scene = series_at(run, step);
    scene.series = series;
    const Rect area{0, 0, 1600, 600};
    test::drawn(*mask, scene, area);
    // The px of a row that belong to node 1's column.
    int px = 0;
    for (int x = 200; x < 1600; ++x)
      px += mask->input(test::mouse_at({static_cast<float>(x), 70}), area, scene).hover == 1;
    return px;
  };
  CHECK(cell_at(2, true) > 5);
  CHECK(cell_at(2, true) == cell_at(9, true));
  CHECK(cell_at(9, true) == cell_at(25, true));
  CHECK(cell_at(2, false) > cell_at(2, true));
}

}  // namespace test_series
