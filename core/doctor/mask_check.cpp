// Masks: what a row really attended to (`seen`, by slots) against what its path says. Which slot
// holds whose KV follows from the rows that wrote to it and from what was moved; a slot whose holder
// is not known is not judged.
#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/doctor/checks.h"
#include "core/doctor/slot_events.h"

namespace triescope::doctor {
namespace {

using namespace capture;

// Who lies in each slot of an owner's cache.
class Holders {
 public:
  void write(std::int32_t slot, std::int32_t occupant) {
    if (slot < 0) return;
    holder_[slot] = occupant;
    last_ = std::max(last_, slot);
  }
  // The rows of one tick; moves read before any of them writes.
  void apply(std::span<const SlotRow> events) {
    std::unordered_map<std::int32_t, std::int32_t> before;
    if (std::ranges::find(events, SlotAction::kMove, &SlotRow::action) != events.end())
      before = holder_;
    for (const SlotRow& event : events) {
      if (event.action == SlotAction::kAlloc || event.action == SlotAction::kReuse) {
        write(event.slot, event.node);
      } else if (event.action == SlotAction::kMove) {
        const auto from = before.find(event.from_slot);
        write(event.slot, from == before.end() ? event.node : from->second);
      }
    }
  }
  std::int32_t last() const { return last_; }  // the highest slot that was written
  const std::int32_t* holder(std::int32_t slot) const {
    const auto at = holder_.find(slot);
    return at == holder_.end() ? nullptr : &at->second;
  }

 private:
  std::unordered_map<std::int32_t, std::int32_t> holder_;
  std::int32_t last_ = -1;
};

struct Seen {
  const InputRow& row;
  const SeenRow& seen;
};

void check_row(const RunView& run, const Holders& holders, const Seen& at, bool knows_prompt,
               std::vector<Finding>& out) {
  const InputRow& row = at.row;
  const std::int32_t window = row.whose == Whose::kTarget ? run.window : 0;
  const std::int32_t own = run.position(row.node);
  // Of each fault the first in a row: a mask that is wrong is wrong in many places.
  std::set<std::string_view> told;
  const auto found = [&](Code code, std::int32_t slot, const char* kind, std::string text) {
    if (told.insert(kind).second)
      out.push_back({.code = code,
                     .step = row.step,
                     .node = row.node,
                     .row = row.row,
                     .slot = slot,
                     .whose = row.whose,
                     .kind = kind,
                     .text = "the row of " + run.name(row.node) + " " + std::move(text),
                     .sure = Sure::kCertain});
  };
  std::unordered_set<std::int32_t> sees;
  for (std::size_t i = 0; i + 1 < at.seen.slots.size(); i += 2) {
    if (knows_prompt && at.seen.slots[i] > holders.last())
      found(
          Code::kMaskExtra, at.seen.slots[i], "a slot is seen that nothing was written to",
          "attends to slot " + std::to_string(at.seen.slots[i]) + ", which nothing was written to");
    for (std::int32_t slot = at.seen.slots[i];
         slot <= std::min(at.seen.slots[i + 1], holders.last() + 1); ++slot) {
      const std::int32_t* holder = holders.holder(slot);
      const std::string where = "slot " + std::to_string(slot);
      if (holder == nullptr) {
        if (knows_prompt)
          found(Code::kMaskExtra, slot, "a slot is seen that nothing was written to",
                "attends to " + where + ", which nothing was written to");
        continue;
      }
      sees.insert(*holder);
      if (run.is_on_path(*holder, row.node)) {
        if (window > 0 && own - run.position(*holder) >= window)
          found(Code::kMaskExtra, slot, "a row sees what lies before its window",
                "attends to " + where + ", which holds " + run.name(*holder) + ", " +
                    std::to_string(own - run.position(*holder)) +
                    " positions before it; the window is " + std::to_string(window));
        continue;
      }
      const std::string who = "attends to " + where + ", which holds " + run.name(*holder);
      const Tick now = make_tick(row.step, Phase::kForward);
      const bool was_there = *holder > 0 && step_of(run.at(*holder).tick) < row.step;
      if (*holder <= -2 || run.is_on_path(row.node, *holder)) {
        found(Code::kMaskExtra, slot, "a row sees what comes after it",
              who + ", a later token of its own text");
      } else if (was_there &&
                 (is_dead(run.capture.state_at(*holder, now)) ||
                  run.capture.slot_at(slot, now, row.whose).state != SlotState::kLive)) {
        found(Code::kMaskExtra, slot, "stale KV is seen: of a node that was refused or freed",
              who + ", which was refused or freed before this step (stale KV)");
      } else {
        const bool sibling =
            row.node > 0 && *holder > 0 && run.parent(row.node) == run.parent(*holder);
        found(Code::kMaskExtra, slot,
              sibling ? "a row sees its sibling" : "a row sees another branch",
              who + (sibling ? ", its sibling" : ", which is on another branch"));
      }
    }
  }
  const auto expect = [&](std::int32_t occupant) {
    if (sees.contains(occupant)) return;
    if (window > 0 && own - run.position(occupant) >= window) return;
    const std::int32_t slot = run.capture.slot_of(
        occupant,
        make_tick(row.step, row.whose == Whose::kTarget ? Phase::kForward : Phase::kDraft) + 1,
        row.whose);
    const char* kind = occupant == row.node ? "a row does not see itself"
                       : occupant <= -2     ? "a row does not see all of the prompt"
                                            : "a row does not see an ancestor";
    found(Code::kMaskMissing, slot, kind,
          "does not attend to " +
              (occupant == row.node ? std::string("itself") : run.name(occupant)) +
              (slot >= 0 ? " in slot " + std::to_string(slot) : std::string()));
  };
  // A head's cache begins behind the prompt's first token.
  const std::int32_t first = row.whose == Whose::kHead ? 1 : 0;
  const std::int32_t last = row.node <= -2 ? -2 - row.node : run.prompt - 1;
  if (knows_prompt)
    for (std::int32_t i = first; i <= last; ++i) expect(-2 - i);
  for (std::int32_t node = row.node; node > 0; node = run.parent(node)) expect(node);
}

void check_owner(const RunView& run, Whose whose, std::vector<Finding>& out) {
  const Capture& capture = run.capture;
  Holders holders;
  std::unordered_set<std::int32_t> prompt_known;
  SlotEvents events(capture, whose);
  for (const ForwardId forward : capture.forwards(whose)) {
    // A step's commit comes behind the target's forward; others run theirs in another phase.
    const Tick until =
        make_tick(forward.step, whose == Whose::kTarget ? Phase::kForward : Phase::kObserve);
    events.each_until(until, [&](std::span<const SlotRow> tick) { holders.apply(tick); });
    const auto rows = capture.inputs(forward, whose);
    for (const InputRow& row : rows) {
      holders.write(row.slot, row.node);
      if (row.node <= -2) prompt_known.insert(row.node);
    }
    const bool knows_prompt = std::ssize(prompt_known) + (whose == Whose::kHead) >= run.prompt;
    for (const InputRow& row : rows)
      if (const SeenRow* seen = capture.seen(row))
        check_row(run, holders, {row, *seen}, knows_prompt, out);
  }
}

}  // namespace

void check_mask(const RunView& run, std::vector<Finding>& out) {
  if (run.capture.rows_in("seen") == 0) return;
  for (const Whose whose : run.capture.owners()) check_owner(run, whose, out);
}

}  // namespace triescope::doctor
