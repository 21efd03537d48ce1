#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "app/session/breakpoints.h"
#include "core/base/error.h"
#include "viz/query/row_entropy.h"

namespace triescope::app::test_breakpoints {
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

TEST_CASE_FIXTURE(
    Fixture,
    "breakpoints: a rejected draft stops a run that waits for one, and nothing else does") {
  recorder.set_breakpoints({{BreakKind::kRejection, 0, true}});
  const capture::VerdictRow accepted = verdict(3, capture::Verdict::kAccepted);
  recorder.write({.verdicts = {accepted}});
  CHECK(recorder.take_hit().empty());
  const capture::VerdictRow rejected = verdict(4, capture::Verdict::kRejected);
  recorder.write({.verdicts = {rejected}});
  CHECK(recorder.take_hit().text.find("node 4") != std::string::npos);
  CHECK(recorder.take_hit().empty());  // a hit is taken once
}

TEST_CASE_FIXTURE(
    Fixture,
    "breakpoints: what stopped a run says why, with tokens as texts where they are known") {
  recorder.set_breakpoints({{BreakKind::kRejection, 0, true}});
  capture::VerdictRow row = verdict(4, capture::Verdict::kRejected);
  row.reason = capture::Reason::kNotArgmax;
  row.replacement = 5;
  row.p = 0.25f;
  row.value = 0.5f;
  row.rank = 1;
  recorder.write({.pieces = {{5, " the"}}, .verdicts = {row}});
  CHECK(recorder.take_hit().text ==
        "a draft is rejected: node 4, argmax is '·the' (p 0.50), this has p 0.25, rank 2");
  row.replacement = 6;
  recorder.write({.verdicts = {row}});
  CHECK(recorder.take_hit().text.find("argmax is token 6 (p 0.50)") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture,
                  "breakpoints: a withdrawn draft and a draft model's cache stop nothing") {
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

TEST_CASE_FIXTURE(Fixture, "breakpoints: a disabled breakpoint is never hit") {
  recorder.set_breakpoints({{BreakKind::kRejection, 0, false}});
  const capture::VerdictRow rejected = verdict(4, capture::Verdict::kRejected);
  recorder.write({.verdicts = {rejected}});
  CHECK(recorder.take_hit().empty());
}

TEST_CASE_FIXTURE(Fixture, "breakpoints: accepted-below looks at drafting steps alone") {
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
  CHECK(recorder.take_hit().text.find("accepted 1") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture,
                  "breakpoints: the token breakpoint knows a node's token from when it was hung") {
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

TEST_CASE_FIXTURE(Fixture, "breakpoints: moves of KV and live tokens above a bound are hit") {
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

TEST_CASE_FIXTURE(
    Fixture, "breakpoints: pruned, finished and step each stop at their own event, and say which") {
  const auto hit = [&](capture::Verdict kind) {
    const capture::VerdictRow row = verdict(5, kind);
    recorder.write({.verdicts = {row}});
    return recorder.take_hit().text;
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
    CHECK(recorder.take_hit().text == (row.step == 3 ? "step = 3: done" : ""));
  }
}

TEST_CASE_FIXTURE(
    Fixture, "breakpoints: a token that is rejected, or of a node not seen, is not decided upon") {
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
  CHECK(recorder.take_hit().text == "token id = 42: node 2");
}

TEST_CASE_FIXTURE(
    Fixture, "breakpoints: of several breakpoints that are met in a phase, the first is told") {
  recorder.set_breakpoints({{BreakKind::kFinished, 0, true}, {BreakKind::kRejection, 0, true}});
  recorder.write({.verdicts = {verdict(4, capture::Verdict::kRejected),
                               verdict(6, capture::Verdict::kFinished)}});
  CHECK(recorder.take_hit().text == "a draft is rejected: node 4");
  CHECK(recorder.take_hit().empty());
}

TEST_CASE("breakpoints: a breakpoint is described with its number where it has one") {
  CHECK(describe({BreakKind::kAcceptedBelow, 3, true}) == "accepted drafts < 3");
  CHECK(describe({BreakKind::kLiveAbove, 900, true}) == "live KV tokens > 900");
  CHECK(describe({BreakKind::kMove, 3, true}) == "KV is moved (garbage collection)");
  for (const BreakKind kind : all_break_kinds())
    CHECK(needs_threshold(kind) == (kind == BreakKind::kAcceptedBelow ||
                                    kind == BreakKind::kLiveAbove || kind == BreakKind::kToken ||
                                    kind == BreakKind::kStep || kind == BreakKind::kEntropyAbove));
  CHECK(describe({BreakKind::kEntropyAbove, 2.5, true}) == "entropy > 2.5 nats");
  CHECK(describe({BreakKind::kText, 0, true, "cap"}) == "a token's text holds 'cap'");
  CHECK(describe({BreakKind::kPattern, 0, true, "^x"}) == "a token's text matches '^x'");
  CHECK(describe({BreakKind::kWhere, 0, true, "p > 1"}) == "a step where 'p > 1'");
  for (const BreakKind kind : all_break_kinds()) {
    CHECK(needs_text(kind) ==
          (kind == BreakKind::kText || kind == BreakKind::kPattern || kind == BreakKind::kWhere));
    CHECK_NOTHROW(check_breakpoint(new_breakpoint(kind)));
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "breakpoints: a token's text is looked for as it is and as panels show it") {
  const auto hit = [&](const char* text) {
    recorder.set_breakpoints({{BreakKind::kText, 0, true, text}});
    recorder.write({.verdicts = {verdict(1, capture::Verdict::kEmitted)}});
    return recorder.take_hit();
  };
  recorder.write({.pieces = {{5, " capital"}}, .nodes = {{.node = 1, .token = 5}}});
  CHECK(hit("pit").text == "a token's text holds 'pit': node 1 '·capital'");
  CHECK(hit(" cap").node == 1);
  CHECK(hit("·cap").node == 1);
  CHECK(hit("Cap").empty());
  CHECK(hit("capitals").empty());
  recorder.write({.verdicts = {verdict(1, capture::Verdict::kRejected)}});
  CHECK(recorder.take_hit().empty());
}

TEST_CASE_FIXTURE(Fixture, "breakpoints: a token's text is matched with a regular expression") {
  recorder.set_breakpoints({{BreakKind::kPattern, 0, true, "^\\s*[A-Z]"}});
  recorder.write({.pieces = {{5, " the"}, {6, " The"}},
                  .nodes = {{.node = 1, .token = 5}, {.node = 2, .token = 6}}});
  recorder.write({.verdicts = {verdict(1, capture::Verdict::kKept)}});
  CHECK(recorder.take_hit().empty());
  recorder.write({.verdicts = {verdict(2, capture::Verdict::kKept)}});
  const BreakHit hit = recorder.take_hit();
  CHECK(hit.text == "a token's text matches '^\\s*[A-Z]': node 2 '·The'");
  CHECK(hit.node == 2);
}

TEST_CASE("breakpoints: a token that was not recorded is named by the vocabulary") {
  capture::NullRecorder inner;
  BreakRecorder recorder(inner, [](std::int32_t token) {
    return token == 7 ? std::string_view(" seven") : std::string_view(" other");
  });
  recorder.set_breakpoints({{BreakKind::kRejection, 0, true}});
  capture::VerdictRow row = verdict(4, capture::Verdict::kRejected);
  row.reason = capture::Reason::kNotArgmax;
  row.replacement = 7;
  recorder.write({.nodes = {{.node = 4, .token = 3}}, .verdicts = {row}});
  const BreakHit hit = recorder.take_hit();
  CHECK(hit.text.find("node 4 '·other', argmax is '·seven'") != std::string::npos);
  CHECK(hit.node == 4);
}

TEST_CASE_FIXTURE(Fixture, "breakpoints: entropy is of the target's rows, one by one") {
  using capture::CandidateRow;
  const float half = std::log(0.5f), quarter = std::log(0.25f);
  const CandidateRow two[] = {{.node = 1, .token = 3, .logprob = half},
                              {.node = 1, .rank = 1, .token = 4, .logprob = half}};
  CHECK(viz::entropy_of(two) == doctest::Approx(std::log(2.0)));
  // Half of the probability is recorded; the rest counts as one token.
  CHECK(viz::entropy_of({two, 1}) == doctest::Approx(std::log(2.0)));
  const CandidateRow quarters[] = {{.node = 2, .logprob = quarter},
                                   {.node = 2, .logprob = quarter}};
  CHECK(viz::entropy_of(quarters) == doctest::Approx(1.5 * std::log(2.0)));  // 1/4, 1/4, 1/2
  CHECK(viz::entropy_of({}) == 0);

  recorder.set_breakpoints({{BreakKind::kEntropyAbove, 1, true}});
  recorder.write({.candidates = {two[0], two[1]}});
  CHECK(recorder.take_hit().empty());
  recorder.write({.candidates = {two[0], two[1], quarters[0], quarters[1]}});
  const BreakHit hit = recorder.take_hit();
  CHECK(hit.text == "entropy > 1 nats: 1.04 nats after node 2");
  CHECK(hit.node == 2);
  CandidateRow draft = quarters[0];
  draft.whose = capture::Whose::kDraft;
  recorder.write({.candidates = {draft, draft}});
  CHECK(recorder.take_hit().empty());
  // A probe's row is not part of the text.
  recorder.write({.nodes = {{.node = 2, .role = capture::NodeRole::kProbe}},
                  .candidates = {quarters[0], quarters[1]}});
  CHECK(recorder.take_hit().empty());
}

TEST_CASE("breakpoints: a breakpoint that cannot be hit as it is said is refused") {
  CHECK_THROWS_WITH_AS(check_breakpoint({BreakKind::kText, 0, true}),
                       "breakpoint text: expected a part of a token's text, found none", Error);
  CHECK_THROWS_WITH_AS(check_breakpoint({BreakKind::kPattern, 0, true, "("}),
                       doctest::Contains("pattern '('"), Error);
  CHECK_THROWS_WITH_AS(check_breakpoint({BreakKind::kEntropyAbove, -1, true}),
                       "breakpoint entropy_above: expected a number from 0, found -1", Error);
  CHECK_NOTHROW(check_breakpoint({BreakKind::kRejection, -1, true}));
  CHECK_THROWS_WITH_AS(check_breakpoint({BreakKind::kWhere, 0, true, "acepted > 1"}),
                       doctest::Contains("breakpoint where: column 1: 'acepted' is not"), Error);
}

TEST_CASE_FIXTURE(Fixture,
                  "breakpoints: a condition stops a run once the step is done, with its node") {
  recorder.set_breakpoints(
      {{BreakKind::kWhere, 0, true, "accepted >= 1 and verdict = \"rejected\" and depth = 2"}});
  recorder.write({.pieces = {{7, " x"}},
                  .nodes = {{.node = 0},
                            {.node = 1, .parent = 0, .token = 7, .depth = 1},
                            {.node = 2, .parent = 1, .token = 7, .depth = 2},
                            {.node = 3, .parent = 2, .token = 7, .depth = 3}}});
  recorder.write({.verdicts = {verdict(2, capture::Verdict::kAccepted),
                               verdict(3, capture::Verdict::kRejected)}});
  CHECK(recorder.take_hit().empty());  // the step is not over
  recorder.write({.steps = {{.step = 4, .drafted = 2, .accepted = 1, .emitted = 2}}});
  const BreakHit hit = recorder.take_hit();
  CHECK(hit.node == 3);
  CHECK(hit.text.ends_with("step 4, node 3 '·x': rejected"));
  // What the next step decides is its own.
  recorder.write({.verdicts = {verdict(3, capture::Verdict::kAccepted)}});
  recorder.write({.steps = {{.step = 5, .drafted = 1, .accepted = 1, .emitted = 2}}});
  CHECK(recorder.take_hit().empty());
}

TEST_CASE("breakpoints: every breakpoint kind has a script name that leads back to it") {
  for (const BreakKind kind : all_break_kinds()) {
    BreakKind back = BreakKind::kStep;
    CHECK(break_kind_from_name(script_name(kind), back));
    CHECK(back == kind);
  }
  BreakKind none;
  CHECK_FALSE(break_kind_from_name("no such kind", none));
}

}  // namespace
}  // namespace triescope::app::test_breakpoints
