// What a capture says of its rows, against what the tree asks for: forwards and back, in any order, and for
// rows that no right recorder writes.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/capture/row_faults.h"
#include "tests/unit/viz/faulty_runs.h"

namespace triescope::test::test_row_faults {
namespace {

std::string told(const Capture& run, std::int32_t step) {
  std::string text;
  const auto rows = run.inputs(step);
  const auto sights = run.row_faults().sights(step, Whose::kTarget);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const SightFault& fault : sights[i].faults)
      text += std::to_string(rows[i].row) + (is_missing(fault.kind) ? "-" : "+") +
              std::to_string(fault.occupant) + "@" + std::to_string(fault.slot) + ": " +
              sight_fault_text(run, rows[i].node, fault) + "\n";
  return text;
}

TEST_CASE("row faults: each row's, with what the other node is to it") {
  const OpenedRun opened(masked_wrongly().rows);
  const Capture& run = *opened.capture;
  const MadeRun made = masked_wrongly();
  CHECK(told(run, 2).empty());
  const StepNodes at = made.of_step[3];
  const std::int32_t a = run.inputs(3)[1].slot, root = run.inputs(3)[0].slot;
  CHECK(told(run, 3) == "2-" + std::to_string(at.root) + "@" + std::to_string(root) +
                            ": its own ancestor\n3+" + std::to_string(at.a) + "@" +
                            std::to_string(a) + ": its sibling\n");
  CHECK(told(run, 4).starts_with("1--2@0: a token of the prompt\n"));
  const RowFaults& faults = run.row_faults();
  CHECK(std::ranges::equal(faults.sight_steps(Whose::kTarget), std::vector{3, 4, 5}));
  CHECK(faults.position_steps(Whose::kTarget).empty());
  CHECK(faults.slot_steps(Whose::kTarget).empty());
  CHECK(runs_text(faults.asked_slots(run.inputs(1)[1])) ==
        "0-" + std::to_string(run.inputs(1)[1].slot));
}

TEST_CASE("row faults: a node's mark is that of its newest row before the cursor") {
  const auto mark_of = [](const OpenedRun& opened, std::int32_t node, std::int32_t step) {
    return opened.capture->row_faults().mark(node, make_tick(step, Phase::kForward) + 1,
                                             Whose::kTarget);
  };
  const OpenedRun masked(masked_wrongly().rows);
  const MadeRun made = masked_wrongly();
  const StepNodes at = made.of_step[3];
  CHECK(mark_of(masked, at.c, 3) == RowMark::kRecorded);
  CHECK(mark_of(masked, at.b, 3) == RowMark::kMissing);
  CHECK(mark_of(masked, at.a, 3) == RowMark::kNone);
  CHECK(mark_of(masked, at.c, 2) == RowMark::kNone);  // its row is still to come
  CHECK(mark_of(masked, made.of_step[4].a, 4) == RowMark::kMissing);
  const RowFaults& faults = masked.capture->row_faults();
  const Tick forward = make_tick(3, Phase::kForward);
  for (const RowMark mark : {RowMark::kMissing, RowMark::kRecorded}) {
    CHECK_FALSE(faults.has_mark(mark, forward, Whose::kTarget));
    CHECK(faults.has_mark(mark, forward + 1, Whose::kTarget));
    CHECK_FALSE(faults.has_mark(mark, forward + 1, Whose::kDraft));
  }

  const OpenedRun shifted(stale_and_shifted().rows);
  const MadeRun moved = stale_and_shifted();
  CHECK(mark_of(shifted, moved.of_step[2].a, 2) == RowMark::kRecorded);
  CHECK(mark_of(shifted, moved.of_step[1].a, 5) == RowMark::kNone);

  const OpenedRun lost(slots_taken_wrongly().rows);
  const MadeRun taken = slots_taken_wrongly();
  for (const std::int32_t node : {taken.of_step[2].root, taken.of_step[3].c}) {
    CHECK(mark_of(lost, node, 2) == RowMark::kNone);
    CHECK(mark_of(lost, node, 3) == RowMark::kRecorded);
  }
}

TEST_CASE("row faults: a node whose later row is right has no mark any more") {
  MadeRun made = masked_wrongly();
  const std::int32_t c = made.of_step[3].c;
  // The row of c in step 3 is wrong. Step 5 reads c again, as the tree asks.
  const InputRow& wrong = faulty_input(made, c);
  InputRow again = wrong;
  again.step = 5, again.row = 4;
  made.rows.inputs.push_back(again);
  const OpenedRun opened(made.rows);
  const RowFaults& faults = opened.capture->row_faults();
  const Tick end = opened.capture->end_tick();
  CHECK(faults.mark(c, make_tick(5, Phase::kForward), Whose::kTarget) == RowMark::kRecorded);
  CHECK(faults.mark(c, end, Whose::kTarget) == RowMark::kNone);
}

TEST_CASE("row faults: back and forth they are the same as in order") {
  for (MadeRun (*make)() : {masked_wrongly, stale_and_shifted}) {
    const OpenedRun in_order(make().rows), mixed(make().rows);
    std::vector<std::string> expected;
    for (std::int32_t step = 0; step < 6; ++step) expected.push_back(told(*in_order.capture, step));
    for (const std::int32_t step : {5, 0, 3, 2, 4, 1, 5, 3, 0})
      CHECK(told(*mixed.capture, step) == expected[static_cast<std::size_t>(step)]);
  }
}

TEST_CASE("row faults: stale KV, slots that nothing was written to, positions") {
  const OpenedRun opened(stale_and_shifted().rows);
  const Capture& run = *opened.capture;
  const std::string text = told(run, 3);
  CHECK(text.find("refused or freed before this step (stale KV)") != std::string::npos);
  // However many slots were never written to, they are one fault of the row.
  CHECK(text.find("0+-1@70: nothing was written there\n") != std::string::npos);
  CHECK(text.find("@71") == std::string::npos);
  const RowFaults& faults = run.row_faults();
  CHECK(std::ranges::equal(faults.position_steps(Whose::kTarget), std::vector{2, 3, 4, 5}));
  const InputRow& row = run.inputs(2)[1];
  CHECK(faults.positions(Whose::kTarget).asked(row) == row.position - 1);
}

TEST_CASE("row faults: slots that two rows write, and KV that is written over") {
  const OpenedRun opened(slots_taken_wrongly().rows);
  const RowFaults& faults = opened.capture->row_faults();
  const MadeRun made = slots_taken_wrongly();
  CHECK(std::ranges::equal(faults.slot_steps(Whose::kTarget), std::vector{3, 5}));
  const auto over = faults.slots(3, Whose::kTarget);
  REQUIRE(over.size() == 1);
  CHECK(over[0].kind == SlotFaultKind::kOverwritten);
  CHECK(over[0].occupant == made.of_step[2].root);
  CHECK(over[0].by == made.of_step[3].c);
  const auto twice = faults.slots(5, Whose::kTarget);
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].kind == SlotFaultKind::kTwice);
  CHECK(faults.slots(4, Whose::kTarget).empty());
}

TEST_CASE("row faults: nodes across branches are called by how they are related") {
  MadeRun made = made_drafts();
  // 1 is chosen after the prompt; below it a (2), b (3) below a, c (4).
  const OpenedRun opened(made.rows);
  const Capture& run = *opened.capture;
  const StepNodes at = made.of_step[1];
  CHECK(relation_text(run, at.a, at.c) == "its sibling");
  CHECK(relation_text(run, at.b, at.c) == "the sibling of its parent");
  CHECK(relation_text(run, at.c, at.b) == "a child of its sibling");
  CHECK(relation_text(run, at.a, at.b) == "a later token of its own text");
  CHECK(relation_text(run, at.b, at.root) == "its own ancestor");
  CHECK(relation_text(run, at.b, -2) == "a token of the prompt");
  CHECK(relation_text(run, -2, at.b) == "a later token of its own text");
  CHECK(relation_text(run, at.b, at.b) == "itself");
}

TEST_CASE("row faults: a row that claims millions of slots, and rows about no token, are safe") {
  MadeRun made = made_drafts();
  for (SeenRow& seen : made.rows.seen)
    if (seen.step >= 2) seen.slots = {0, 4'000'000};
  for (InputRow& row : made.rows.inputs)
    if (row.step == 4 && row.row == 2) row.node = 0, row.slot = -1;
  for (InputRow& row : made.rows.inputs)
    if (row.step == 5 && row.row == 1) row.slot = 4'000'000;
  // Rows that say what no row of their step attended to.
  made.rows.seen.push_back({.step = 5, .row = 900, .slots = {1, 3}});
  const OpenedRun opened(made.rows);
  const Capture& run = *opened.capture;
  for (std::int32_t step = 5; step >= 0; --step) {
    CAPTURE(step);
    std::size_t faults = 0;
    for (const RowSight& sight : run.row_faults().sights(step, Whose::kTarget))
      faults += sight.faults.size();
    CHECK((faults > 0) == (step >= 2));
    CHECK(faults < 200);
  }
  CHECK(run.row_faults().sights(77, Whose::kTarget).empty());
  CHECK(run.row_faults().sights(1, Whose::kHead).empty());
  CHECK_FALSE(doctor::diagnose(run).groups.empty());
}

}  // namespace
}  // namespace triescope::test::test_row_faults
