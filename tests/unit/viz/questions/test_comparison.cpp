// Two runs beside each other: ticks that belong together, twins, and where two texts part.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/recording_canvas.h"
#include "viz/panels/panel.h"
#include "viz/questions/comparison.h"

namespace triescope::viz {
namespace {

using capture::make_tick;
using capture::Phase;
using capture::Tick;

const capture::Capture& wide() {
  static const auto opened =
      test::make_capture([](capture::Recorder& r) { test::record_beam(r, 24, 5); });
  return *opened->capture;
}

TEST_CASE("a run is in step with itself, whatever the cursor counts") {
  const capture::Capture& run = test::draft_capture();
  for (const Along along : {Along::kTokens, Along::kSteps, Along::kTime})
    for (Tick tick = 0; tick <= run.end_tick(); tick += 5) {
      CAPTURE(to_string(along));
      CAPTURE(tick);
      CHECK(matching_tick(run, tick, run, along) == tick);
    }
  for (Tick tick = 0; tick <= run.end_tick(); ++tick) {
    CHECK(matching_tick(run, tick, run, Along::kTokens) == tick);
    CHECK(matching_tick(run, tick, run, Along::kSteps) == tick);
  }
}

TEST_CASE("by tokens, the other run has never said more, and the next of its steps would") {
  const capture::Capture &one = test::beam_capture(), &other = test::draft_capture();
  for (Tick tick = make_tick(1, Phase::kDraft); tick <= one.end_tick(); ++tick) {
    CAPTURE(tick);
    const Tick there = matching_tick(one, tick, other, Along::kTokens);
    const std::int64_t said = emitted_before(one, tick);
    CHECK(emitted_before(other, there) <= said);
    const Tick next = make_tick(capture::step_of(there) + 1, Phase::kDraft);
    if (next <= other.end_tick()) CHECK(emitted_before(other, next) > said);
  }
}

TEST_CASE("a longer run waits at the end of a shorter one") {
  const capture::Capture &one = test::draft_capture(), &other = test::beam_capture();
  CHECK(matching_tick(one, one.end_tick(), other, Along::kSteps) <= other.end_tick());
  CHECK(matching_tick(one, 3, other, Along::kTokens) == 3);  // prefill beside prefill
  CHECK(decoding_us_before(one, 3) == 0);
}

TEST_CASE("a run has itself as twin and differs nowhere") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()}) {
    const Twins twins = find_twins(*run, run->end_tick(), *run, run->end_tick());
    REQUIRE(twins.node.size() == run->nodes().size());
    for (std::size_t i = 0; i < twins.node.size(); ++i)
      CHECK_FALSE(twins.differs(static_cast<int>(i)));
    CHECK(twins.parting_node == -1);
    CHECK(twins.twin_of(-5) == -5);  // prompt tokens
  }
}

TEST_CASE("what has merely not been reached is not a difference") {
  const capture::Capture& run = test::draft_capture();
  const Tick early = make_tick(4, Phase::kDraft);
  const Twins ahead = find_twins(run, run.end_tick(), run, early);
  const auto there = run.nodes_at(early).size();
  for (std::size_t i = there; i < ahead.node.size(); ++i) {
    CAPTURE(i);
    CHECK(ahead.twin_of(static_cast<int>(i)) == -1);
    CHECK_FALSE(ahead.differs(static_cast<int>(i)));
  }
}

TEST_CASE("twins carry the same tokens, and each is the other's") {
  const capture::Capture &one = test::beam_capture(), &other = wide();
  const Twins own = find_twins(one, one.end_tick(), other, other.end_tick());
  const Twins back = find_twins(other, other.end_tick(), one, one.end_tick());
  CHECK(own.version != back.version);
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < own.node.size(); ++i) {
    if (own.node[i] < 0) continue;
    ++pairs;
    const auto twin = static_cast<std::size_t>(own.node[i]);
    CHECK(one.nodes()[i].token == other.nodes()[twin].token);
    CHECK(one.nodes()[i].depth == other.nodes()[twin].depth);
    CHECK(back.differ[twin] == own.differ[i]);
  }
  CHECK(pairs > 0);
}

// Marks ≠ of a panel: three strokes each, in the colour of differences.
int marks_on(const std::string& panel, const capture::Capture& run, Tick cursor,
             const Twins* twins) {
  Scene scene;
  scene.capture = &run;
  scene.cursor = cursor;
  scene.theme = dark_theme();
  scene.twins = twins;
  test::RecordingCanvas canvas;
  make_panel(panel)->draw(canvas, {0, 0, 1000, 700}, scene);
  char color[16];
  const Color difference = scene.theme.difference;
  std::snprintf(color, sizeof color, " %02x%02x%02xff", difference.r, difference.g, difference.b);
  int strokes = 0;
  for (const std::string& call : canvas.calls)
    strokes += call.rfind("line ", 0) == 0 && call.ends_with(color) ? 1 : 0;
  return strokes / 3;
}

TEST_CASE("verdicts and KV slots mark what the other run has not, with a glyph") {
  const capture::Capture &one = test::beam_capture(), &other = wide();
  bool ever_decided = false, ever_held = false;
  for (Tick tick = 0; tick <= one.end_tick(); ++tick) {
    const Tick there = matching_tick(one, tick, other, Along::kTokens);
    const Twins twins = find_twins(one, tick, other, there),
                same = find_twins(one, tick, one, tick);
    CAPTURE(tick);
    bool decided = false, held = false;
    if (tick > 0)
      for (const capture::VerdictRow& row : one.verdicts(capture::step_of(tick - 1)))
        decided |= row.tick < tick && twins.differs(row.node);
    for (std::int32_t slot = 0; slot < one.slot_count_at(tick); ++slot)
      held |= twins.differs(one.slot_at(slot, tick).node);
    // The history marks where the texts part; the KV legend names the glyph.
    CHECK((marks_on("verdict", one, tick, &twins) > marks_on("verdict", one, tick, &same)) ==
          (decided || (tick > 0 && twins.parting_step >= 0)));
    if (one.slot_count_at(tick) > 0) {
      CHECK((marks_on("kv", one, tick, &twins) > marks_on("kv", one, tick, &same)) == held);
      CHECK(marks_on("kv", one, tick, nullptr) == 0);
    }
    CHECK(marks_on("verdict", one, tick, nullptr) == 0);
    ever_decided |= decided;
    ever_held |= held;
  }
  CHECK(ever_decided);
  CHECK(ever_held);
}

}  // namespace
}  // namespace triescope::viz
