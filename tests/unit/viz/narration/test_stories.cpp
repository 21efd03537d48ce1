// The stories of all phases of a small beam search made by hand, word by word.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/mixture_run.h"
#include "viz/narration/narration_text.h"
#include "viz/narration/sentences.h"

namespace triescope::test::test_stories {
namespace {

// Two beams after the prompt " a on"; step 1 keeps the children of the first.
void record_two_beams(Recorder& out) {
  const auto node = [](std::int32_t id, std::int32_t parent, std::int32_t token, float logprob,
                       float score, std::int32_t step) {
    return NodeRow{.node = id,
                   .parent = parent,
                   .token = token,
                   .depth = step + 1,
                   .logprob = logprob,
                   .score = score,
                   .source = Source::kBeam,
                   .tick = make_tick(step, Phase::kAccept)};
  };
  const auto kept = [](std::int32_t id, std::int32_t rank, float score, float gap, float limit) {
    return VerdictRow{.node = id,
                      .verdict = Verdict::kKept,
                      .rank = rank,
                      .score = score,
                      .gap = gap,
                      .reason = Reason::kBeamKept,
                      .threshold = limit,
                      .count = 2};
  };
  RunInfo info = synthetic_info(2, "beam", "Trie beam search", "recycle");
  info.width = 2;
  RowTables rows{.run = info};
  rows.pieces = {{0, " a"}, {1, " on"}, {5, " Paris"}, {7, " city"}, {8, " it"}, {9, " was"}};
  rows.nodes = {{},
                node(1, 0, 5, -0.25f, -0.25f, 0),
                node(2, 0, 7, -0.5f, -0.5f, 0),
                node(3, 1, 8, -0.25f, -0.5f, 1),
                node(4, 1, 9, -1.0f, -1.25f, 1)};
  rows.inputs = {{.step = 0, .node = -2, .slot = 0},
                 {.step = 0, .row = 1, .node = -3, .position = 1, .slot = 1, .naive_position = 1},
                 {.step = 1, .node = 1, .position = 2, .slot = 2, .naive_position = 2},
                 {.step = 1, .row = 1, .node = 2, .position = 2, .slot = 3, .naive_position = 3}};
  rows.verdicts = {kept(1, 0, -0.25f, 0.75f, -1), kept(2, 1, -0.5f, 0.5f, -1),
                   kept(3, 0, -0.5f, 1, -1.5f), kept(4, 1, -1.25f, 0.25f, -1.5f)};
  for (std::size_t i = 0; i < 4; ++i)
    rows.verdicts[i].tick = make_tick(i < 2 ? 0 : 1, Phase::kAccept);
  rows.verdicts.push_back({.tick = make_tick(1, Phase::kAccept),
                           .node = 2,
                           .verdict = Verdict::kPruned,
                           .score = -0.5f,
                           .gap = 0.75f,
                           .reason = Reason::kBeamOutdone,
                           .value = -2,
                           .threshold = -1.25f,
                           .count = 2});
  rows.frontier = {{.step = 0, .rank = 0, .node = 1, .score = -0.25f},
                   {.step = 0, .rank = 1, .node = 2, .score = -0.5f},
                   {.step = 1, .rank = 0, .node = 3, .score = -0.5f},
                   {.step = 1, .rank = 1, .node = 4, .score = -1.25f}};
  const Tick forward = make_tick(1, Phase::kForward), commit = make_tick(1, Phase::kCommit);
  rows.slots = {{.tick = 1, .slot = 0, .node = -2},
                {.tick = 1, .slot = 1, .node = -3},
                {.tick = forward, .slot = 2, .node = 1},
                {.tick = forward, .slot = 3, .node = 2},
                {.tick = commit, .action = SlotAction::kFree, .slot = 3, .node = 2}};
  rows.memory = {{.step = 0, .live = 2, .reserved = 8, .greedy = 2, .batch_beam = 4},
                 {.step = 1, .live = 3, .reserved = 8, .greedy = 3, .batch_beam = 3}};
  rows.steps = {{.step = 0, .forward_rows = 2, .emitted = 1, .frontier = 2},
                {.step = 1, .forward_rows = 2, .emitted = 1, .frontier = 2}};
  for (Tick tick = 0; tick < 10; ++tick)
    rows.phases.push_back({.tick = tick,
                           .duration_us = tick % 5 == 1   ? 90
                                          : tick % 5 == 2 ? 10
                                                          : 0});
  out.write(rows);
  out.write({.finish = Finish{RunStatus::kDone, ""}});
}

std::string told(const Capture& run, Tick cursor) {
  return viz::narration_as_text(viz::narrate(run, cursor, viz::Sentences::standard()));
}

TEST_CASE("stories: a step of beam search, phase by phase") {
  const auto opened = make_capture(record_two_beams);
  const Capture& run = *opened->capture;
  CHECK(
      told(run, 0) ==
      "Before the first step\n"
      "  Trie beam search is about to decode at most 64 tokens with SmolLM2-135M-Instruct.\n"
      "  The prompt is two tokens long and ends in '·on'.\n"
      "  It follows up to two texts at once and scores each by Σ log p, the sum of the logarithms "
      "of its tokens' probabilities: the nearer to zero, the likelier the whole text.\n"
      "  The first step is prefill: one forward over the whole prompt, before the model says "
      "anything.\n");
  CHECK(told(run, make_tick(0, Phase::kCommit) + 1) ==
        "Step 0, commit\n"
        "  Every entry of the KV cache is still needed, so nothing is given up.\n"
        "  The cache holds two live tokens in eight reserved slots.\n"
        "  Greedy decoding would hold two at this length, and conventional batch beam search "
        "four.\n");
  CHECK(told(run, make_tick(1, Phase::kDraft) + 1) ==
        "Step 1, draft\n"
        "  Trie beam search drafts nothing, so this phase is empty.\n"
        "  The forward will read two rows, the newest token of each live beam: '·Paris' and "
        "'·city'.\n");
  CHECK(told(run, make_tick(1, Phase::kForward) + 1) ==
        "Step 1, forward\n"
        "  The model reads two rows at once, one for each live beam: '·Paris' into slot 2 and "
        "'·city' into slot 3.\n"
        "  The row of '·city' sees three tokens: the two of the prompt and itself.\n"
        "  '·Paris' and '·city' are alternatives for the same place, so both stand at position 2 "
        "and neither sees the other.\n"
        "  Counted as it lies in the cache, '·city' would get position 3; its place in the text "
        "is 2, and that is what the model is told.\n");
  CHECK(told(run, make_tick(1, Phase::kAccept) + 1) ==
        "Step 1, accept\n"
        "  The two beams times 49,152 tokens make the continuations that compete for two places.\n"
        "  Two beams go on, best first: '·it' after '·Paris' (Σ log p = -0.50) and '·was' after "
        "'·Paris' (Σ log p = -1.25).\n"
        "  The cut falls behind '·was': the best continuation left out has -1.50, which is 0.25 "
        "short.\n"
        "  The beam at '·city' dies out: its best continuation has Σ log p = -2.00, and the last "
        "of two places went for -1.25.\n");
  CHECK(told(run, make_tick(1, Phase::kCommit) + 1) ==
        "Step 1, commit\n"
        "  What lies in slot 3 is of no use to any live text, so it is free for the next tokens.\n"
        "  The cache holds three live tokens in eight reserved slots.\n");
  CHECK(told(run, make_tick(1, Phase::kObserve) + 1) ==
        "Step 1, observe\n"
        "  Step 1 is done, and two beams go on.\n"
        "  The cut falls behind '·was': the best continuation left out has -1.50, which is 0.25 "
        "short.\n"
        "  The beam at '·city' dies out: its best continuation has Σ log p = -2.00, and the last "
        "of two places went for -1.25.\n"
        "  The best beam ends in '·it', two tokens after the prompt, with Σ log p = -0.50.\n"
        "  The step took 100 µs, 90 µs of it for the forward.\n");
}

// Whether a narration has this sentence.
bool tells(const Capture& run, Tick cursor, const std::string& sentence) {
  return told(run, cursor).find("  " + sentence + "\n") != std::string::npos;
}

TEST_CASE("stories: the forward of a mixture says how many experts its rows read") {
  const Capture& run = mixture_capture();
  CHECK(tells(run, make_tick(1, Phase::kForward) + 1,
              "A layer reads 3.00 different experts for the four rows, where one row goes through "
              "2.00: 1.20 KB of weights instead of 1.00 KB."));
  // One row reads its own alone.
  CHECK(told(run, make_tick(2, Phase::kForward) + 1).find("expert") == std::string::npos);
  RunInfo unsized = mixture_info();
  unsized.model_json = "{}";
  const auto opened = make_capture([&](Recorder& out) { record_mixture(out, unsized); });
  CHECK(
      tells(*opened->capture, make_tick(1, Phase::kForward) + 1,
            "A layer reads 3.00 different experts for the four rows; one row goes through 2.00."));
}

}  // namespace
}  // namespace triescope::test::test_stories
