// The whole memory of a run: weights, KV of all caches, logits, activations; the memory panel tells
// it, and a click goes to the step in which KV held most.
#include <doctest/doctest.h>

#include "tests/unit/viz/captures.h"
#include "tests/unit/viz/looking.h"
#include "viz/panels/whole_memory.h"

namespace triescope::test::test_whole_memory {
namespace {

constexpr const char* kModel =
    R"({"vocab_size":100,"memory":{"weights":1000,"scratch":50,"logits":6400},)"
    R"("draft":{"kv_bytes_per_token":10,"memory":{"weights":200}}})";

std::optional<viz::WholeMemory> whole_memory_at(const viz::Scene& scene) {
  return viz::whole_memory(scene, viz::together_kv(scene));
}

// Step 1 drafts one node; its forward has 3 rows. Its two slots beside the prompt's one are freed.
std::unique_ptr<OpenedCapture> run_with(const std::string& model, bool with_slots = true) {
  return make_capture([&](Recorder& out) {
    RunInfo info = synthetic_info(1, "eagle2", "EAGLE-2", "recycle");
    info.model_json = model;
    info.kv_bytes_per_token = 100;
    out.write({.run = info, .nodes = {{.node = 0}}});
    const auto slot = [&](Tick tick, SlotAction action, std::int32_t at, std::int32_t node,
                          Whose whose) {
      if (!with_slots) return;
      out.write(
          {.slots = {{.tick = tick, .action = action, .slot = at, .node = node, .whose = whose}}});
    };
    const auto close = [&](std::int32_t step, std::int32_t rows, std::int32_t live) {
      for (int p = 0; p < 5; ++p)
        out.write(
            {.phases = {{.tick = make_tick(step, static_cast<Phase>(p)), .duration_us = 10}}});
      out.write({.steps = {{.step = step, .forward_rows = rows, .emitted = 1, .frontier = 1}},
                 .memory = {{.step = step, .live = live, .reserved = 8, .greedy = live}}});
    };
    slot(make_tick(0, Phase::kForward), SlotAction::kAlloc, 0, -2, Whose::kTarget);
    close(0, 9, 1);
    out.write({.nodes = {{.node = 1, .parent = 0, .token = 5, .depth = 1},
                         {.node = 2, .parent = 1, .token = 6, .depth = 2}}});
    slot(make_tick(1, Phase::kDraft), SlotAction::kAlloc, 0, 1, Whose::kHead);
    slot(make_tick(1, Phase::kForward), SlotAction::kAlloc, 1, 1, Whose::kTarget);
    slot(make_tick(1, Phase::kForward), SlotAction::kAlloc, 2, 2, Whose::kTarget);
    slot(make_tick(1, Phase::kCommit), SlotAction::kFree, 2, 2, Whose::kTarget);
    close(1, 3, 2);
    out.write({.finish = Finish{}});
  });
}

TEST_CASE("whole memory: weights, KV of both caches at their highest, logits, activations") {
  const auto opened = run_with(kModel);
  const auto whole = whole_memory_at(scene_at(*opened->capture, opened->capture->end_tick()));
  REQUIRE(whole);
  CHECK(whole->weights == 1000);
  CHECK(whole->draft_weights == 200);
  CHECK(whole->kv == 300);
  CHECK(whole->draft_kv == 10);
  CHECK(whole->scratch == 50);
  CHECK(whole->logit_rows == 3);
  CHECK(whole->logits == 1200);
  CHECK(whole->total() == 2760);
  CHECK(whole->tick == make_tick(1, Phase::kForward));
  CHECK(viz::whole_memory_text(*whole) ==
        "whole: about 2.76 KB (step 1): weights 1.00 KB + 200 B, KV 300 B + 10 B, logits 1.20 KB, "
        "activations 50 B");
  // The cursor has seen the prefill alone.
  const auto before = whole_memory_at(scene_at(*opened->capture, make_tick(1, Phase::kDraft)));
  CHECK(before->kv == 100);
  CHECK(before->logits == 0);
  // Without slots the ends of steps count: two tokens of the target after step 1.
  const auto ends = run_with(kModel, false);
  const auto whole_at_ends = whole_memory_at(scene_at(*ends->capture, ends->capture->end_tick()));
  CHECK(whole_at_ends->kv == 200);
  CHECK(whole_at_ends->tick == make_tick(1, Phase::kCommit));
  for (const char* silent : {"", "{}", R"({"memory":5})", R"({"memory":{"weights":"?"}})"})
    CHECK_FALSE(whole_memory_at(scene_at(*run_with(silent)->capture, 10)));
}

TEST_CASE("whole memory: the memory panel tells it, and a click goes to its step") {
  const auto opened = run_with(kModel);
  const auto panel = viz::make_panel("memory");
  const viz::Scene scene = scene_at(*opened->capture, opened->capture->end_tick());
  constexpr viz::Rect kArea{0, 0, 900, 500};
  const RecordingCanvas canvas = drawn(*panel, scene, kArea);
  const RecordingCanvas::Text* line = nullptr;
  for (const auto& one : canvas.texts)
    if (one.text.starts_with("whole: about 2.76 KB")) line = &one;
  REQUIRE(line);
  viz::Input in = mouse_over(*line);
  in.clicked = true;
  const viz::Reaction reaction = panel->input(in, kArea, scene);
  CHECK(reaction.cursor == make_tick(1, Phase::kForward) + 1);
  REQUIRE(reaction.tooltip.size() == 7);
  CHECK(reaction.tooltip[4] == "logits of 3 rows, the most in a forward: 1.20 KB");
  CHECK(reaction.tooltip[6] == "click: to step 1, after forward, where KV held most");
}

}  // namespace
}  // namespace triescope::test::test_whole_memory
