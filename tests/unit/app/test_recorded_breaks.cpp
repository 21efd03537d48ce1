// Breakpoints over recorded runs: playback stops where the run stopped while it was decoded.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/session/breakpoints.h"
#include "app/session/session_thread.h"
#include "core/capture/capture.h"
#include "tests/support/paths.h"
#include "tests/unit/app/session_harness.h"
#include "tests/unit/app/tiny_model.h"

namespace triescope::app::test_recorded_breaks {
namespace {

struct Stop {
  capture::Tick tick;
  std::string text;
  std::int32_t node;
  bool operator==(const Stop&) const = default;
};
std::string describe_all(const std::vector<Stop>& stops) {
  std::string all;
  for (const Stop& stop : stops)
    all += std::to_string(stop.tick) + " " + stop.text + " @" + std::to_string(stop.node) + "\n";
  return all;
}

struct Runs : SessionHarness {
  test::TempDir folder;
  const std::string model = write_tiny_model(folder.path(), "tiny", {.tokenizer = true});
  int runs = 0;

  RunRequest request(const std::string& method) const {
    RunRequest request;
    request.model = model;
    request.method = method;
    request.settings = {{"eos_token_id", {-1}}};
    request.prompt = "ABCABCABC";
    request.max_new_tokens = 14;
    return request;
  }
  // Every stop of a run while it is decoded, and its capture.
  std::pair<std::vector<Stop>, std::string> live(const RunRequest& request,
                                                 const std::vector<Breakpoint>& points) {
    const std::string path = (folder.path() / ("run" + std::to_string(runs++) + ".tscap")).string();
    thread.set_breakpoints(points);
    thread.start(request, path, /*run_at_once=*/false);
    settle();
    std::vector<Stop> stops;
    while (thread.status()->state == LiveState::kPaused && stops.size() < 1000) {
      const std::uint64_t before = thread.status()->pause_serial;
      thread.run();
      settle();
      const auto status = thread.status();
      if (status->pause_serial == before) continue;
      // The place of the window's cursor then. A run has no phase behind its last one.
      const bool over = status->state == LiveState::kDone;
      stops.push_back({over ? capture::Capture::open(path)->end_tick() : status->next_tick,
                       status->pause_reason, status->pause_node});
    }
    REQUIRE(errors() == 0);
    REQUIRE(thread.status()->state == LiveState::kDone);
    return {stops, path};
  }
};

std::vector<Stop> forwards(const capture::Capture& capture, const std::vector<Breakpoint>& points) {
  std::vector<Stop> stops;
  capture::Tick cursor = 0;
  while (const auto stop = next_match(capture, points, cursor, capture.end_tick())) {
    stops.push_back({stop->tick, stop->hit.text, stop->hit.node});
    cursor = stop->tick;
  }
  return stops;
}
std::vector<Stop> backwards(const capture::Capture& capture,
                            const std::vector<Breakpoint>& points) {
  std::vector<Stop> stops;
  capture::Tick cursor = capture.end_tick() + 1;
  while (const auto stop = previous_match(capture, points, cursor)) {
    stops.push_back({stop->tick, stop->hit.text, stop->hit.node});
    cursor = stop->tick;
  }
  std::ranges::reverse(stops);
  return stops;
}

TEST_CASE_FIXTURE(
    Runs,
    "recorded breaks: a recorded run stops where it stopped while it was decoded, for every kind") {
  RunRequest drafts = request("prompt_lookup"), refused = drafts, beams = request("beam");
  refused.settings["verify"] = "sample";  // seldom draws a token copied from the prompt
  beams.settings["num_beams"] = 3;
  beams.settings["kv"] = "compact";
  beams.settings["gc_every"] = 2;
  std::set<BreakKind> hit;
  for (const RunRequest& one : {request("greedy"), drafts, refused, beams}) {
    // A token that occurs, for every kind of breakpoint that asks for one.
    const auto before = capture::Capture::open(live(one, {}).second);
    std::int32_t token = -1;
    for (const capture::VerdictRow& row : before->verdicts(2))
      if (row.verdict != capture::Verdict::kRejected)
        token = before->nodes()[static_cast<std::size_t>(row.node)].token;
    REQUIRE(token >= 0);
    for (const BreakKind kind : all_break_kinds()) {
      Breakpoint point = new_breakpoint(kind);
      if (kind == BreakKind::kLiveAbove) point.threshold = 12;
      if (kind == BreakKind::kStep) point.threshold = 3;
      if (kind == BreakKind::kEntropyAbove) point.threshold = 1;
      if (kind == BreakKind::kToken) point.threshold = token;
      if (kind == BreakKind::kText || kind == BreakKind::kPattern)
        point.text = std::string(before->piece(token));
      CAPTURE(one.method);
      CAPTURE(break_words(kind));
      const auto [stops, path] = live(one, {point});
      const auto capture = capture::Capture::open(path);
      CHECK(describe_all(forwards(*capture, {point})) == describe_all(stops));
      CHECK(describe_all(backwards(*capture, {point})) == describe_all(stops));
      if (!stops.empty()) hit.insert(kind);
    }
  }
  for (const BreakKind kind : all_break_kinds()) {
    CAPTURE(break_words(kind));
    CHECK(hit.count(kind) == 1);
  }
}

TEST_CASE_FIXTURE(
    Runs,
    "recorded breaks: of several breakpoints a recorded run tells the same one as a live run") {
  const std::vector<Breakpoint> points = {{BreakKind::kEntropyAbove, 1, true},
                                          {BreakKind::kRejection, 0, true},
                                          {BreakKind::kAcceptedBelow, 2, true},
                                          {BreakKind::kLiveAbove, 12, true},
                                          {BreakKind::kStep, 2, false}};
  const auto [stops, path] = live(request("prompt_lookup"), points);
  const auto capture = capture::Capture::open(path);
  REQUIRE(stops.size() > 3);
  CHECK(describe_all(forwards(*capture, points)) == describe_all(stops));
  CHECK(describe_all(backwards(*capture, points)) == describe_all(stops));
  CHECK(forwards(*capture, {{BreakKind::kStep, 2, false}}).empty());
}

TEST_CASE_FIXTURE(
    Runs,
    "recorded breaks: a search begins behind the cursor, ends where it is told, and misses none") {
  const auto path = live(request("greedy"), {}).second;
  const auto capture = capture::Capture::open(path);
  const std::vector<Breakpoint> step = {{BreakKind::kStep, 3, true}};
  const capture::Tick there = capture::make_tick(4, capture::Phase::kDraft),
                      end = capture->end_tick();
  REQUIRE(next_match(*capture, step, 0, end));
  CHECK(next_match(*capture, step, 0, end)->tick == there);
  CHECK(next_match(*capture, step, there - 1, end)->tick == there);
  CHECK_FALSE(next_match(*capture, step, there, end));
  CHECK(next_match(*capture, step, 0, there)->tick == there);
  CHECK_FALSE(next_match(*capture, step, 0, there - 1));
  CHECK_FALSE(previous_match(*capture, step, there));
  CHECK(previous_match(*capture, step, there + 1)->tick == there);
  CHECK(previous_match(*capture, step, end)->tick == there);
  CHECK_FALSE(previous_match(*capture, step, 0));
}

}  // namespace
}  // namespace triescope::app::test_recorded_breaks
