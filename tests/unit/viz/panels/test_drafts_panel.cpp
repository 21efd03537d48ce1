// The drafts panel: its figures, its clicks, and that a run that grows ends with the same figures.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/capture/writer.h"
#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/panels/level_history.h"

namespace triescope::viz::test_drafts_panel {
namespace {

using capture::make_tick;
using capture::Phase;
using test::drawn;
using test::find;
using test::mouse_over;
using test::scene_at;
using test::withdrawn_drafts_capture;

constexpr Rect kArea{0, 0, 900, 420};

Scene end_of(std::int32_t step) {
  return scene_at(withdrawn_drafts_capture(), make_tick(step + 1, Phase::kDraft));
}

TEST_CASE(
    "drafts panel: the headline counts drafts, levels, withdrawn, accepted and the head's work") {
  const auto panel = make_panel("drafts");
  CHECK(find(
      drawn(*panel, end_of(1), kArea),
      "step 1: 6 drafts on 3 levels, 2 withdrawn, 1 accepted   (3 forwards of the head, 4 rows)"));
  CHECK(find(
      drawn(*panel, scene_at(withdrawn_drafts_capture(), make_tick(1, Phase::kForward)), kArea),
      "step 1: 6 drafts on 3 levels, 2 withdrawn   (3 forwards of the head, 4 rows)"));
  CHECK(find(
      drawn(*panel, scene_at(withdrawn_drafts_capture(), make_tick(3, Phase::kForward)), kArea),
      "step 3: nothing drafted"));
}

TEST_CASE("drafts panel: a level has what came, its place and its drafts in order") {
  const auto panel = make_panel("drafts");
  const auto canvas = drawn(*panel, end_of(1), kArea);
  // Level 2: the withdrawn t32 first, then t30, t31.
  const auto* const first = find(canvas, "1st, w");
  REQUIRE(first);
  std::vector<std::string> row;
  for (const auto& text : canvas.texts)
    if (std::abs(text.box.y - first->box.y) < 3 && text.box.x > first->box.x)
      row.push_back(text.text);
  CHECK(row == std::vector<std::string>{"t32", "t30", "t31"});
  CHECK(find(drawn(*panel, end_of(2), kArea), "(1st)"));
  CHECK(find(drawn(*panel, end_of(2), kArea), "2nd"));
}

TEST_CASE(
    "drafts panel: a click on a draft locks it, and the tooltip has the drafted path's score") {
  const auto panel = make_panel("drafts");
  const Scene scene = end_of(1);
  const auto* const text = find(drawn(*panel, scene, kArea), "t30");
  const auto canvas = drawn(*panel, scene, kArea);
  const auto* const chip = find(canvas, "t30");
  REQUIRE(text);
  REQUIRE(chip);
  Input in = mouse_over(*chip);
  in.clicked = true;
  const Reaction reaction = panel->input(in, kArea, scene);
  CHECK(reaction.hover == 4);
  CHECK(reaction.lock == 4);
  CHECK(std::find(reaction.tooltip.begin(), reaction.tooltip.end(),
                  "Σ log q of the drafted path = -0.600") != reaction.tooltip.end());
  CHECK(std::find(reaction.tooltip.begin(), reaction.tooltip.end(), "level 2, below t20") !=
        reaction.tooltip.end());
}

TEST_CASE("level history: shares by level, over all steps and over a range") {
  LevelHistory history;
  Scene scene = end_of(2);
  auto shares = history.shares(scene);
  REQUIRE(shares.size() == 3);
  // Level 1: t20 first and used; t41 second and used. Level 2: t32 withdrawn; t51 elsewhere.
  CHECK(shares[0].guesses == 2);
  CHECK(shares[0].first == 1);
  CHECK(shares[0].any == 2);
  CHECK(shares[0].used == 2);
  CHECK(shares[1].guesses == 2);
  CHECK(shares[1].first == 2);
  CHECK(shares[1].any == 2);
  CHECK(shares[1].used == 0);
  CHECK(shares[2].guesses == 1);
  CHECK(shares[2].any == 0);
  scene.range = {2, 2};
  shares = history.shares(scene);
  REQUIRE(shares.size() == 2);
  CHECK(shares[0].guesses == 1);
  CHECK(shares[0].first == 0);
}

TEST_CASE("level history: a run that grows has at every length the figures of a fresh look") {
  const test::TempDir folder;
  const std::string path = (folder.path() / "run.tscap").string();
  const auto recorder = capture::open_recorder(path);
  test::record_withdrawn_drafts(*recorder, 0, 1);
  recorder->flush();
  const auto growing = capture::Capture::open(path);
  LevelHistory history;
  std::vector<std::size_t> counts;
  for (int step = 1; step <= 4; ++step) {
    const auto& seen = history.guesses(*growing);
    LevelHistory fresh;
    const auto& wanted = fresh.guesses(*growing);
    REQUIRE(seen.size() == wanted.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CAPTURE(i);
      CHECK(seen[i].step == wanted[i].step);
      CHECK(seen[i].level == wanted[i].level);
      CHECK(seen[i].guess == wanted[i].guess);
      CHECK(seen[i].place == wanted[i].place);
      CHECK(seen[i].came == wanted[i].came);
    }
    counts.push_back(seen.size());
    if (step == 4) break;
    test::record_withdrawn_drafts(*recorder, step, step + 1);
    recorder->flush();
    growing->poll();
  }
  CHECK(counts == std::vector<std::size_t>{0, 3, 5, 5});
}

TEST_CASE("drafts panel: a click on a cell of the history goes to its step and locks what came") {
  const auto panel = make_panel("drafts");
  const Scene scene = end_of(2);
  drawn(*panel, scene, kArea);
  bool found = false;
  for (float y = kArea.h - 1; y > kArea.h / 2 && !found; y -= 4)
    for (float x = 1; x < kArea.w && !found; x += 8) {
      Input in = test::mouse_at({x, y});
      in.clicked = true;
      const Reaction reaction = panel->input(in, kArea, scene);
      if (reaction.tooltip.empty() || reaction.tooltip[0] != "step 1, level 2") continue;
      found = true;
      CHECK(reaction.tooltip[2] == "its first guess, withdrawn before the forward");
      CHECK(reaction.cursor == make_tick(2, Phase::kDraft));
      CHECK(reaction.lock == 6);
    }
  CHECK(found);
}

TEST_CASE("drafts panel: its CSV has a row a level of every step up to the cursor") {
  const auto panel = make_panel("drafts");
  CHECK(panel->csv(end_of(2)) ==
        "step,level,depth,came,text,place,guess\n"
        "1,1,2,20,t20,0,came\n"
        "1,2,3,32,t32,0,withdrawn\n"
        "1,3,4,41,t41,,missed\n"
        "2,1,4,41,t41,1,came\n"
        "2,2,5,51,t51,0,elsewhere\n");
  CHECK(panel->csv(end_of(0)) == "step,level,depth,came,text,place,guess\n");
}

TEST_CASE("places are ordinal numbers") {
  const std::vector<std::string> wanted = {"1st", "2nd", "3rd", "4th"};
  for (std::int32_t i = 0; i < 4; ++i)
    CHECK(ordinal_text(i) == wanted[static_cast<std::size_t>(i)]);
  for (const auto& [place, text] : std::vector<std::pair<std::int32_t, std::string>>{
           {10, "11th"}, {11, "12th"}, {12, "13th"}, {20, "21st"}, {21, "22nd"}, {110, "111th"}})
    CHECK(ordinal_text(place) == text);
}

}  // namespace
}  // namespace triescope::viz::test_drafts_panel
