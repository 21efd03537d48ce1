// Two runs side by side: matching ticks, twins, and where two texts part.
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/recording_canvas.h"
#include "viz/panels/panel.h"
#include "viz/query/comparison.h"

namespace triescope::viz::test_comparison {
namespace {

using capture::make_tick;
using capture::Phase;
using capture::Tick;

const capture::Capture& wide() {
  static const auto opened =
      test::make_capture([](capture::Recorder& r) { test::record_beam(r, 24, 5); });
  return *opened->capture;
}

TEST_CASE("comparison: a run is in step with itself, whatever the cursor counts") {
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

TEST_CASE(
    "comparison: by tokens, the other run has never said more, and the next of its steps would") {
  const capture::Capture &one = test::beam_capture(), &other = test::draft_capture();
  for (Tick tick = make_tick(1, Phase::kDraft); tick <= one.end_tick(); ++tick) {
    CAPTURE(tick);
    const Tick there = matching_tick(one, tick, other, Along::kTokens);
    const std::int64_t said = text_tokens_before(one, tick);
    CHECK(text_tokens_before(other, there) <= said);
    const Tick next = make_tick(capture::step_of(there) + 1, Phase::kDraft);
    if (next <= other.end_tick()) CHECK(text_tokens_before(other, next) > said);
  }
}

// Records a run whose steps emit these numbers of tokens, one node a token.
std::unique_ptr<test::OpenedCapture> emitting(const std::vector<std::int32_t>& counts) {
  return test::make_capture([&](capture::Recorder& out) {
    capture::RowTables rows{.run = test::synthetic_info(3, "greedy", "", "recycle")};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const auto step = static_cast<std::int32_t>(i);
      rows.steps.push_back({.step = step, .forward_rows = 1, .emitted = counts[i]});
      for (int phase = 0; phase < capture::kPhaseCount; ++phase)
        rows.phases.push_back(
            {.tick = make_tick(step, static_cast<Phase>(phase)), .duration_us = 1000});
    }
    out.write(rows);
  });
}

TEST_CASE(
    "comparison: the second run never goes back while the first goes forward, whatever the cursor counts") {
  const auto ones = emitting({0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
             uneven = emitting({0, 3, 1, 4, 1, 2}), pauses = emitting({0, 2, 0, 0, 3, 0, 4}),
             twos = emitting({0, 2, 2, 2, 2, 2});
  const std::vector<const capture::Capture*> runs = {
      &test::beam_capture(), &test::draft_capture(), &wide(),
      ones->capture.get(),   uneven->capture.get(),  pauses->capture.get(),
      twos->capture.get()};
  for (const Along along : all_alongs())
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (std::size_t j = 0; j < runs.size(); ++j) {
        CAPTURE(to_string(along));
        CAPTURE(i);
        CAPTURE(j);
        Tick before = 0;
        for (Tick tick = 0; tick <= runs[i]->end_tick(); ++tick) {
          CAPTURE(tick);
          const Tick there = matching_tick(*runs[i], tick, *runs[j], along);
          CHECK(there >= before);
          before = there;
        }
      }
  // The phases of a step of three tokens match those of the third step of one token.
  CHECK(matching_tick(*ones->capture, make_tick(2, Phase::kCommit), *uneven->capture,
                      Along::kTokens) == make_tick(1, Phase::kDraft));
  CHECK(matching_tick(*ones->capture, make_tick(3, Phase::kCommit), *uneven->capture,
                      Along::kTokens) == make_tick(1, Phase::kCommit));
}

TEST_CASE("comparison: a longer run waits at the end of a shorter one") {
  const capture::Capture &one = test::draft_capture(), &other = test::beam_capture();
  CHECK(matching_tick(one, one.end_tick(), other, Along::kSteps) <= other.end_tick());
  CHECK(matching_tick(one, 3, other, Along::kTokens) == 3);  // prefill beside prefill
  CHECK(decoding_us_before(one, 3) == 0);
}

TEST_CASE("comparison: a run has itself as twin and differs nowhere") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()}) {
    const Twins twins = find_twins(*run, run->end_tick(), *run, run->end_tick());
    REQUIRE(twins.node.size() == run->nodes().size());
    for (std::size_t i = 0; i < twins.node.size(); ++i)
      CHECK_FALSE(twins.differs(static_cast<int>(i)));
    CHECK(twins.parting_node == -1);
    CHECK(twins.twin_of(-5) == -5);  // prompt tokens
  }
}

TEST_CASE("comparison: what has merely not been reached is not a difference") {
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

TEST_CASE("comparison: twins carry the same tokens, and each is the other's") {
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

using Tokens = std::vector<std::int32_t>;

TEST_CASE("comparison: texts are aligned again where they agree in three tokens, or to both ends") {
  CHECK(align_texts(Tokens{1, 2, 3}, Tokens{1, 2, 3}) == Tokens{0, 1, 2});
  // These differ by another token in place of one, by more tokens, by fewer.
  CHECK(align_texts(Tokens{1, 2, 3, 4, 5}, Tokens{1, 9, 3, 4, 5}) == Tokens{0, -1, 2, 3, 4});
  CHECK(align_texts(Tokens{1, 3, 4, 5}, Tokens{1, 8, 9, 3, 4, 5}) == Tokens{0, 3, 4, 5});
  CHECK(align_texts(Tokens{1, 8, 9, 3, 4, 5}, Tokens{1, 3, 4, 5}) == Tokens{0, -1, -1, 1, 2, 3});
  // Two equal tokens in a row are too few in the middle, but enough at both ends.
  CHECK(align_texts(Tokens{1, 2, 3, 4, 7}, Tokens{1, 9, 3, 4, 8}) == Tokens{0, -1, -1, -1, -1});
  CHECK(align_texts(Tokens{1, 2, 3, 4}, Tokens{1, 9, 3, 4}) == Tokens{0, -1, 2, 3});
  CHECK(align_texts(Tokens{1, 2, 4}, Tokens{1, 9, 4}) == Tokens{0, -1, 2});
  // A longer text is not a difference.
  CHECK(align_texts(Tokens{1, 2, 3}, Tokens{1}) == Tokens{0, -1, -1});
  CHECK(align_texts(Tokens{}, Tokens{1}).empty());
  CHECK(align_texts(Tokens{5, 6}, Tokens{7, 8}) == Tokens{-1, -1});
}

TEST_CASE(
    "comparison: an alignment is the same seen from the other text, also where two ways are equally near") {
  std::uint32_t state = 7;
  const auto next = [&] {
    return static_cast<std::int32_t>((state = state * 1664525u + 1013904223u) >> 28) % 3;
  };
  for (int round = 0; round < 300; ++round) {
    Tokens one, other;
    for (int i = 0; i < 24; ++i) one.push_back(next());
    for (int i = 0; i < 22; ++i) other.push_back(next());
    const auto there = align_texts(one, other), back = align_texts(other, one);
    std::int32_t last = -1;
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (there[i] < 0) continue;
      CHECK(one[i] == other[static_cast<std::size_t>(there[i])]);
      CHECK(back[static_cast<std::size_t>(there[i])] == static_cast<std::int32_t>(i));
      CHECK(there[i] > last);
      last = there[i];
    }
  }
}

TEST_CASE("comparison: an alignment looks no further than it promises") {
  Tokens one = {1}, other = {1};
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(kFarthest); ++i) one.push_back(1000 + i);
  for (const std::int32_t token : {2, 3, 4}) {
    one.push_back(token);
    other.push_back(token);
  }
  CHECK(align_texts(one, other).back() == 3);
  one.insert(one.begin() + 1, 5000);
  CHECK(align_texts(one, other).back() == -1);
}

struct GreedyRun {
  std::size_t inherited = 0;  // tokens that a branch began with, which exist before the first step
  std::int64_t phase_us = 0, pause_us = 0;  // of each phase, and before each step
};

// Records a greedy run that emits these tokens, one a step.
std::unique_ptr<test::OpenedCapture> greedy_run(const Tokens& tokens, const GreedyRun& how = {}) {
  return test::make_capture([&](capture::Recorder& out) {
    out.write({.run = test::synthetic_info(3, "greedy", "Greedy", "recycle")});
    out.write({.nodes = {{.node = 0}}});
    const auto hang = [&](std::size_t i, Tick tick) {
      const auto node = static_cast<std::int32_t>(i) + 1;
      out.write({.nodes = {{.node = node,
                            .parent = node - 1,
                            .token = tokens[i],
                            .depth = node,
                            .source = capture::Source::kGreedy,
                            .tick = tick}}});
      out.write(
          {.verdicts = {{.tick = tick, .node = node, .verdict = capture::Verdict::kEmitted}}});
    };
    std::int64_t clock = 0;
    for (std::size_t i = 0; i < how.inherited; ++i) hang(i, make_tick(0, Phase::kDraft));
    for (std::size_t i = how.inherited; i < tokens.size(); ++i) {
      const auto step = static_cast<std::int32_t>(i - how.inherited);
      hang(i, make_tick(step, Phase::kAccept));
      out.write({.frontier = {{.step = step, .node = static_cast<std::int32_t>(i) + 1}}});
      clock += how.pause_us;
      for (int phase = 0; phase < capture::kPhaseCount; ++phase, clock += how.phase_us)
        out.write({.phases = {{.tick = make_tick(step, static_cast<Phase>(phase)),
                               .start_us = clock,
                               .duration_us = how.phase_us}}});
      out.write({.steps = {{.step = step, .emitted = 1, .frontier = 1}}});
    }
    out.write({.finish = capture::Finish{capture::RunStatus::kDone, ""}});
  });
}

TEST_CASE(
    "comparison: time of decoding is the phases' own: a pause between two steps is no part of it") {
  const Tokens text = {1, 2, 3, 4, 5, 6};
  const auto at_once = greedy_run(text, {.phase_us = 100}),
             stepped = greedy_run(text, {.phase_us = 100, .pause_us = 8'000'000});
  const capture::Capture &one = *at_once->capture, &other = *stepped->capture;
  CHECK(decoding_us_before(one, make_tick(1, Phase::kDraft)) == 0);
  for (Tick tick = 0; tick <= one.end_tick(); ++tick) {
    CAPTURE(tick);
    std::int64_t us = 0;
    for (const capture::PhaseRow& row : other.phases())
      if (row.tick >= make_tick(1, Phase::kDraft) && row.tick < tick) us += row.duration_us;
    CHECK(decoding_us_before(one, tick) == us);
    CHECK(decoding_us_before(other, tick) == us);
    CHECK(matching_tick(one, tick, other, Along::kTime) == tick);
    CHECK(matching_tick(other, tick, one, Along::kTime) == tick);
  }
}

TEST_CASE(
    "comparison: a branch is aligned with its origin by its whole text, what it began with included") {
  const auto left = greedy_run({1, 2, 3, 4, 5, 6, 7, 8, 9}),
             right = greedy_run({1, 2, 3, 4, 50, 60, 70, 80}, {.inherited = 5});
  const capture::Capture &origin = *left->capture, &branch = *right->capture;
  CHECK(text_tokens_before(branch, 3) == 0);  // within prefill
  CHECK(text_tokens_before(branch, branch.end_tick()) == 8);
  for (const Along along : {Along::kTokens, Along::kText}) {
    CAPTURE(to_string(along));
    for (std::int32_t step = 1; make_tick(step, Phase::kDraft) <= branch.end_tick(); ++step) {
      const Tick tick = make_tick(step, Phase::kDraft);
      CAPTURE(step);
      const Tick there = matching_tick(branch, tick, origin, along);
      CHECK(text_tokens_before(origin, there) == 5 + step);
      CHECK(matching_tick(origin, there, branch, along) == tick);
    }
    // Until the origin has come as far, the branch waits behind its prefill.
    CHECK(matching_tick(origin, make_tick(2, Phase::kDraft), branch, along) ==
          make_tick(1, Phase::kDraft));
  }
}

TEST_CASE(
    "comparison: behind a difference the texts' tokens find each other again, and every difference is known") {
  const auto left = greedy_run({1, 2, 3, 4, 5, 6, 7, 8, 9}),
             right = greedy_run({1, 2, 40, 41, 4, 5, 6, 7, 50, 9});
  const capture::Capture &one = *left->capture, &other = *right->capture;
  const Twins own = find_twins(one, one.end_tick(), other, other.end_tick());
  const Twins back = find_twins(other, other.end_tick(), one, one.end_tick());
  CHECK(own.partings == Tokens{3, 8});
  CHECK(back.partings == Tokens{3, 9});
  CHECK(own.parting_node == 3);
  CHECK(own.parting_step == 2);
  CHECK(back.parting_step == 2);
  // Node 4 (token 4) corresponds to node 5 there; node 3 has no counterpart.
  CHECK(own.echo == Tokens{-1, -1, -1, -1, 5, 6, 7, 8, -1, 10});
  CHECK(own.counterpart_of(2) == 2);
  CHECK(own.counterpart_of(4) == 5);
  CHECK(back.counterpart_of(5) == 4);
  CHECK(own.counterpart_of(3) == -1);
  CHECK(own.counterpart_of(-4) == -4);
  CHECK(own.differs(4));
  CHECK_FALSE(own.differs_as_text(4));
  CHECK(own.differs_as_text(3));
  CHECK(own.differs_as_text(8));
  CHECK_FALSE(own.differs_as_text(2));
  // A node that the other run has not reached at its cursor is not there yet.
  const Twins early = find_twins(one, one.end_tick(), other, make_tick(4, Phase::kDraft));
  CHECK(early.echo[4] == -1);
}

TEST_CASE("comparison: a cursor by text keeps two runs at the same place behind a difference") {
  const auto left = greedy_run({1, 2, 3, 4, 5, 6, 7}),
             right = greedy_run({1, 2, 40, 41, 42, 4, 5, 6, 7});
  const capture::Capture &one = *left->capture, &other = *right->capture;
  const auto there = [&](int tokens) {
    return text_tokens_before(
        other, matching_tick(one, make_tick(tokens, Phase::kDraft), other, Along::kText));
  };
  CHECK(there(1) == 1);
  CHECK(there(2) == 2);
  CHECK(there(3) == 3);  // at the difference: token by token
  CHECK(there(4) == 6);  // behind it: where both have said 4
  CHECK(there(7) == 9);
  const auto back = [&](int tokens) {
    return text_tokens_before(
        one, matching_tick(other, make_tick(tokens, Phase::kDraft), one, Along::kText));
  };
  CHECK(back(3) == 3);
  CHECK(back(4) == 3);  // waits until the texts agree again
  CHECK(back(5) == 3);
  CHECK(back(6) == 4);
  CHECK(back(9) == 7);
  const capture::Capture& run = test::draft_capture();
  for (Tick tick = 0; tick <= run.end_tick(); ++tick)
    CHECK(matching_tick(run, tick, run, Along::kText) == tick);
}

TEST_CASE("comparison: what the shared cursor counts has names of its own") {
  std::set<std::string> names;
  for (const Along along : all_alongs()) names.insert(to_string(along));
  CHECK(names == std::set<std::string>{"tokens", "text", "steps", "time"});
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

TEST_CASE("comparison: verdicts and KV slots mark what the other run has not, with a glyph") {
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
}  // namespace triescope::viz::test_comparison
