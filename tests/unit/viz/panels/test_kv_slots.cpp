// The KV slots at a cursor, counted, and as a table.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/viz/captures.h"
#include "viz/panels/kv_slots.h"

namespace triescope::viz::test_kv_slots {
namespace {

using capture::SlotState;

TEST_CASE("kv slots: every used slot is counted once, by its state; the reserved ones come last") {
  for (const capture::Capture* run : {&test::beam_capture(), &test::draft_capture()})
    for (capture::Tick tick = 0; tick <= run->end_tick(); tick += 3) {
      CAPTURE(tick);
      const KvSlots slots = slots_at(RowSource{}, *run, tick);
      REQUIRE(slots.used == run->slot_count_at(tick));
      CHECK(slots.live + slots.garbage + slots.free == slots.used);
      CHECK(slots.others.size() ==
            static_cast<std::size_t>(slots.used - slots.prompt + slots.reserved));
      int live = 0, moved = 0, reused = 0, prompt = 0;
      for (std::int32_t slot = 0; slot < slots.used; ++slot) {
        const capture::SlotView view = run->slot_at(slot, tick);
        live += view.state == SlotState::kLive;
        moved += view.moved_this_step;
        reused += view.reused_this_step;
        prompt += view.node <= -2;
      }
      CHECK(slots.live == live);
      CHECK(slots.moved == moved);
      CHECK(slots.reused == reused);
      CHECK(slots.prompt == prompt);
      for (std::size_t i = 1; i < slots.others.size(); ++i)
        CHECK(slots.others[i - 1] < slots.others[i]);
      // The reserved slots come from the last commit before the cursor.
      std::int32_t reserved = 0;
      for (const capture::MemoryRow& row : run->memory())
        if (capture::make_tick(row.step, capture::Phase::kCommit) < tick) reserved = row.reserved;
      CHECK(slots.reserved == std::max(0, reserved - slots.used));
    }
}

TEST_CASE("kv slots: the masks' prefix is reserved, but no slot that was never used") {
  using capture::Phase;
  const auto slots_of = [](const std::string& model) {
    const auto opened = test::make_capture([&](capture::Recorder& out) {
      capture::RunInfo info = test::synthetic_info(2, "space", "SPACE", "recycle");
      info.model_json = model;
      out.write({.run = info});
      out.write({.nodes = {{.node = 0}}});
      for (const Phase phase :
           {Phase::kDraft, Phase::kForward, Phase::kAccept, Phase::kCommit, Phase::kObserve}) {
        const capture::Tick tick = capture::make_tick(0, phase);
        if (phase == Phase::kForward)
          for (std::int32_t i = 0; i < 2; ++i)
            out.write({.slots = {{.tick = tick, .slot = i, .node = -2 - i}}});
        if (phase == Phase::kCommit) out.write({.memory = {{.live = 2, .reserved = 10}}});
        out.write({.phases = {{.tick = tick, .duration_us = 1}}});
      }
    });
    return slots_at(RowSource{}, *opened->capture, opened->capture->end_tick());
  };
  for (const auto& [said, prefix] : {std::pair{R"({"draft":{"prefix_slots":4}})", 4},
                                     {R"({"draft":{"prefix_slots":-4}})", 0},
                                     {R"({"draft":{"prefix_slots":10}})", 10},
                                     {R"({"draft":{"prefix_slots":99999999999}})", 10},
                                     {R"({"draft":{}})", 0}}) {
    CAPTURE(said);
    const KvSlots slots = slots_of(said);
    CHECK(slots.used == 2);
    CHECK(slots.mask_prefix == prefix);
    CHECK(slots.reserved == std::max(0, 8 - prefix));
    CHECK(slots.others.size() == static_cast<std::size_t>(slots.reserved));
  }
}

TEST_CASE("kv slots: the table names a slot's node, prompt tokens by their index") {
  const capture::Capture& run = test::beam_capture();
  Scene scene;
  scene.capture = &run;
  scene.cursor = run.end_tick();
  const std::string csv = kv_csv(RowSource{}, scene);
  CHECK(csv.rfind("slot,state,node,moved_from,reused\n0,live,prompt 0,,0\n1,live,prompt 1,,0\n",
                  0) == 0);
  std::string expected = "slot,state,node,moved_from,reused\n";
  for (std::int32_t slot = 0; slot < run.slot_count_at(scene.cursor); ++slot) {
    const capture::SlotView view = run.slot_at(slot, scene.cursor);
    const char* state = view.state == SlotState::kFree   ? "free"
                        : view.state == SlotState::kLive ? "live"
                                                         : "garbage";
    const std::string node = view.node == -1   ? ""
                             : view.node <= -2 ? "prompt " + std::to_string(-2 - view.node)
                                               : std::to_string(view.node);
    expected += std::to_string(slot) + "," + state + "," + node + "," +
                (view.moved_this_step ? std::to_string(view.moved_from) : "") + "," +
                (view.reused_this_step ? "1" : "0") + "\n";
  }
  CHECK(csv == expected);
  scene.capture = nullptr;
  CHECK(kv_csv(RowSource{}, scene) == "slot,state,node,moved_from,reused\n");
}

}  // namespace
}  // namespace triescope::viz::test_kv_slots
