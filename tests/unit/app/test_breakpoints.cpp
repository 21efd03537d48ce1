#include <doctest/doctest.h>

#include <string>

#include "app/run/breakpoints.h"

namespace triescope::app {
namespace {

capture::VerdictRow verdict(std::int32_t node, capture::Verdict kind) {
  capture::VerdictRow row;
  row.node = node;
  row.verdict = kind;
  return row;
}

struct Fixture {
  capture::NullRecorder inner;
  BreakRecorder recorder{inner};
};

TEST_CASE_FIXTURE(Fixture,
                  "a rejected draft stops a run that waits for one, and nothing else does") {
  recorder.set_breakpoints({{BreakKind::kRejection, 0, true}});
  const capture::VerdictRow accepted = verdict(3, capture::Verdict::kAccepted);
  recorder.write({.verdicts = {accepted}});
  CHECK(recorder.take_hit().empty());
  const capture::VerdictRow rejected = verdict(4, capture::Verdict::kRejected);
  recorder.write({.verdicts = {rejected}});
  CHECK(recorder.take_hit().find("node 4") != std::string::npos);
  CHECK(recorder.take_hit().empty());  // taken once
}

TEST_CASE_FIXTURE(Fixture,
                  "what stopped a run says why, with tokens as texts where they are known") {
  recorder.set_breakpoints({{BreakKind::kRejection, 0, true}});
  capture::VerdictRow row = verdict(4, capture::Verdict::kRejected);
  row.reason = capture::Reason::kNotArgmax;
  row.replacement = 5;
  row.p = 0.25f;
  row.value = 0.5f;
  row.rank = 1;
  recorder.write({.pieces = {{5, " the"}}, .verdicts = {row}});
  CHECK(recorder.take_hit() ==
        "a draft is rejected: node 4, argmax is '·the' (p 0.50), this has p 0.25, rank 2");
  row.replacement = 6;
  recorder.write({.verdicts = {row}});
  CHECK(recorder.take_hit().find("argmax is token 6 (p 0.50)") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a withdrawn draft and a draft model's cache stop nothing") {
  recorder.set_breakpoints({{BreakKind::kRejection, 0, true},
                            {BreakKind::kPrune, 0, true},
                            {BreakKind::kMove, 0, true},
                            {BreakKind::kLiveAbove, 10, true}});
  recorder.write({.verdicts = {verdict(4, capture::Verdict::kWithdrawn)},
                  .slots = {{.action = capture::SlotAction::kMove,
                             .slot = 1,
                             .from_slot = 2,
                             .whose = capture::Whose::kDraft}},
                  .memory = {{.live = 11, .whose = capture::Whose::kDraft}}});
  CHECK(recorder.take_hit().empty());
}

TEST_CASE_FIXTURE(Fixture, "a disabled breakpoint is never hit") {
  recorder.set_breakpoints({{BreakKind::kRejection, 0, false}});
  const capture::VerdictRow rejected = verdict(4, capture::Verdict::kRejected);
  recorder.write({.verdicts = {rejected}});
  CHECK(recorder.take_hit().empty());
}

TEST_CASE_FIXTURE(Fixture, "accepted-below looks at drafting steps alone") {
  recorder.set_breakpoints({{BreakKind::kAcceptedBelow, 2, true}});
  capture::StepRow row;
  row.step = 1;
  row.accepted = 0;
  recorder.write({.steps = {row}});  // nothing was drafted
  CHECK(recorder.take_hit().empty());
  row.drafted = 5;
  row.accepted = 2;
  recorder.write({.steps = {row}});
  CHECK(recorder.take_hit().empty());
  row.accepted = 1;
  recorder.write({.steps = {row}});
  CHECK(recorder.take_hit().find("accepted 1") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "the token breakpoint knows a node's token from when it was hung") {
  recorder.set_breakpoints({{BreakKind::kToken, 42, true}});
  capture::NodeRow nodes[2];
  nodes[0].node = 7;
  nodes[0].token = 41;
  nodes[1].node = 8;
  nodes[1].token = 42;
  recorder.write({.nodes = {nodes[0], nodes[1]}});
  const capture::VerdictRow other = verdict(7, capture::Verdict::kKept);
  recorder.write({.verdicts = {other}});
  CHECK(recorder.take_hit().empty());
  const capture::VerdictRow wanted = verdict(8, capture::Verdict::kKept);
  recorder.write({.verdicts = {wanted}});
  CHECK_FALSE(recorder.take_hit().empty());
}

TEST_CASE_FIXTURE(Fixture, "moves of KV and live tokens above a bound are hit") {
  recorder.set_breakpoints({{BreakKind::kMove, 0, true}, {BreakKind::kLiveAbove, 10, true}});
  capture::SlotRow slot;
  slot.action = capture::SlotAction::kFree;
  recorder.write({.slots = {slot}});
  CHECK(recorder.take_hit().empty());
  slot.action = capture::SlotAction::kMove;
  recorder.write({.slots = {slot}});
  CHECK_FALSE(recorder.take_hit().empty());
  capture::MemoryRow memory;
  memory.live = 10;
  recorder.write({.memory = {memory}});
  CHECK(recorder.take_hit().empty());
  memory.live = 11;
  recorder.write({.memory = {memory}});
  CHECK_FALSE(recorder.take_hit().empty());
}

TEST_CASE_FIXTURE(Fixture,
                  "pruned, finished and step each stop at their own event, and say which") {
  const auto hit = [&](capture::Verdict kind) {
    const capture::VerdictRow row = verdict(5, kind);
    recorder.write({.verdicts = {row}});
    return recorder.take_hit();
  };
  recorder.set_breakpoints({{BreakKind::kPrune, 0, true}});
  for (const auto kind :
       {capture::Verdict::kAccepted, capture::Verdict::kRejected, capture::Verdict::kKept,
        capture::Verdict::kFinished, capture::Verdict::kBonus, capture::Verdict::kEmitted})
    CHECK(hit(kind).empty());
  CHECK(hit(capture::Verdict::kPruned) == "a beam is pruned: node 5");
  recorder.set_breakpoints({{BreakKind::kFinished, 0, true}});
  CHECK(hit(capture::Verdict::kPruned).empty());
  CHECK(hit(capture::Verdict::kFinished) == "a sequence finishes: node 5");

  recorder.set_breakpoints({{BreakKind::kStep, 3, true}});
  capture::StepRow row;
  for (row.step = 0; row.step < 6; ++row.step) {
    recorder.write({.steps = {row}});
    CHECK(recorder.take_hit() == (row.step == 3 ? "step = 3: done" : ""));
  }
}

TEST_CASE_FIXTURE(Fixture, "a token that is rejected, or of a node not seen, is not decided upon") {
  recorder.set_breakpoints({{BreakKind::kToken, -1, true}, {BreakKind::kToken, 42, true}});
  capture::NodeRow node;
  node.node = 2;
  node.token = 42;
  recorder.write({.nodes = {node}});
  for (const std::int32_t seen : {2, 3, -3}) {
    const capture::VerdictRow rejected = verdict(seen, capture::Verdict::kRejected);
    recorder.write({.verdicts = {rejected}});
    CHECK(recorder.take_hit().empty());
  }
  for (const std::int32_t unseen : {3, -3}) {
    const capture::VerdictRow kept = verdict(unseen, capture::Verdict::kKept);
    recorder.write({.verdicts = {kept}});
    CHECK(recorder.take_hit().empty());
  }
  const capture::VerdictRow kept = verdict(2, capture::Verdict::kKept);
  recorder.write({.verdicts = {kept}});
  CHECK(recorder.take_hit() == "token id = 42: node 2");
}

TEST_CASE_FIXTURE(Fixture, "of several breakpoints that are met in a phase, the first is told") {
  recorder.set_breakpoints({{BreakKind::kFinished, 0, true}, {BreakKind::kRejection, 0, true}});
  recorder.write({.verdicts = {verdict(4, capture::Verdict::kRejected),
                               verdict(6, capture::Verdict::kFinished)}});
  CHECK(recorder.take_hit() == "a draft is rejected: node 4");
  CHECK(recorder.take_hit().empty());
}

TEST_CASE("a breakpoint is described with its number where it has one") {
  CHECK(describe({BreakKind::kAcceptedBelow, 3, true}) == "accepted drafts < 3");
  CHECK(describe({BreakKind::kLiveAbove, 900, true}) == "live KV tokens > 900");
  CHECK(describe({BreakKind::kMove, 3, true}) == "KV is moved (garbage collection)");
  for (const BreakKind kind : all_break_kinds())
    CHECK(needs_threshold(kind) == (kind == BreakKind::kAcceptedBelow ||
                                    kind == BreakKind::kLiveAbove || kind == BreakKind::kToken ||
                                    kind == BreakKind::kStep));
}

TEST_CASE("every breakpoint kind has a script name that leads back to it") {
  for (const BreakKind kind : all_break_kinds()) {
    BreakKind back = BreakKind::kStep;
    CHECK(break_kind_from_name(script_name(kind), back));
    CHECK(back == kind);
  }
  BreakKind none;
  CHECK_FALSE(break_kind_from_name("no such kind", none));
}

}  // namespace
}  // namespace triescope::app
