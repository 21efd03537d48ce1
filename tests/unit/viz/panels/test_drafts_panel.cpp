// The drafts panel: its figures, its clicks, and that a growing run ends with the same figures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "core/capture/metric_names.h"
#include "core/capture/writer.h"
#include "tests/unit/viz/looking.h"
#include "tests/unit/viz/recording_canvas.h"
#include "tests/unit/viz/withdrawn_drafts.h"
#include "viz/panels/draft_rows.h"
#include "viz/panels/level_history.h"
#include "viz/query/leaves.h"

namespace triescope::viz::test_drafts_panel {
namespace {

using capture::Capture;
using capture::make_tick;
using capture::Phase;
using test::drawn;
using test::find;
using test::mouse_over;
using test::RecordingCanvas;
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
      "step 1: 6 proposed on 3 levels, 2 withdrawn, accepted 1 of 4   (3 forwards of the head, 4 "
      "rows)"));
  CHECK(find(
      drawn(*panel, scene_at(withdrawn_drafts_capture(), make_tick(1, Phase::kForward)), kArea),
      "step 1: 6 proposed on 3 levels, 2 withdrawn, 4 drafts   (3 forwards of the head, 4 rows)"));
  CHECK(find(
      drawn(*panel, scene_at(withdrawn_drafts_capture(), make_tick(3, Phase::kForward)), kArea),
      "step 3: nothing drafted"));
}

TEST_CASE("drafts panel: the title over the text counts the positions that the cursor has seen") {
  const auto panel = make_panel("drafts");
  const Capture& run = withdrawn_drafts_capture();
  for (std::int32_t step = 1; step <= run.last_step(); ++step)
    for (const float width : {300.0f, 420.0f, 900.0f}) {
      const Scene scene = end_of(step);
      std::int32_t deepest = 0;
      LevelHistory history;
      for (const LevelGuess& guess : history.seen(scene)) deepest = std::max(deepest, guess.depth);
      for (const auto& text : drawn(*panel, scene, {0, 0, width, 420}).texts) {
        const auto at = text.text.find("by position (");
        if (at == std::string::npos) continue;
        int shown = 0, to = 0;
        REQUIRE(std::sscanf(text.text.c_str() + at, "by position (%*d to %d of %*d to %d)", &shown,
                            &to) == 2);
        CHECK(to == deepest);
        CHECK(shown <= to);
      }
    }
}

TEST_CASE(
    "drafts panel: a narrow pane breaks the headline, a low one says that the history is left out") {
  const auto panel = make_panel("drafts");
  const auto canvas = drawn(*panel, end_of(1), {0, 0, 300, 420});
  std::string head;
  const float em = end_of(1).em;
  for (const auto& text : canvas.texts) {
    if (text.text == "level") break;
    CHECK(text.box.right() <= 300);
    head += text.text + " ";
  }
  for (const char* part : {"6 proposed on 3 levels, ", "2 withdrawn, ", "accepted 1 of 4", "rows)"})
    CHECK(head.find(part) != std::string::npos);
  CHECK(head.find("…") == std::string::npos);
  const std::string note = "guesses over the text: in a taller panel";
  CHECK(find(drawn(*panel, end_of(1), {0, 0, 900, em * 8}), note));
  CHECK_FALSE(find(drawn(*panel, end_of(1), {0, 0, 900, em * 16}), note));
  CHECK_FALSE(find(canvas, note));
}

TEST_CASE("drafts panel: a level has what came, its place and its drafts in order") {
  const auto panel = make_panel("drafts");
  const auto canvas = drawn(*panel, end_of(1), kArea);
  // Level 2 shows the withdrawn t32 first, then t30 and t31.
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

TEST_CASE("drafts panel: a tall pane has charts in the middle, in the same place at every step") {
  const auto panel = make_panel("drafts");
  const float em = end_of(1).em;
  const Rect tall{0, 0, em * 60, em * 36};
  std::vector<float> heights;
  for (const std::int32_t step : {1, 2}) {
    const auto canvas = drawn(*panel, end_of(step), tall);
    const auto* const chart =
        find(canvas, "P(level d accepted | level d − 1 accepted), 95 % interval");
    REQUIRE(chart);
    heights.push_back(chart->box.y);
    CHECK(find(canvas, step == 1 ? "1 of 1" : "2 of 2"));
    CHECK(find(canvas, step == 1 ? "steps by accepted, mean 1.00 of 1 step"
                                 : "steps by accepted, mean 1.00 of 2 steps"));
    // Nothing is written over anything else.
    for (std::size_t i = 0; i < canvas.texts.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const Rect &a = canvas.texts[i].box, &b = canvas.texts[j].box;
        CAPTURE(canvas.texts[i].text);
        CAPTURE(canvas.texts[j].text);
        const float apart = em * 0.3f;  // boxes are higher than their letters
        CHECK((a.right() <= b.x + 1 || b.right() <= a.x + 1 || a.bottom() <= b.y + apart ||
               b.bottom() <= a.y + apart));
      }
  }
  CHECK(heights[0] == heights[1]);
  // Before a draft was verified their place says so; a lower pane and the whole picture have none.
  CHECK(
      find(drawn(*panel, scene_at(withdrawn_drafts_capture(), make_tick(1, Phase::kForward)), tall),
           "No draft has been verified yet."));
  CHECK_FALSE(find(drawn(*panel, end_of(2), {0, 0, em * 60, em * 18}), "2 of 2"));
  Scene figure = end_of(2);
  figure.export_mode = true;
  RecordingCanvas canvas;
  const Point whole = panel->extent(canvas, figure);
  CHECK_FALSE(find(drawn(*panel, figure, {0, 0, whole.x, whole.y}), "2 of 2"));
}

TEST_CASE("drafts panel: charts and history stay in their place where only some steps have lists") {
  const auto opened = test::make_capture([](capture::Recorder& out) {
    test::record_withdrawn_drafts(out, 0, 4);
    capture::RowTables rows;
    for (const char* const list : {"line 1", "line 2", "line 3"})
      for (const double token : {20, 41, 51})
        rows.metrics.push_back({.tick = make_tick(2, Phase::kDraft),
                                .node = -1,
                                .name = std::string(capture::kTokenList) + list,
                                .value = token});
    out.write(rows);
  });
  const auto panel = make_panel("drafts");
  std::vector<float> charts, histories;
  for (const std::int32_t step : {1, 2, 3}) {
    const Scene scene = scene_at(*opened->capture, make_tick(step + 1, Phase::kDraft));
    const auto canvas = drawn(*panel, scene, {0, 0, scene.em * 60, scene.em * 40});
    CHECK((find(canvas, "line 1") != nullptr) == (step == 2));
    const auto* const chart =
        find(canvas, "P(level d accepted | level d − 1 accepted), 95 % interval");
    REQUIRE(chart);
    charts.push_back(chart->box.y);
    const auto* const history = find(canvas, "P(accept)");
    REQUIRE(history);
    histories.push_back(history->box.y);
  }
  CHECK(charts == std::vector<float>(3, charts.front()));
  CHECK(histories == std::vector<float>(3, histories.front()));
}

TEST_CASE("drafts: those that have no room in their row go on in further lines, else are counted") {
  const Scene scene = end_of(1);
  const auto drafts =
      draft_levels(*scene.capture, 1, scene.cursor, text_at(*scene.capture, scene.cursor));
  REQUIRE(drafts.levels.size() == 3);
  std::size_t proposed = 0;
  for (const DraftLevel& level : drafts.levels) proposed += level.drafts.size();
  const auto told = [&](float height_em) {
    DraftRows rows;
    RecordingCanvas canvas;
    rows.draw(canvas, {0, 0, scene.em * 13, scene.em * height_em}, drafts, scene);
    std::size_t chips = 0, rest = 0;
    for (const auto& text : canvas.texts) {
      if (text.text.starts_with("t") && text.box.x > scene.em * 5.9f) ++chips;
      if (text.text.starts_with("+")) rest += std::stoul(text.text.substr(1));
    }
    return std::pair{chips, rest};
  };
  const auto [some, rest] = told(DraftRows::height_em(3));
  CHECK(rest > 0);
  CHECK(some + rest == proposed);
  const auto [all, none] = told(20);
  CHECK(all == proposed);
  CHECK(none == 0);
}

TEST_CASE("level history: shares by level, over all steps and over a range") {
  LevelHistory history;
  Scene scene = end_of(2);
  auto shares = history.shares(scene);
  REQUIRE(shares.size() == 3);
  // Level 1: t20 was first and used, t41 second and used. Level 2: t32 was withdrawn, t51 came
  // elsewhere.
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
  // Both steps accepted a draft at level 1, and refused the one below it.
  CHECK(shares[0].reached == 2);
  CHECK(shares[0].accepted == 2);
  CHECK(shares[1].reached == 2);
  CHECK(shares[1].accepted == 0);
  CHECK(shares[2].reached == 0);
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

TEST_CASE("drafts panel: every level has its row, in a picture and where a pane has room") {
  const auto opened =
      test::make_capture([](capture::Recorder& out) { test::record_chain(out, 10); });
  const Capture& run = *opened->capture;
  for (const std::int32_t step : {1, 2}) {  // step 2 has one draft
    CAPTURE(step);
    Scene scene = scene_at(run, make_tick(step + 1, Phase::kDraft));
    scene.export_mode = true;
    const auto panel = make_panel("drafts");
    test::RecordingCanvas measure;
    const Point size = panel->extent(measure, scene);
    const auto canvas = drawn(*panel, scene, {0, 0, size.x, size.y});
    CHECK(find(canvas, "10"));
    for (const auto& text : canvas.texts) CHECK(text.text.find("more level") == std::string::npos);
  }
  // A smaller pane says how many levels have no room, and the wheel brings them.
  const Scene scene = scene_at(run, make_tick(3, Phase::kDraft));
  const auto panel = make_panel("drafts");
  const Rect low{0, 0, 900, 14.0f * 16};
  const auto count = [&] {
    const auto canvas = drawn(*panel, scene, low);
    for (const auto& text : canvas.texts)
      if (text.text.starts_with("+ ") && text.text.find("more level") != std::string::npos)
        return std::pair(std::stoi(text.text.substr(2)), text.box);
    return std::pair(0, Rect{});
  };
  const auto [hidden, box] = count();
  REQUIRE(hidden > 1);
  Input in = test::mouse_at({box.x + 4, box.y + 4});
  in.wheel = -20;
  panel->input(in, low, scene);
  CHECK(count().first == 0);
  CHECK(find(drawn(*panel, scene, low), "10"));
}

TEST_CASE("drafts panel: a token that the cursor has not seen is not compared with") {
  const auto panel = make_panel("drafts");
  // Before step 1's accept phase no token has come at any of its places.
  const Scene before = scene_at(withdrawn_drafts_capture(), make_tick(1, Phase::kAccept));
  CHECK(panel->csv(before) ==
        "step,level,depth,came,text,place,guess\n1,1,2,,,,\n1,2,3,,,,\n1,3,4,,,,\n");
  LevelHistory history;
  CHECK(history.shares(before).empty());
  // After step 1 two tokens have come; the one below level 3 is step 2's.
  CHECK(panel->csv(end_of(1)) ==
        "step,level,depth,came,text,place,guess\n1,1,2,20,t20,0,came\n1,2,3,32,t32,0,withdrawn\n"
        "1,3,4,,,,\n");
  for (const auto& text : drawn(*panel, before, kArea).texts) {
    CHECK(text.text.find("accepted ") == std::string::npos);
    CHECK(text.text != "t41");  // step 2's
  }
}

TEST_CASE("level acceptance: the interval is Wilson's") {
  // Newcombe 1998, table I: 15 of 148 and 0 of 20.
  CHECK(wilson_interval(15, 148).low == doctest::Approx(0.0624).epsilon(0.002));
  CHECK(wilson_interval(15, 148).high == doctest::Approx(0.1605).epsilon(0.002));
  CHECK(wilson_interval(0, 20).low == 0);
  CHECK(wilson_interval(0, 20).high == doctest::Approx(0.1611).epsilon(0.002));
  for (const std::int64_t n : {1, 2, 3, 7, 20}) {  // no rounding is left at either end
    CHECK(wilson_interval(0, n).low == 0);
    CHECK(wilson_interval(n, n).high == 1);
  }
  CHECK(wilson_interval(0, 0).low == 0);
  CHECK(wilson_interval(0, 0).high == 1);
}

TEST_CASE("drafts panel: places are ordinal numbers") {
  const std::vector<std::string> wanted = {"1st", "2nd", "3rd", "4th"};
  for (std::int32_t i = 0; i < 4; ++i)
    CHECK(ordinal_text(i) == wanted[static_cast<std::size_t>(i)]);
  for (const auto& [place, text] : std::vector<std::pair<std::int32_t, std::string>>{
           {10, "11th"}, {11, "12th"}, {12, "13th"}, {20, "21st"}, {21, "22nd"}, {110, "111th"}})
    CHECK(ordinal_text(place) == text);
}

}  // namespace
}  // namespace triescope::viz::test_drafts_panel
