// The ends of what each column may hold, and the memory that a row takes.
#include <doctest/doctest.h>

#include "core/capture/capture.h"
#include "core/capture/row_types.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

TEST_CASE("row types: the first and the last value of every code are read back") {
  TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  const Tick accept = make_tick(0, Phase::kAccept);
  {
    const auto recorder = open_recorder(path);
    recorder->write({.run = sample_info()});
    recorder->write(
        {.nodes = {{}, {.node = 1, .parent = 0, .token = 0, .depth = 1, .source = Source::kForced}},
         .inputs = {{.node = -4, .slot = -1}},
         .stages = {{.tick = 1, .node = 0, .stage = Stage::kProcessors, .at = 0},
                    {.tick = 1, .node = 0, .stage = Stage::kDrawn, .at = 0}},
         .verdicts = {{.tick = accept, .node = 0, .reason = Reason::kNone},
                      {.tick = accept,
                       .node = 1,
                       .verdict = Verdict::kWithdrawn,
                       .reason = Reason::kDraftOutdone}},
         .slots = {{.tick = 3, .action = SlotAction::kMove, .slot = 0, .node = 1, .from_slot = 1}},
         .log = {{.tick = 9, .level = 0, .text = "debug"}, {.tick = 4, .level = 3, .text = "bad"}},
         .phases = {{.tick = 4}}});
    recorder->write({.finish = Finish{RunStatus::kFailed, "why"}});
  }
  const auto c = Capture::open(path);
  CHECK(c->nodes()[0].source == Source::kRoot);
  CHECK(c->nodes()[1].source == Source::kForced);
  CHECK(c->inputs(0)[0].slot == -1);
  CHECK(c->inputs(0)[0].node == -4);
  REQUIRE(c->stages(0, 0, 5).size() == 2);
  CHECK(c->stages(0, 0, 5)[0].stage == Stage::kProcessors);
  CHECK(c->stages(0, 0, 5)[1].stage == Stage::kDrawn);
  CHECK(c->verdicts(0)[0].verdict == Verdict::kNone);
  CHECK(c->verdicts(0)[0].rank == -1);
  CHECK(c->verdicts(0)[1].verdict == Verdict::kWithdrawn);
  CHECK(c->verdicts(0)[1].reason == Reason::kDraftOutdone);
  CHECK(c->slot_events(0)[0].action == SlotAction::kMove);
  CHECK(c->slot_events(0)[0].from_slot == 1);
  // The log is told in the order it was written in, whatever its ticks.
  REQUIRE(c->log().size() == 2);
  CHECK(c->log()[0].level == 0);
  CHECK(c->log()[1].level == 3);
  CHECK(c->log()[1].tick == 4);
  CHECK(c->status() == RunStatus::kFailed);
  CHECK(c->status_message() == "why");
}

TEST_CASE("row types: a row takes its struct and what its texts and lists hold") {
  CHECK(size_of(StepRow{}) == sizeof(StepRow));
  CHECK(size_of(PieceRow{1, "abc"}) == sizeof(PieceRow) + 3);
  CHECK(size_of(SequenceRow{.finish = "eos", .tokens = {1, 2, 3}}) == sizeof(SequenceRow) + 3 + 12);
}

}  // namespace
}  // namespace triescope::test
