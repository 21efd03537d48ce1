// Drafted runs whose recorder says that rows saw, stood or wrote what the tree does not ask for.
#pragma once

#include <algorithm>
#include <set>

#include "tests/unit/doctor/made_run.h"
#include "tests/unit/viz/captures.h"

namespace triescope::test {

inline InputRow& faulty_input(MadeRun& made, std::int32_t node) {
  return *std::ranges::find(made.rows.inputs, node, &InputRow::node);
}

// Changes the set of slots that a row saw.
template <class Change>
void change_seen(MadeRun& made, std::int32_t step, std::int32_t row, Change change) {
  for (SeenRow& seen : made.rows.seen) {
    if (seen.step != step || seen.row != row) continue;
    std::set<std::int32_t> slots;
    for (std::size_t i = 0; i < seen.slots.size(); i += 2) slots.insert(seen.slots[i]);
    change(slots);
    seen.slots.clear();
    for (const std::int32_t slot : slots) seen.slots.insert(seen.slots.end(), {slot, slot});
  }
}

// From step 3 on the row of c sees its sibling a, and that of b does not see the frontier; in step 4 the row of
// a does not see the prompt's first token.
inline MadeRun masked_wrongly() {
  MadeRun made = made_drafts();
  for (std::int32_t step = 3; step < 6; ++step) {
    const StepNodes at = made.of_step[static_cast<std::size_t>(step)];
    const std::int32_t a = faulty_input(made, at.a).slot, root = faulty_input(made, at.root).slot;
    change_seen(made, step, 3, [&](auto& slots) { slots.insert(a); });
    change_seen(made, step, 2, [&](auto& slots) { slots.erase(root); });
  }
  change_seen(made, 4, 1, [](auto& slots) { slots.erase(0); });
  return made;
}

// In step 3 the row of the frontier sees c of step 2, which was refused and copied to slot 60, and slots that
// nothing was written to; drafts a stand one too far from step 2 on.
inline MadeRun stale_and_shifted() {
  MadeRun made = made_drafts();
  const std::int32_t c = made.of_step[2].c;
  const Tick commit = make_tick(2, Phase::kCommit);
  const auto at = std::ranges::find(made.rows.slots, commit, &SlotRow::tick);
  made.rows.slots.insert(at, {.tick = commit,
                              .action = SlotAction::kMove,
                              .slot = 60,
                              .node = c,
                              .from_slot = faulty_input(made, c).slot});
  change_seen(made, 3, 0, [&](auto& slots) { slots.insert({60, 70, 71}); });
  for (std::size_t step = 2; step < made.of_step.size(); ++step)
    ++faulty_input(made, made.of_step[step].a).position;
  return made;
}

// In step 3 c is written over step 2's frontier, which is still needed; in step 5 c lies in b's slot.
inline MadeRun slots_taken_wrongly() {
  MadeRun made = made_drafts();
  made.rows.seen.clear();
  const auto put = [&](std::int32_t node, std::int32_t slot) {
    faulty_input(made, node).slot = slot;
    for (SlotRow& event : made.rows.slots)
      if (event.node == node) event.slot = slot;
  };
  put(made.of_step[3].c, faulty_input(made, made.of_step[2].root).slot);
  put(made.of_step[5].c, faulty_input(made, made.of_step[5].b).slot);
  return made;
}

template <MadeRun (*kMake)()>
const Capture& faulty_capture() {
  static const auto opened = make_capture([](Recorder& out) { out.write(kMake().rows); });
  return *opened->capture;
}

}  // namespace triescope::test
