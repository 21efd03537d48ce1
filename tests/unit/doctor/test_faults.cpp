// A right run with one fault each: the doctor finds it, under its code, and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/doctor/made_run.h"

namespace triescope::test::test_faults {
namespace {

using doctor::Code;
using doctor::Diagnosis;
using doctor::FindingGroup;

std::string told(const Diagnosis& diagnosis) {
  std::string text;
  for (const FindingGroup& group : diagnosis.groups)
    text += std::string(to_string(group.first.code)) + ": " + group.first.text + "\n";
  return text;
}

// The one fault that there is.
FindingGroup only(const MadeRun& made, Code code) {
  const Diagnosis diagnosis = diagnosed(made.rows);
  INFO(told(diagnosis));
  REQUIRE(diagnosis.groups.size() == 1);
  CHECK(std::string(to_string(diagnosis.groups[0].first.code)) == to_string(code));
  CHECK_FALSE(diagnosis.groups[0].first.text.empty());
  return diagnosis.groups[0];
}
// The gravest, where it has consequences that are faults too.
FindingGroup gravest(const MadeRun& made, Code code) {
  const Diagnosis diagnosis = diagnosed(made.rows);
  INFO(told(diagnosis));
  REQUIRE_FALSE(diagnosis.groups.empty());
  CHECK(std::string(to_string(diagnosis.groups[0].first.code)) == to_string(code));
  return diagnosis.groups[0];
}

SeenRow& seen_of(MadeRun& made, std::int32_t step, std::int32_t row) {
  for (SeenRow& seen : made.rows.seen)
    if (seen.step == step && seen.row == row) return seen;
  FAIL("no such row");
  return made.rows.seen.front();
}
InputRow& input_of(MadeRun& made, std::int32_t node) {
  for (InputRow& row : made.rows.inputs)
    if (row.node == node) return row;
  FAIL("no such row");
  return made.rows.inputs.front();
}
VerdictRow& verdict_of(MadeRun& made, std::int32_t node) {
  for (VerdictRow& row : made.rows.verdicts)
    if (row.node == node) return row;
  FAIL("no such verdict");
  return made.rows.verdicts.front();
}
NodeRow& node_of(MadeRun& made, std::int32_t node) {
  return made.rows.nodes[static_cast<std::size_t>(node)];
}
void set_slots(SeenRow& seen, std::set<std::int32_t> slots) {
  seen.slots.clear();
  for (const std::int32_t slot : slots) {
    seen.slots.push_back(slot);
    seen.slots.push_back(slot);
  }
}
std::set<std::int32_t> slots_of(const SeenRow& seen) {
  std::set<std::int32_t> slots;
  for (std::size_t i = 0; i + 1 < seen.slots.size(); i += 2)
    for (std::int32_t slot = seen.slots[i]; slot <= seen.slots[i + 1]; ++slot) slots.insert(slot);
  return slots;
}

TEST_CASE("doctor: right runs have no findings") {
  for (const Rule rule : {Rule::kGreedy, Rule::kChain, Rule::kRounds})
    CHECK(told(diagnosed(made_drafts({.rule = rule, .steps = 40}).rows)) == "");
  CHECK(told(diagnosed(made_beams(8).rows)) == "");
}

// --- masks ---

TEST_CASE("doctor: mask.extra: a row that sees its sibling") {
  MadeRun made = made_drafts();
  // Row 3 is c's, whose sibling is a.
  SeenRow& seen = seen_of(made, 2, 3);
  auto slots = slots_of(seen);
  slots.insert(input_of(made, made.of_step[2].a).slot);
  set_slots(seen, slots);
  const FindingGroup group = only(made, Code::kMaskExtra);
  CHECK(group.first.step == 2);
  CHECK(group.first.row == 3);
  CHECK(group.first.node == made.of_step[2].c);
  CHECK(group.first.slot == input_of(made, made.of_step[2].a).slot);
  CHECK(group.first.kind == "a row sees its sibling");
}

TEST_CASE("doctor: mask.extra: stale KV of a refused draft") {
  MadeRun made = made_drafts();
  const std::int32_t stale = 50;
  // b of step 1 lay in a slot of its own that nobody takes again.
  const std::int32_t b = made.of_step[1].b;
  const std::int32_t old = input_of(made, b).slot;
  input_of(made, b).slot = stale;
  for (SlotRow& row : made.rows.slots)
    if (row.node == b) row.slot = stale;
  // The next to take its old slot takes it for the first time.
  for (SlotRow& row : made.rows.slots)
    if (row.slot == old && row.tick > make_tick(1, Phase::kCommit)) {
      row.action = SlotAction::kAlloc;
      break;
    }
  for (std::int32_t row : {2, 3}) {
    auto slots = slots_of(seen_of(made, 1, row));
    if (slots.erase(old)) slots.insert(stale);
    set_slots(seen_of(made, 1, row), slots);
  }
  CHECK(told(diagnosed(made.rows)) == "");
  auto slots = slots_of(seen_of(made, 2, 1));
  slots.insert(stale);
  set_slots(seen_of(made, 2, 1), slots);
  const FindingGroup group = only(made, Code::kMaskExtra);
  CHECK(group.first.kind == "stale KV is seen: that of a node that was refused or freed");
  CHECK(group.first.slot == stale);
}

TEST_CASE("doctor: mask.extra: a row that sees a later token") {
  MadeRun made = made_drafts();
  auto slots = slots_of(seen_of(made, 1, 0));
  slots.insert(input_of(made, made.of_step[1].a).slot);
  set_slots(seen_of(made, 1, 0), slots);
  CHECK(only(made, Code::kMaskExtra).first.kind == "a row sees what comes after it");
}

TEST_CASE("doctor: mask.extra: a row that sees what lies before its window") {
  MadeRun made = made_drafts();
  made.rows.run->sliding_window = 4;
  const FindingGroup group = only(made, Code::kMaskExtra);
  CHECK(group.first.kind == "a row sees what lies before its window");
}

TEST_CASE("doctor: mask.extra: slots that nothing was written to, told once a row") {
  for (const auto& runs : {std::vector<std::int32_t>{0, 1, 5, 4'000'000},
                           std::vector<std::int32_t>{0, 1, 3'000'000, 4'000'000}}) {
    MadeRun made = made_drafts();
    seen_of(made, 0, 1).slots = runs;
    const FindingGroup group = only(made, Code::kMaskExtra);
    CHECK(group.count == 1);
    CHECK(group.first.kind == "a slot is seen that nothing was written to");
  }
}

TEST_CASE("doctor: mask.missing: an ancestor, the prompt, itself") {
  const auto without = [](std::int32_t row, std::int32_t slot) {
    MadeRun made = made_drafts();
    auto slots = slots_of(seen_of(made, 2, row));
    REQUIRE(slots.erase(slot) == 1);
    set_slots(seen_of(made, 2, row), slots);
    const FindingGroup group = only(made, Code::kMaskMissing);
    CHECK(group.first.step == 2);
    CHECK(group.first.row == row);
    CHECK(group.first.slot == slot);
    return group.first.kind;
  };
  MadeRun made = made_drafts();
  const StepNodes at = made.of_step[2];
  CHECK(without(2, input_of(made, at.a).slot) == "a row does not see an ancestor");
  CHECK(without(1, 0) == "a row does not see all of the prompt");
  CHECK(without(1, input_of(made, at.a).slot) == "a row does not see itself");
}

TEST_CASE("doctor: the same fault in several steps is one finding with its number") {
  MadeRun made = made_drafts({.steps = 8});
  for (std::int32_t step = 3; step < 8; ++step) {
    auto slots = slots_of(seen_of(made, step, 3));
    slots.insert(input_of(made, made.of_step[static_cast<std::size_t>(step)].a).slot);
    set_slots(seen_of(made, step, 3), slots);
  }
  const FindingGroup group = only(made, Code::kMaskExtra);
  CHECK(group.count == 5);
  CHECK(group.steps == 5);
  CHECK(group.first.step == 3);
}

// --- positions ---

TEST_CASE("doctor: position.depth: positions that count the rows of the batch") {
  MadeRun made = made_drafts();
  for (InputRow& row : made.rows.inputs)
    if (row.step > 0)
      row.position =
          input_of(made, made.of_step[static_cast<std::size_t>(row.step)].root).position + row.row;
  const FindingGroup group = only(made, Code::kPositionDepth);
  CHECK(group.first.kind == "positions count the rows of the batch, so siblings differ");
  CHECK(group.steps == 5);
  CHECK(group.first.node == made.of_step[1].c);
}

TEST_CASE("doctor: position.depth: one position off, and all behind the prompt") {
  MadeRun made = made_drafts();
  input_of(made, made.of_step[2].b).position += 1;
  const FindingGroup group = only(made, Code::kPositionDepth);
  CHECK(group.first.node == made.of_step[2].b);
  CHECK(group.count == 1);
  made = made_drafts();
  for (InputRow& row : made.rows.inputs) row.position += row.step > 0;
  CHECK(only(made, Code::kPositionDepth).first.kind ==
        "all rows behind the prompt are off by the same amount");
}

TEST_CASE("doctor: position.offset: all rows off by the same are told apart") {
  MadeRun made = made_drafts();
  for (InputRow& row : made.rows.inputs) row.position += 3;
  const FindingGroup group = only(made, Code::kPositionOffset);
  CHECK(group.first.sure == doctor::Sure::kHint);
  CHECK(group.first.text.find("+3") != std::string::npos);
}

// --- slots ---

TEST_CASE("doctor: slot.clobbered: a slot that is taken while its node is needed") {
  MadeRun made = made_drafts();
  made.rows.seen.clear();
  // c of step 3 is written over the root of step 2, which every later row needs.
  const std::int32_t slot = input_of(made, made.of_step[2].root).slot;
  InputRow& row = input_of(made, made.of_step[3].c);
  row.slot = slot;
  for (SlotRow& event : made.rows.slots)
    if (event.node == made.of_step[3].c) event.slot = slot;
  const FindingGroup group = only(made, Code::kSlotClobbered);
  CHECK(group.first.step == 3);
  CHECK(group.first.node == made.of_step[2].root);
  CHECK(group.first.slot == slot);
}

TEST_CASE("doctor: slot.lost: an accepted draft whose KV is freed or moved wrongly") {
  MadeRun made = made_drafts();
  made.rows.seen.clear();
  const std::int32_t a = made.of_step[2].a;
  const std::int32_t slot = input_of(made, a).slot;
  const auto after = std::ranges::find_if(
      made.rows.slots, [](const SlotRow& row) { return row.tick > make_tick(2, Phase::kForward); });
  made.rows.slots.insert(
      after,
      {.tick = make_tick(2, Phase::kCommit), .action = SlotAction::kFree, .slot = slot, .node = a});
  const FindingGroup freed = only(made, Code::kSlotLost);
  CHECK(freed.first.step == 2);
  CHECK(freed.first.node == a);

  // Accepted KV is compacted: b's is copied from c's slot. Then b's is given back.
  made = made_drafts();
  made.rows.seen.clear();
  const StepNodes at = made.of_step[2];
  const Tick commit = make_tick(2, Phase::kCommit);
  const auto place =
      std::ranges::find_if(made.rows.slots, [&](const SlotRow& row) { return row.tick >= commit; });
  const std::int32_t b = input_of(made, at.b).slot, c = input_of(made, at.c).slot;
  made.rows.slots.insert(
      place,
      {{.tick = commit, .action = SlotAction::kMove, .slot = 60, .node = at.b, .from_slot = c},
       {.tick = commit, .action = SlotAction::kFree, .slot = b, .node = at.b}});
  CHECK(only(made, Code::kSlotLost).first.node == at.b);
}

TEST_CASE("doctor: slot.double: two rows in one slot") {
  MadeRun made = made_drafts();
  made.rows.seen.clear();
  const StepNodes at = made.of_step[5];
  const std::int32_t slot = input_of(made, at.b).slot;
  input_of(made, at.c).slot = slot;
  for (SlotRow& event : made.rows.slots)
    if (event.node == at.c) event.slot = slot;
  const FindingGroup group = only(made, Code::kSlotDouble);
  CHECK(group.first.step == 5);
  CHECK(group.first.slot == slot);
}

// --- acceptance ---

TEST_CASE(
    "doctor: accept.greedy: a draft accepted that is not the argmax, and the argmax refused") {
  MadeRun made = made_drafts();
  // The row above b prefers another token.
  for (CandidateRow& row : made.rows.candidates)
    if (row.node == made.of_step[2].a)
      row.token = row.rank == 0 ? 7 : node_of(made, made.of_step[2].b).token;
  FindingGroup group = only(made, Code::kAcceptGreedy);
  CHECK(group.first.step == 2);
  CHECK(group.first.node == made.of_step[2].b);
  CHECK(group.first.kind == "a draft that is not the argmax is accepted");

  // b is refused in step 3 although the row above it prefers it; the token in its place is then not the argmax.
  made = made_drafts();
  for (CandidateRow& row : made.rows.candidates)
    if (row.node == made.of_step[3].a && row.rank == 0)
      row.token = node_of(made, made.of_step[3].b).token;
  const Diagnosis diagnosis = diagnosed(made.rows);
  REQUIRE(diagnosis.groups.size() == 2);
  for (const FindingGroup& one : diagnosis.groups) CHECK(one.first.code == Code::kAcceptGreedy);
}

TEST_CASE("doctor: accept.greedy: found in runs that say nothing of their rule") {
  MadeRun made = made_drafts({.steps = 12});
  made.rows.run->settings_json = "{}";
  for (VerdictRow& row : made.rows.verdicts) row.reason = Reason::kNone;
  CHECK(told(diagnosed(made.rows)) == "");
  for (CandidateRow& row : made.rows.candidates)
    if (row.node == made.of_step[2].a && row.rank == 0) row.token = 7;
  CHECK(only(made, Code::kAcceptGreedy).first.sure == doctor::Sure::kLikely);
}

TEST_CASE("doctor: accept.greedy: two tokens that are equally good are no fault") {
  MadeRun made = made_drafts();
  for (CandidateRow& row : made.rows.candidates)
    if (row.node == made.of_step[3].a && row.rank == 1) {
      row.token = node_of(made, made.of_step[3].b).token;
      row.logprob = -0.2f;
    }
  CHECK(told(diagnosed(made.rows)) == "");
}

TEST_CASE("doctor: accept.chain: u against p/q, and the refused token drawn again") {
  MadeRun made = made_drafts({.rule = Rule::kChain});
  verdict_of(made, made.of_step[2].b).u = 0.7f;  // min(1, 0.3 / 0.5) = 0.6
  FindingGroup group = only(made, Code::kAcceptChain);
  CHECK(group.first.node == made.of_step[2].b);
  CHECK(group.first.kind == "a draft is accepted although u is not below p/q");
  made = made_drafts({.rule = Rule::kChain});
  verdict_of(made, made.of_step[3].b).u = 0.5f;
  CHECK(only(made, Code::kAcceptChain).first.kind == "a draft is refused although u is below p/q");
  made = made_drafts({.rule = Rule::kChain});
  node_of(made, made.of_step[3].own).token = node_of(made, made.of_step[3].b).token;
  made.rows.sequences.clear();
  CHECK(only(made, Code::kAcceptChain).first.kind == "the refused token is drawn again");
}

TEST_CASE("doctor: accept.tree: siblings out of order, two accepted, one below a refused") {
  // c is tried, and refused, before a, which was drawn first.
  MadeRun made = made_drafts({.rule = Rule::kRounds});
  const std::int32_t c = made.of_step[2].c;
  VerdictRow tried = verdict_of(made, c);
  std::erase_if(made.rows.verdicts, [&](const VerdictRow& row) { return row.node == c; });
  tried.p = 0.1f;
  tried.q = 0.5f;
  tried.u = 0.9f;
  tried.reason = Reason::kNotBelowRest;
  const auto at = std::ranges::find(made.rows.verdicts, made.of_step[2].a, &VerdictRow::node);
  made.rows.verdicts.insert(at, tried);
  CHECK(only(made, Code::kAcceptTree).first.kind ==
        "siblings are tried in another order than drawn");

  made = made_drafts({.rule = Rule::kRounds});
  verdict_of(made, made.of_step[2].a).u = 0.95f;  // min(1, 0.4 / 0.5) = 0.8
  CHECK(only(made, Code::kAcceptTree).first.kind ==
        "a draft is accepted although u is not below p/q");

  made = made_drafts();
  verdict_of(made, made.of_step[2].a).verdict = Verdict::kRejected;
  CHECK(gravest(made, Code::kAcceptGreedy).first.node == made.of_step[2].a);
  made = made_drafts({.rule = Rule::kRounds});
  verdict_of(made, made.of_step[2].c).verdict = Verdict::kAccepted;
  CHECK(gravest(made, Code::kAcceptTree).first.kind == "two siblings are accepted");
}

TEST_CASE("doctor: accept.q: chosen drafts that are verified as if they were drawn") {
  MadeRun made = made_drafts({.rule = Rule::kChain});
  for (NodeRow& row : made.rows.nodes) row.q = 1;
  CHECK(only(made, Code::kAcceptQ).first.sure == doctor::Sure::kCertain);

  // Nodes say that they were drawn, but they are always the best of the drafter's own rows.
  made = made_drafts({.rule = Rule::kChain, .steps = 30});
  std::vector<CandidateRow> own;
  for (const StepNodes& at : made.of_step) {
    if (at.a <= 0) continue;
    for (const auto& [parent, child] : {std::pair(at.root, at.a), std::pair(at.a, at.b)})
      own.push_back({.tick = node_of(made, child).tick,
                     .node = parent,
                     .rank = 0,
                     .token = node_of(made, child).token,
                     .logprob = -0.69f,
                     .chosen = true,
                     .whose = Whose::kDraft});
  }
  made.rows.candidates.insert(made.rows.candidates.end(), own.begin(), own.end());
  std::ranges::stable_sort(made.rows.candidates, {}, &CandidateRow::tick);
  CHECK(only(made, Code::kAcceptQ).first.sure == doctor::Sure::kLikely);
  // One of them was not: they were drawn.
  for (CandidateRow& row : made.rows.candidates)
    if (row.whose == Whose::kDraft && row.node == made.of_step[7].root) row.token = 3;
  CHECK(told(diagnosed(made.rows)) == "");
}

// --- text ---

TEST_CASE("doctor: text.lost: an accepted token is not in the text") {
  MadeRun made = made_drafts();
  // Step 4 accepts a and b, but the bonus is put below a, and the text goes on from there.
  made = made_drafts({.steps = 5});
  node_of(made, made.of_step[4].own).parent = made.of_step[4].a;
  node_of(made, made.of_step[4].own).depth -= 1;
  made.rows.sequences.clear();
  for (CandidateRow& row : made.rows.candidates)
    if (row.node == made.of_step[4].a) row.logprob = std::numeric_limits<float>::quiet_NaN();
  const FindingGroup group = gravest(made, Code::kTextLost);
  CHECK(group.first.step == 4);
  CHECK(group.first.node == made.of_step[4].b);

  made = made_drafts();
  made.rows.sequences.back().tokens.erase(made.rows.sequences.back().tokens.begin() + 2);
  CHECK(only(made, Code::kTextLost).first.kind == "a text does not have the tokens of its path");
  made = made_drafts();
  made.rows.steps[4].emitted -= 1;
  CHECK(only(made, Code::kTextLost).first.step == 4);
}

TEST_CASE("doctor: text.twice: a token is written twice") {
  MadeRun made = made_drafts();
  auto& tokens = made.rows.sequences.back().tokens;
  tokens.insert(tokens.begin() + 2, tokens[2]);
  CHECK(only(made, Code::kTextTwice).first.kind == "a text has more tokens than its path");
  made = made_drafts();
  made.rows.steps[4].emitted += 1;
  CHECK(only(made, Code::kTextTwice).first.step == 4);
}

TEST_CASE("doctor: text.eos: the text goes on after its end") {
  MadeRun made = made_drafts({.rule = Rule::kChain});
  node_of(made, made.of_step[2].a).token = kEnd;
  made.rows.sequences.clear();
  const FindingGroup group = only(made, Code::kTextEos);
  CHECK(group.first.node == made.of_step[2].b);
  CHECK(group.first.step == 2);
  // Asked for: a benchmark that writes on.
  made.rows.run->settings_json = R"({"verify": "chain", "ignore_eos": true})";
  CHECK(told(diagnosed(made.rows)) == "");
}

TEST_CASE("doctor: text.length: the cap inside an accepted run") {
  MadeRun made = made_drafts();
  made.rows.run->max_new_tokens =
      static_cast<std::int32_t>(made.rows.sequences.back().tokens.size()) - 1;
  CHECK(only(made, Code::kTextLength).first.node == made.of_step.back().own);
}

// --- beams ---

TEST_CASE("doctor: beam.cut: a better continuation was left out") {
  MadeRun made = made_beams();
  for (CandidateRow& row : made.rows.candidates)
    if (row.node == made.of_step[2].root && row.token == 5) row.logprob = -0.6f;
  const FindingGroup group = only(made, Code::kBeamCut);
  CHECK(group.first.step == 2);
  CHECK(group.first.node == made.of_step[2].b);
}

TEST_CASE("doctor: beam.order: beams are ranked by something else") {
  MadeRun made = made_beams();
  for (FrontierRow& row : made.rows.frontier)
    if (row.step == 2)
      row.node = row.rank == 0 ? made.of_step[2].b : made.of_step[2].a,
      row.score = row.rank == 0 ? -1.6f : -0.9f;
  CHECK(only(made, Code::kBeamOrder).first.step == 2);
}

TEST_CASE("doctor: beam.eos: beyond the best b, and a beam that goes on") {
  MadeRun made = made_beams();
  // A third continuation of step 2 ends the text, and is finished.
  NodeRow row{.node = static_cast<std::int32_t>(made.rows.nodes.size()),
              .parent = made.of_step[3].root,
              .token = kEnd,
              .depth = 4,
              .logprob = -3.0f,
              .score = -3.9f,
              .source = Source::kBeam,
              .tick = make_tick(3, Phase::kAccept)};
  made.rows.nodes.push_back(row);
  for (CandidateRow& candidate : made.rows.candidates)
    if (candidate.node == row.parent && candidate.token == 5) candidate.token = kEnd;
  made.rows.verdicts.push_back(
      {.tick = row.tick, .node = row.node, .verdict = Verdict::kFinished, .rank = -1});
  CHECK(only(made, Code::kBeamEos).first.node == row.node);

  made = made_beams();
  node_of(made, made.of_step[1].a).token = kEnd;
  for (CandidateRow& candidate : made.rows.candidates)
    if (candidate.token == made.of_step[1].a + 100) candidate.token = kEnd;
  CHECK(only(made, Code::kBeamEos).first.kind == "a beam goes on after its end");
}

TEST_CASE("doctor: beam.score: not the sum, not normalised as said") {
  MadeRun made = made_beams();
  for (CandidateRow& row : made.rows.candidates)
    if (row.node == made.of_step[3].root && row.token == made.of_step[3].a + 100)
      row.logprob = -0.5f;
  FindingGroup group = only(made, Code::kBeamScore);
  CHECK(group.first.step == 3);
  CHECK(group.first.kind == "a beam's score is not the sum of its log-probabilities");
  made = made_beams();
  made.rows.sequences.back().score *= 4;
  group = only(made, Code::kBeamScore);
  CHECK(group.first.kind == "a finished text's score is not its normalised sum");
}

// --- padding, shape ---

TEST_CASE("doctor: padding: accepted, or a path drafted twice") {
  MadeRun made = made_drafts({.rule = Rule::kChain});
  node_of(made, made.of_step[2].a).token = kPad;
  made.rows.sequences.clear();
  CHECK(only(made, Code::kPadding).first.node == made.of_step[2].a);
  made = made_drafts({.rule = Rule::kRounds});
  node_of(made, made.of_step[2].c).token = node_of(made, made.of_step[2].a).token;
  const FindingGroup group = only(made, Code::kPadding);
  CHECK(group.first.kind == "the same path is drafted twice");
  CHECK(group.first.step == 2);
}

TEST_CASE("doctor: acceptance.shape: a cliff after the first draft, and drafts that always pass") {
  MadeRun made = made_drafts({.rule = Rule::kChain, .steps = 60});
  // All drafts pass.
  for (std::int32_t step = 1; step < 60; step += 2) {
    const StepNodes at = made.of_step[static_cast<std::size_t>(step)];
    verdict_of(made, at.b).verdict = Verdict::kAccepted;
    verdict_of(made, at.b).u = 0.1f;
    verdict_of(made, at.own).verdict = Verdict::kBonus;
    NodeRow& own = node_of(made, at.own);
    own.parent = at.b;
    ++made.rows.steps[static_cast<std::size_t>(step)].emitted;
  }
  for (NodeRow& row : made.rows.nodes)
    if (row.node > 0) row.depth = node_of(made, row.parent).depth + 1;
  for (InputRow& row : made.rows.inputs)
    if (row.node > 0) row.position = 1 + node_of(made, row.node).depth;
  std::erase_if(made.rows.slots,
                [](const SlotRow& row) { return row.action == SlotAction::kFree; });
  made.rows.slots.clear();
  made.rows.seen.clear();
  made.rows.sequences.clear();
  CHECK(only(made, Code::kAcceptanceShape).first.kind == "acceptance is complete at all depths");
  // A search in texts copies, and that may well always pass.
  made.rows.drafters[0].kind = DrafterKind::kText;
  CHECK(told(diagnosed(made.rows)) == "");

  // b is never accepted: even steps as the odd ones are.
  made = made_drafts({.rule = Rule::kChain, .steps = 60});
  for (std::int32_t step = 2; step < 60; step += 2) {
    const StepNodes at = made.of_step[static_cast<std::size_t>(step)];
    verdict_of(made, at.b).verdict = Verdict::kRejected;
    verdict_of(made, at.b).u = 0.9f;
    verdict_of(made, at.own).verdict = Verdict::kCorrected;
    node_of(made, at.own).parent = at.a;
    --made.rows.steps[static_cast<std::size_t>(step)].emitted;
  }
  for (NodeRow& row : made.rows.nodes)
    if (row.node > 0) row.depth = node_of(made, row.parent).depth + 1;
  for (InputRow& row : made.rows.inputs)
    if (row.node > 0) row.position = 1 + node_of(made, row.node).depth;
  made.rows.slots.clear();
  made.rows.seen.clear();
  made.rows.sequences.clear();
  CHECK(only(made, Code::kAcceptanceShape).first.kind ==
        "acceptance falls off a cliff after the first draft");
}

}  // namespace
}  // namespace triescope::test::test_faults
