// Rows of a target, a draft model and a draft head in one capture.
#include <doctest/doctest.h>

#include "core/capture/capture.h"
#include "core/capture/row_types.h"
#include "core/capture/writer.h"
#include "tests/support/paths.h"
#include "tests/unit/capture/sample_run.h"

namespace triescope::test {
namespace {

constexpr Tick kDraft1 = make_tick(1, Phase::kDraft), kForward1 = make_tick(1, Phase::kForward),
               kAccept1 = make_tick(1, Phase::kAccept), kCommit1 = make_tick(1, Phase::kCommit),
               kDraft2 = make_tick(2, Phase::kDraft);

// Step 0: prefill of target and draft. Step 1: the draft runs three forwards (over the prompt's
// last token, then over nodes 1 and 2), the head one; the target verifies both drafts in one.
std::unique_ptr<Capture> mixed(const TempDir& dir) {
  const std::string path = dir.path() / "mixed.tscap";
  const auto recorder = open_recorder(path);
  recorder->write({.run = sample_info()});
  recorder->write({.nodes = {{}},
                   .inputs = {{.node = -2, .slot = 0},
                              {.row = 1, .node = -3, .position = 1, .slot = 1},
                              {.node = -2, .slot = 7, .whose = Whose::kDraft}},
                   .slots = {{.tick = 1, .slot = 0, .node = -2},
                             {.tick = 1, .slot = 1, .node = -3},
                             {.tick = 1, .slot = 7, .node = -2, .whose = Whose::kDraft}},
                   .memory = {{.step = 0, .live = 3, .reserved = 8},
                              {.step = 0, .live = 1, .reserved = 16, .whose = Whose::kDraft}}});
  recorder->write(
      {.nodes = {{.node = 1, .parent = 0, .token = 5, .depth = 1, .tick = kDraft1},
                 {.node = 2, .parent = 1, .token = 6, .depth = 2, .tick = kDraft1},
                 {.node = 3, .parent = 1, .token = 8, .depth = 2, .tick = kDraft1}},
       .inputs =
           {{.step = 1, .node = -4, .position = 2, .slot = 8, .whose = Whose::kDraft},
            {.step = 1, .node = 1, .position = 3, .slot = 9, .whose = Whose::kDraft, .forward = 1},
            {.step = 1,
             .row = 0,
             .node = 2,
             .position = 4,
             .slot = 10,
             .whose = Whose::kDraft,
             .forward = 2},
            {.step = 1,
             .row = 1,
             .node = 3,
             .position = 4,
             .slot = 11,
             .whose = Whose::kDraft,
             .forward = 2},
            {.step = 1, .node = 1, .position = 3, .slot = -1, .whose = Whose::kHead}},
       .candidates = {{.tick = kDraft1,
                       .node = 1,
                       .rank = 0,
                       .token = 6,
                       .logprob = -0.25f,
                       .whose = Whose::kDraft},
                      {.tick = kDraft1,
                       .node = 1,
                       .rank = 1,
                       .token = 8,
                       .logprob = -1.5f,
                       .whose = Whose::kDraft},
                      {.tick = kDraft1,
                       .node = 1,
                       .rank = 0,
                       .token = 9,
                       .logprob = -3,
                       .whose = Whose::kHead}},
       .slots = {{.tick = kDraft1, .slot = 9, .node = 1, .whose = Whose::kDraft},
                 {.tick = kDraft1, .slot = 10, .node = 2, .whose = Whose::kDraft},
                 {.tick = kDraft1, .slot = 11, .node = 3, .whose = Whose::kDraft}}});
  recorder->write({.inputs = {{.step = 1, .node = 1, .position = 3, .slot = 2},
                              {.step = 1, .row = 1, .node = 2, .position = 4, .slot = 3}},
                   .slots = {{.tick = kForward1, .slot = 2, .node = 1},
                             {.tick = kForward1, .slot = 3, .node = 2}}});
  recorder->write(
      {.candidates =
           {{.tick = kAccept1, .node = 1, .rank = 0, .token = 6, .logprob = -0.5f, .chosen = true}},
       .verdicts = {{.tick = kAccept1, .node = 1, .verdict = Verdict::kAccepted},
                    {.tick = kAccept1, .node = 2, .verdict = Verdict::kAccepted},
                    {.tick = kAccept1, .node = 3, .verdict = Verdict::kWithdrawn}},
       .frontier = {{.step = 1, .node = 2}}});
  recorder->write({.slots = {{.tick = kCommit1,
                              .action = SlotAction::kFree,
                              .slot = 11,
                              .node = 3,
                              .whose = Whose::kDraft}},
                   .memory = {{.step = 1, .live = 5, .reserved = 8},
                              {.step = 1, .live = 4, .reserved = 16, .whose = Whose::kDraft}}});
  for (Tick tick = 0; tick <= kDraft2; ++tick) recorder->write({.phases = {{.tick = tick}}});
  recorder->write({.finish = Finish{}});
  return Capture::open(path);
}

TEST_CASE("owners: each is asked for its own inputs, forward by forward") {
  const TempDir dir;
  const auto c = mixed(dir);
  CHECK(c->owners() == std::vector<Whose>{Whose::kTarget, Whose::kDraft, Whose::kHead});
  const auto forwards = [&](Whose whose) {
    const auto found = c->forwards(whose);
    return std::vector<ForwardId>(found.begin(), found.end());
  };
  CHECK(forwards(Whose::kTarget) == std::vector<ForwardId>{{0, 0}, {1, 0}});
  CHECK(forwards(Whose::kDraft) == std::vector<ForwardId>{{0, 0}, {1, 0}, {1, 1}, {1, 2}});
  CHECK(forwards(Whose::kHead) == std::vector<ForwardId>{{1, 0}});

  CHECK(c->inputs(0).size() == 2);
  CHECK(c->inputs(1).size() == 2);
  CHECK(c->inputs(1)[1].slot == 3);
  CHECK(c->inputs(0, Whose::kDraft).size() == 1);
  CHECK(c->inputs(1, Whose::kDraft).size() == 4);
  CHECK(c->inputs(1, Whose::kHead).size() == 1);
  const auto last = c->inputs(ForwardId{1, 2}, Whose::kDraft);
  REQUIRE(last.size() == 2);
  CHECK(last[0].node == 2);
  CHECK(last[1].node == 3);
  CHECK(last[1].whose == Whose::kDraft);
  CHECK(c->inputs(ForwardId{1, 0}, Whose::kDraft)[0].node == -4);
  CHECK(c->inputs(ForwardId{1, 3}, Whose::kDraft).empty());
  CHECK(c->inputs(ForwardId{1, 1}, Whose::kTarget).empty());
}

TEST_CASE("owners: a cache's figures alone make one, as they are all that the lowest level keeps") {
  const TempDir dir;
  const std::string path = dir.path() / "run.tscap";
  {
    const auto recorder = open_recorder(path, {.level = Level::kSteps});
    recorder->write({.run = sample_info(),
                     .memory = {{.step = 0, .live = 3}, {.step = 0, .whose = Whose::kHead}},
                     .finish = Finish{}});
  }
  CHECK(Capture::open(path)->owners() == std::vector<Whose>{Whose::kTarget, Whose::kHead});
}

TEST_CASE("owners: candidates of one node, by the target, the draft and the head") {
  const TempDir dir;
  const auto c = mixed(dir);
  CHECK(c->candidates(1, kAccept1).empty());
  REQUIRE(c->candidates(1, kAccept1 + 1).size() == 1);
  CHECK(c->candidates(1, kAccept1 + 1)[0].logprob == -0.5f);
  REQUIRE(c->candidates(1, kDraft1 + 1, Whose::kDraft).size() == 2);
  CHECK(c->candidates(1, kDraft1 + 1, Whose::kDraft)[1].token == 8);
  CHECK(c->candidates(1, kDraft1, Whose::kDraft).empty());
  REQUIRE(c->candidates(1, kDraft1 + 1, Whose::kHead).size() == 1);
  CHECK(c->candidates(1, kDraft1 + 1, Whose::kHead)[0].token == 9);
  CHECK(c->candidates(2, kDraft2, Whose::kDraft).empty());
  CHECK(c->candidates(99, kDraft2, Whose::kDraft).empty());
  CHECK(c->counts().candidates == 4);
}

TEST_CASE("owners: each cache has slots, occupants and figures of its own") {
  const TempDir dir;
  const auto c = mixed(dir);
  CHECK(c->slot_of(1, kDraft2) == 2);
  CHECK(c->slot_of(1, kDraft2, Whose::kDraft) == 9);
  CHECK(c->slot_of(1, kDraft2, Whose::kHead) == -1);
  CHECK(c->node_at(1, kDraft2).slot == 2);
  CHECK(c->slot_of(-2, kDraft2) == 0);
  CHECK(c->slot_of(-2, kDraft2, Whose::kDraft) == 7);
  CHECK(c->slot_count_at(kDraft2) == 4);
  CHECK(c->slot_count_at(kDraft2, Whose::kDraft) == 12);
  CHECK(c->slot_count_at(kDraft1, Whose::kDraft) == 8);
  CHECK(c->slot_at(10, kForward1, Whose::kDraft).node == 2);
  CHECK(c->slot_at(10, kForward1).state == SlotState::kFree);
  CHECK(c->slot_at(11, kCommit1, Whose::kDraft).state == SlotState::kLive);
  CHECK(c->slot_at(11, kCommit1 + 1, Whose::kDraft).state == SlotState::kFree);
  CHECK(c->slot_events(1).size() == 2);
  CHECK(c->slot_events(1, Whose::kDraft).size() == 4);
  REQUIRE(c->memory().size() == 2);
  CHECK(c->memory()[1].live == 5);
  REQUIRE(c->memory(Whose::kDraft).size() == 2);
  CHECK(c->memory(Whose::kDraft)[1].live == 4);
  CHECK(c->memory(Whose::kDraft)[0].reserved == 16);
  CHECK(c->memory(Whose::kHead).empty());
  CHECK(c->counts().slots == 9);
}

TEST_CASE("owners: the target's sliding window is not the draft's") {
  const TempDir dir;
  const auto c = mixed(dir);  // window of 8
  InputRow far{.node = 2, .position = 9};
  CHECK_FALSE(c->visible(far, -2));
  far.whose = Whose::kDraft;
  CHECK(c->visible(far, -2));
  CHECK_FALSE(c->visible(far, 3));
}

TEST_CASE("state: a withdrawn draft is withdrawn, whatever lives beside it") {
  const TempDir dir;
  const auto c = mixed(dir);
  CHECK(c->state_at(3, kAccept1) == NodeState::kPending);
  CHECK(c->state_at(3, kAccept1 + 1) == NodeState::kWithdrawn);
  CHECK(c->state_at(2, kAccept1 + 1) == NodeState::kAccepted);
  CHECK(std::string(to_string(NodeState::kWithdrawn)) == "withdrawn");
  CHECK(std::string(to_string(Verdict::kWithdrawn)) == "withdrawn");
  CHECK(is_dead(NodeState::kWithdrawn));
  CHECK_FALSE(is_dead(NodeState::kPending));
}

TEST_CASE("owners: a slice keeps every owner's rows") {
  const TempDir dir;
  const std::string part = dir.path() / "part.tscap";
  const auto c = mixed(dir);
  save_slice(c->path(), part, 1, 1);
  const auto slice = Capture::open(part);
  CHECK(slice->inputs(0, Whose::kDraft).empty());
  CHECK(slice->inputs(1, Whose::kDraft).size() == 4);
  CHECK(slice->slot_of(-2, kDraft2, Whose::kDraft) == 7);  // from before the slice
  CHECK(slice->memory(Whose::kDraft).size() == 1);
  CHECK(slice->owners().size() == 3);
}

}  // namespace
}  // namespace triescope::test
