// Pictures for an audience, step after step: placed items stay, and recent changes are lit by a
// mark and a colour.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "tests/support/paths.h"
#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/drawing.h"
#include "viz/panels/kv_slots.h"
#include "viz/panels/trie_picture.h"
#include "viz/query/beam_decision.h"
#include "viz/query/changes.h"

namespace triescope::viz::test_steady {
namespace {

using capture::make_tick;
using capture::Phase;
using capture::Tick;

constexpr Rect kArea{0, 0, 1200, 620};
constexpr float kEm = 20;

Scene steady_at(const capture::Capture& run, Tick cursor) {
  Scene scene = test::scene_at(run, cursor);
  scene.theme = projector_theme();
  scene.em = kEm;
  scene.series = scene.steady = true;
  scene.lit_from = std::max<Tick>(0, cursor - 1);
  return scene;
}

// The number of ✦ marks: two shapes of four corners in the colour of lit items.
std::size_t marks(const test::RecordingCanvas& canvas) {
  const Color lit = projector_theme().lit;
  char color[16];
  std::snprintf(color, sizeof color, " %02x%02x%02xff", lit.r, lit.g, lit.b);
  return static_cast<std::size_t>(std::ranges::count_if(canvas.calls,
                                                        [&](const std::string& call) {
                                                          return call.starts_with("fill_polygon") &&
                                                                 call.ends_with(color);
                                                        })) /
         2;
}

std::size_t halos(const test::RecordingCanvas& canvas) {
  const Color lit = projector_theme().lit.with_alpha(0.8f);
  char color[16];
  std::snprintf(color, sizeof color, " %02x%02x%02x%02x", lit.r, lit.g, lit.b, lit.a);
  return static_cast<std::size_t>(std::ranges::count_if(canvas.calls, [&](const std::string& call) {
    return call.starts_with("stroke_rect") && call.ends_with(color);
  }));
}

TEST_CASE("steady: the mark of what changed is a star of four points with a halo") {
  test::RecordingCanvas canvas;
  Scene scene = steady_at(test::beam_capture(), 10);
  draw_lit(canvas, {100, 50, 40, 20}, 10, scene);
  CHECK(marks(canvas) == 1);
  CHECK(halos(canvas) == 1);
  CHECK(lit_entry(scene).glyph == "✦");
  CHECK(lit_entry(scene).label == "changed just now");
  CHECK(scene.lights());
  CHECK(scene.lights(9));
  CHECK_FALSE(scene.lights(10));
  CHECK_FALSE(scene.lights(8));
  scene.lit_from = 10;
  CHECK_FALSE(scene.lights());
  scene.lit_from = -1;
  CHECK_FALSE(scene.lights());
  CHECK_FALSE(scene.lights(9));
}

TEST_CASE("steady: the trie lights the nodes that changed, and none outside of lectures") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()}) {
    std::size_t lit = 0;
    for (Tick cursor = 1; cursor <= make_tick(4, Phase::kDraft); ++cursor) {
      CAPTURE(cursor);
      const auto panel = make_panel("trie");
      Scene scene = steady_at(*run, cursor);
      const auto canvas = test::drawn(*panel, scene, {0, 0, 4000, 3000});
      std::size_t expected = 0;
      for (const char one : changed_nodes(*run, cursor - 1, cursor)) expected += one != 0;
      CHECK(halos(canvas) == expected);
      lit += halos(canvas);
      const bool shown = !run->nodes_at(cursor).empty();
      CHECK(marks(canvas) == expected + (shown ? 1 : 0));  // and the legend's
      scene.steady = false;
      scene.lit_from = -1;
      const auto plain = test::drawn(*panel, scene, {0, 0, 4000, 3000});
      CHECK(halos(plain) == 0);
      CHECK(marks(plain) == 0);
    }
    CHECK(lit > 8);
  }
}

TEST_CASE("steady: the text lights the tokens that came") {
  const capture::Capture& run = test::draft_capture();
  std::size_t lit = 0;
  for (Tick cursor = 5; cursor <= make_tick(6, Phase::kDraft); ++cursor) {
    CAPTURE(cursor);
    const auto panel = make_panel("text");
    const auto canvas = test::drawn(*panel, steady_at(run, cursor), kArea);
    const auto before = nodes_in_text(run, cursor - 1), now = nodes_in_text(run, cursor);
    std::size_t came = 0;
    for (const std::int32_t node : now) came += !before.contains(node);
    if (came == 0)
      CHECK(marks(canvas) <= 1);  // the legend's
    else
      CHECK(marks(canvas) >= 2);
    lit += came;
  }
  CHECK(lit > 4);
  const auto panel = make_panel("text");
  CHECK(marks(test::drawn(*panel, test::scene_at(run, 20), kArea)) == 0);
}

TEST_CASE("steady: the mask lights its rows when their forward has just run, not later") {
  const capture::Capture& run = test::draft_capture();
  const auto panel = make_panel("mask");
  std::int32_t step = 1;
  while (run.inputs(step).size() < 3) REQUIRE(++step < run.last_step());
  const Tick forward = make_tick(step, Phase::kForward);
  const std::size_t rows = run.inputs(step).size();
  CHECK(marks(test::drawn(*panel, steady_at(run, forward + 1), kArea)) == rows + 1);
  CHECK(marks(test::drawn(*panel, steady_at(run, forward + 2), kArea)) == 1);  // the legend's
  Scene whole_step = steady_at(run, forward + 3);
  whole_step.lit_from = make_tick(step, Phase::kDraft);
  CHECK(marks(test::drawn(*panel, whole_step, kArea)) == rows + 1);
}

TEST_CASE("steady: KV slots that were taken, moved or freed are lit") {
  const capture::Capture& run = test::beam_capture();
  std::size_t lit = 0;
  for (Tick cursor = 6; cursor <= make_tick(5, Phase::kDraft); ++cursor) {
    CAPTURE(cursor);
    const auto panel = make_panel("kv");
    const auto canvas = test::drawn(*panel, steady_at(run, cursor), {0, 0, 2400, 1600});
    std::size_t changed = 0;
    for (std::int32_t slot = 0; slot < run.slot_count_at(cursor); ++slot) {
      const auto before = run.slot_at(slot, cursor - 1), now = run.slot_at(slot, cursor);
      changed += (before.state != now.state || before.node != now.node) && now.node > -2;
    }
    CHECK(halos(canvas) == changed);
    lit += changed;
  }
  CHECK(lit > 4);
}

// Opens a run of the program's lessons.
std::unique_ptr<test::OpenedCapture> lesson_run(const std::string& name) {
  auto out = std::make_unique<test::OpenedCapture>();
  const auto path = out->folder.path() / name;
  std::filesystem::copy_file(test::source_dir() / "assets" / "lessons" / name, path);
  std::filesystem::permissions(path, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  out->capture = capture::Capture::open(path.string());
  return out;
}

// The number of rows with the mark, without the legend's.
std::size_t lit_rows(const char* name, const Scene& scene, Rect area = {0, 0, 1600, 1200}) {
  const auto panel = make_panel(name);
  const auto canvas = test::drawn(*panel, scene, area);
  REQUIRE(test::find(canvas, "changed just now"));
  return marks(canvas) - 1;
}

TEST_CASE("steady: positions are lit when their forward has just run, not later") {
  const capture::Capture& run = test::draft_capture();
  std::int32_t step = 1;
  while (run.inputs(step).size() < 3) REQUIRE(++step < run.last_step());
  const Tick forward = make_tick(step, Phase::kForward);
  CHECK(lit_rows("positions", steady_at(run, forward + 1)) == run.inputs(step).size());
  CHECK(lit_rows("positions", steady_at(run, forward + 2)) == 0);
  const auto panel = make_panel("positions");
  const auto canvas = test::drawn(*panel, test::scene_at(run, forward + 1), kArea);
  CHECK(marks(canvas) == 0);
  CHECK_FALSE(test::find(canvas, "changed just now"));
}

TEST_CASE("steady: the decision on drafts lights them as they are decided") {
  const capture::Capture& run = test::draft_capture();
  std::size_t lit = 0;
  for (std::int32_t step = 2; step < 6; ++step) {
    CAPTURE(step);
    const Tick accept = make_tick(step, Phase::kAccept);
    const Scene scene = steady_at(run, accept + 1);
    const std::size_t decided = run.verdicts(step).size();
    REQUIRE(decided > 0);
    // Below them, the draw of the token in their place is as new.
    CHECK(lit_rows("verdict", scene) >= decided);
    CHECK(lit_rows("verdict", steady_at(run, accept + 2)) == 0);
    lit += decided;
  }
  CHECK(lit > 4);
}

TEST_CASE(
    "steady: the decision among beams lights its candidates as they come, then what was decided") {
  const auto opened = lesson_run("beam.tscap");
  const capture::Capture& run = *opened->capture;
  for (const std::int32_t step : {2, 7}) {
    CAPTURE(step);
    const Tick forward = make_tick(step, Phase::kForward), accept = make_tick(step, Phase::kAccept);
    const BeamDecision open = beam_decision(run, forward + 1),
                       done = beam_decision(run, accept + 1);
    REQUIRE(open.step == step);
    REQUIRE_FALSE(open.choices.empty());
    const Rect area{0, 0, 1600, 4000};
    CHECK(lit_rows("verdict", steady_at(run, forward + 1), area) == open.choices.size());
    std::size_t decided = 0;
    for (const char one : changed_choices(open, done)) decided += one != 0;
    CHECK(decided > 0);
    CHECK(decided < done.choices.size());
    CHECK(lit_rows("verdict", steady_at(run, accept + 1), area) == decided);
    CHECK(lit_rows("verdict", steady_at(run, accept + 2), area) == 0);
  }
}

TEST_CASE("steady: candidates are lit when they are new, then those that became children") {
  const auto opened = lesson_run("beam.tscap");
  const capture::Capture& run = *opened->capture;
  const Tick forward = make_tick(4, Phase::kForward), accept = make_tick(4, Phase::kAccept);
  Scene scene = steady_at(run, forward + 1);
  const std::int32_t node = run.inputs(4).front().node;
  scene.focus.locked = node;
  const std::size_t rows = run.candidates(node, forward + 1).size();
  REQUIRE(rows > 1);
  CHECK(lit_rows("candidates", scene) == rows);
  std::size_t children = 0;
  for (const capture::CandidateRow& row : run.candidates(node, accept + 1))
    children += child_of(run, node, row.token, accept + 1) >= 0 &&
                child_of(run, node, row.token, accept) < 0;
  CHECK(children > 0);
  CHECK(children < rows);
  scene = steady_at(run, accept + 1);
  scene.focus.locked = node;
  CHECK(lit_rows("candidates", scene) == children);
  scene = steady_at(run, accept + 2);
  scene.focus.locked = node;
  CHECK(lit_rows("candidates", scene) == 0);
}

TEST_CASE("steady: memory lights the curves that have another value than at the position before") {
  const capture::Capture& run = test::beam_capture();
  // Live, garbage, reserved, greedy and batch beam come from the newest commit; within a step, live
  // and garbage come from the slots.
  const auto figures = [&](Tick cursor) {
    capture::MemoryRow row;
    for (const capture::MemoryRow& one : run.memory())
      if (make_tick(one.step, Phase::kCommit) < cursor) row = one;
    if (row.step != capture::step_of(cursor - 1)) {
      const KvSlots slots = slots_at(RowSource(), run, cursor);
      row.live = slots.live;
      row.garbage = slots.garbage;
    }
    return std::array<std::int32_t, 5>{row.live, row.garbage, row.reserved, row.greedy,
                                       row.batch_beam};
  };
  const bool garbage =
      std::ranges::any_of(run.memory(), [](const auto& row) { return row.garbage > 0; });
  std::size_t all = 0;
  for (Tick cursor = make_tick(3, Phase::kDraft); cursor < make_tick(8, Phase::kDraft); ++cursor) {
    CAPTURE(cursor);
    const Scene scene = steady_at(run, cursor);
    const auto was = figures(scene.lit_from), is = figures(cursor);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < is.size(); ++i) changed += (i != 1 || garbage) && was[i] != is[i];
    CHECK(lit_rows("memory", scene) == changed);
    all += changed;
  }
  CHECK(all > 5);
}

// Where every node was drawn.
std::map<std::int32_t, Rect> places(const TriePicture& picture) {
  std::map<std::int32_t, Rect> out;
  for (const TrieChip& chip : picture.chips)
    out[picture.shape.items()[static_cast<std::size_t>(chip.item)].node] = chip.area;
  return out;
}

TEST_CASE("steady: through whole runs the trie's view moves only where its end would leave it") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()}) {
    test::RecordingCanvas canvas(/*log=*/false);
    TriePicture picture;
    picture.body = {0, 0, 1100, 560};
    Point before;
    std::size_t moved = 0, stayed = 0, kept = 0;
    std::map<std::int32_t, Rect> were;
    for (Tick cursor = 5; cursor <= run->end_tick(); ++cursor) {
      CAPTURE(cursor);
      const Scene scene = steady_at(*run, cursor);
      picture.chips.clear();
      picture.shape.update(canvas, scene, {}, 0);
      draw_trie(canvas, picture, scene);
      CHECK(picture.view.drawn_zoom == 1);
      const Point now = picture.view.drawn;
      const auto are = places(picture);
      const std::int32_t best = picture.shape.best_leaf();
      REQUIRE(best >= 0);
      // The growing node is always in sight as a whole.
      const std::int32_t tip = picture.shape.items()[static_cast<std::size_t>(best)].node;
      REQUIRE(are.contains(tip));
      CHECK(are.at(tip).x >= 0);
      CHECK(are.at(tip).right() <= 1100);
      CHECK(are.at(tip).y >= 0);
      CHECK(are.at(tip).bottom() <= 560);
      const bool same = now.x == before.x && now.y == before.y;
      if (cursor > 5) {
        moved += !same;
        stayed += same;
      }
      if (same)
        for (const auto& [node, area] : are)
          if (const auto found = were.find(node); found != were.end()) {
            CHECK(found->second.x == area.x);  // what was placed stays where it is
            CHECK(found->second.y == area.y);
            ++kept;
          }
      before = now;
      were = are;
    }
    // At the end the panel is filled to its right edge.
    CHECK(picture.shape.whole_width() == doctest::Approx(picture.shape.width()));
    CHECK(picture.view.drawn.x + picture.shape.width() * kEm ==
          doctest::Approx(1100 - TriePicture::kMarginEm * kEm));
    CHECK(moved * 6 < stayed);
    CHECK(kept > 1000);
  }
}

TEST_CASE("steady: sizes are those that the whole run needs") {
  const capture::Capture& run = test::beam_capture();
  // The largest letters in slots and mask rows have the same size at the first steps and late in
  // the run.
  for (const char* name : {"mask", "kv"}) {
    CAPTURE(name);
    const auto panel = make_panel(name);
    const auto cell = [&](std::int32_t step) {
      float height = 0;
      for (const auto& text :
           test::drawn(*panel, steady_at(run, make_tick(step, Phase::kAccept)), kArea).texts)
        height = std::max(height, text.size);
      return height;
    };
    CHECK(cell(2) == cell(12));
  }
  const auto panel = make_panel("text");
  // The legend keeps its height: names that come later are there from the beginning.
  const auto first = test::drawn(*panel, steady_at(test::draft_capture(), 5), kArea);
  CHECK(test::find(first, "accepted"));
  CHECK(test::find(first, "changed just now"));
}

TEST_CASE("steady: nothing is folded, and dead branches stay where they were") {
  const capture::Capture& run = test::beam_capture();
  test::RecordingCanvas canvas(/*log=*/false);
  TrieShape shape;
  FoldOptions all;
  all.mode = FoldMode::kAll;
  shape.update(canvas, steady_at(run, run.end_tick()), all, 0);
  CHECK(shape.items().size() == run.nodes().size());
  std::map<std::int32_t, std::int32_t> rows;
  for (Tick cursor = 5; cursor <= run.end_tick(); ++cursor) {
    shape.update(canvas, steady_at(run, cursor), {}, 1);
    for (std::size_t i = 0; i < shape.items().size(); ++i) {
      const std::int32_t row = shape.layout().row(static_cast<std::int32_t>(i));
      const auto [at, fresh] = rows.try_emplace(shape.items()[i].node, row);
      if (!fresh) CHECK(row == at->second);
    }
  }
}

// These are recorded runs: beams that die, drafts in chains and trees, draft heads.
TEST_CASE("steady: through whole recorded runs no node changes its place in the trie") {
  std::size_t runs = 0, branches = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_dir() / "assets" / "lessons")) {
    if (entry.path().extension() != ".tscap") continue;
    CAPTURE(entry.path().filename());
    const auto opened = lesson_run(entry.path().filename().string());
    const capture::Capture* const run = opened->capture.get();
    test::RecordingCanvas canvas(/*log=*/false);
    TriePicture picture;
    picture.body = {0, 0, 6000, 3000};  // room for all of it: the view does not move either
    std::map<std::int32_t, Rect> were;
    for (Tick cursor = 1; cursor <= run->end_tick(); ++cursor) {
      CAPTURE(cursor);
      const Scene scene = steady_at(*run, cursor);
      picture.chips.clear();
      picture.shape.update(canvas, scene, {}, 0);
      draw_trie(canvas, picture, scene);
      const auto are = places(picture);
      REQUIRE(are.size() == run->nodes_at(cursor).size());
      std::size_t kept = 0;
      for (const auto& [node, area] : are)
        if (const auto found = were.find(node); found != were.end()) {
          ++kept;
          CHECK(found->second.x == area.x);
          CHECK(found->second.y == area.y);
          CHECK(found->second.w == area.w);
          CHECK(found->second.h == area.h);
        }
      CHECK(kept == were.size());
      // No two nodes have the same place.
      for (auto one = are.begin(); one != are.end(); ++one)
        for (auto other = std::next(one); other != are.end(); ++other)
          CHECK((one->second.x != other->second.x || one->second.y != other->second.y));
      were = are;
    }
    branches += static_cast<std::size_t>(picture.shape.layout().rows()) - 1;
    ++runs;
  }
  CHECK(runs == 19);
  CHECK(branches > 20);
}

}  // namespace
}  // namespace triescope::viz::test_steady
