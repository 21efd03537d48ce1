#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/recording_canvas.h"
#include "viz/panels/kv_range.h"
#include "viz/panels/panel.h"

namespace test_kv_range {

using namespace triescope;
using namespace triescope::viz;
using triescope::test::beam_capture;
using triescope::test::draft_capture;
using triescope::test::RecordingCanvas;

namespace {

Scene scene_of(const capture::Capture& capture) {
  Scene scene;
  scene.capture = &capture;
  scene.cursor = capture.end_tick();
  scene.theme = dark_theme();
  scene.animate = false;
  return scene;
}

RecordingCanvas kv(const Scene& scene, Rect area = {0, 0, 900, 420}) {
  RecordingCanvas canvas;
  canvas.push_clip(area);
  make_panel("kv")->draw(canvas, area, scene);
  canvas.pop_clip();
  return canvas;
}

bool says(const RecordingCanvas& canvas, const std::string& begin) {
  return std::any_of(canvas.texts.begin(), canvas.texts.end(),
                     [&](const auto& text) { return text.text.rfind(begin, 0) == 0; });
}

}  // namespace

TEST_CASE("kv: the events of a range of steps are the ones of its steps, and no others") {
  KvRange range;  // one object, as in a panel: another range or run is counted again
  for (const capture::Capture* capture : {&beam_capture(), &draft_capture()}) {
    Scene scene = scene_of(*capture);
    for (const auto& [first, last] : {std::pair{3, 9}, {5, 5}, {0, 1000}}) {
      scene.range = {{first, last}};
      range.update(RowSource{}, scene);
      std::int64_t taken = 0;
      std::vector<std::int32_t> writes(
          static_cast<std::size_t>(capture->slot_count_at(capture->end_tick())) + 100, 0);
      for (std::int32_t step = first; step <= std::min(last, capture->last_step()); ++step)
        for (const capture::SlotRow& row : capture->slot_events(step)) {
          const bool is_taken = row.action == capture::SlotAction::kAlloc ||
                                row.action == capture::SlotAction::kReuse;
          taken += is_taken;
          if (is_taken || row.action == capture::SlotAction::kMove)
            ++writes[static_cast<std::size_t>(row.slot)];
        }
      REQUIRE(taken > 0);
      for (std::size_t slot = 0; slot < writes.size(); ++slot)
        CHECK(range.writes(static_cast<std::int32_t>(slot)) == writes[slot]);
      RecordingCanvas canvas;
      const std::string text = range.text(canvas, TextStyle{}, 10000);
      const std::string steps = first == last
                                    ? "step " + std::to_string(first)
                                    : "steps " + std::to_string(first) + "–" + std::to_string(last);
      CHECK(text.rfind(steps + ": " + std::to_string(taken) + " written", 0) == 0);
      // In a narrow pane the last figures go, but never a part of one.
      CHECK(text.rfind(range.text(canvas, TextStyle{}, 150), 0) == 0);
    }
  }
}

TEST_CASE("kv: a range is named on the panel and gone with the range") {
  Scene scene = scene_of(draft_capture());
  const RecordingCanvas without = kv(scene);
  CHECK_FALSE(says(without, "steps 3–9: "));
  scene.range = {{3, 9}};
  const RecordingCanvas with = kv(scene);
  CHECK(says(with, "steps 3–9: "));
  CHECK(says(with, "written in steps 3–9"));
  scene.range.reset();
  CHECK(kv(scene).calls == without.calls);
  // The text stays inside, however small the pane.
  scene.range = {{3, 9}};
  for (const Rect area : {Rect{7, 5, 280, 160}, Rect{0, 0, 560, 90}, Rect{0, 0, 1280, 700}}) {
    const RecordingCanvas small = kv(scene, area);
    CHECK(small.ink.right() <= area.right() + 0.5f);
    CHECK(small.ink.bottom() <= area.bottom() + 0.5f);
  }
}

}  // namespace test_kv_range
