// KV slots: every event of an owner's cache in turn, and at each forward whether the rows' paths are
// still there. KV that is gone is no fault until a row needs it. Only where the recorder told what
// happened to its slots; two rows of a forward in one slot are found by the rows alone.
#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "core/doctor/checks.h"
#include "core/doctor/slot_events.h"

namespace triescope::doctor {
namespace {

using namespace capture;

class Cache {
  struct Held {
    std::int32_t occupant;
    Tick tick;
  };

 public:
  Cache(const RunView& run, Whose whose, std::vector<Finding>& out)
      : run_(run), whose_(whose), out_(out) {
    mark_needs();
  }

  // The events of one tick.
  void apply(std::span<const SlotRow> events) {
    std::unordered_map<std::int32_t, Held> before;  // what moves read
    if (std::ranges::find(events, SlotAction::kMove, &SlotRow::action) != events.end())
      before = holder_;
    for (const SlotRow& event : events) {
      switch (event.action) {
        case SlotAction::kAlloc:
        case SlotAction::kReuse:
          take(event);
          break;
        case SlotAction::kGarbage:
          lose(event, "its KV was marked as garbage", Code::kSlotLost);
          break;
        case SlotAction::kFree:
          lose(event, "its slot was freed", Code::kSlotLost);
          holder_.erase(event.slot);
          break;
        case SlotAction::kMove:
          move(event, before);
          break;
      }
    }
  }

  // Whether the rows of a forward find their paths. `tick`: what was lost before it counts, and, of
  // the target, what its own rows wrote over.
  void forward(std::span<const InputRow> rows, Tick tick) {
    if (lost_.empty()) return;
    std::int32_t first = -1;
    for (const InputRow& row : rows)
      if (const std::int32_t at = run_.position(row.node); first < 0 || at < first) first = at;
    for (auto at = lost_.begin(); at != lost_.end();) {
      const auto& [occupant, loss] = *at;
      if (window() > 0 && first - run_.position(occupant) >= window()) {
        at = lost_.erase(at);
        continue;
      }
      const bool counts = loss.tick < tick || (whose_ == Whose::kTarget && loss.tick == tick);
      const InputRow* needs = nullptr;
      if (counts)
        for (const InputRow& row : rows)
          if (row.node != occupant && run_.is_on_path(occupant, row.node) &&
              (window() == 0 || run_.position(row.node) - run_.position(occupant) < window())) {
            needs = &row;
            break;
          }
      if (needs == nullptr || is_behind_window(occupant, needs->node)) {
        ++at;
        continue;
      }
      out_.push_back({.code = loss.code,
                      .step = step_of(loss.tick),
                      .node = occupant,
                      .slot = loss.slot,
                      .whose = whose_,
                      .kind = loss.code == Code::kSlotClobbered
                                  ? "a slot is written while its KV is still needed"
                                  : "KV is gone that later rows need",
                      .text = run_.name(occupant) + " lay in slot " + std::to_string(loss.slot) +
                              "; " + loss.how + " in the " + to_string(phase_of(loss.tick)) +
                              " phase, and the row of " + run_.name(needs->node) + " in step " +
                              std::to_string(needs->step) + " still needs it",
                      .sure = Sure::kCertain});
      at = lost_.erase(at);
    }
  }

 private:
  struct Loss {
    Tick tick;
    std::int32_t slot;
    Code code;
    std::string how;
  };

  // A capture does not know another model's window. What left it is lost from the front.
  bool is_behind_window(std::int32_t occupant, std::int32_t node) const {
    if (whose_ == Whose::kTarget) return false;
    const std::int32_t until = run_.position(occupant);
    for (std::int32_t i = 0; i < std::min(until, run_.prompt); ++i)
      if (has_copy(-2 - i, -1)) return false;
    for (; node > 0; node = run_.parent(node))
      if (run_.position(node) < until && has_copy(node, -1)) return false;
    return true;
  }
  std::int32_t window() const { return whose_ == Whose::kTarget ? run_.window : 0; }

  // The last step with a row at or below each node: KV that nothing needs later is never a fault.
  void mark_needs() {
    const auto forwards = run_.capture.forwards(whose_);
    needed_until_.assign(run_.capture.nodes().size(), -1);
    for (auto at = forwards.rbegin(); at != forwards.rend(); ++at) {
      last_step_ = std::max(last_step_, at->step);
      for (const InputRow& row : run_.capture.inputs(*at, whose_))
        for (std::int32_t node = row.node; node > 0; node = run_.parent(node)) {
          auto& until = needed_until_[static_cast<std::size_t>(node)];
          if (until >= at->step) break;
          until = at->step;
        }
    }
  }
  bool is_needed(std::int32_t occupant, Tick tick) const {
    const std::int32_t until = occupant <= -2 ? last_step_
                               : occupant > 0 ? needed_until_[static_cast<std::size_t>(occupant)]
                                              : -1;
    return until > step_of(tick) || (until == step_of(tick) && phase_of(tick) <= Phase::kForward);
  }
  bool has_copy(std::int32_t occupant, std::int32_t but_slot) const {
    const auto at = places_.find(occupant);
    return at != places_.end() && std::ranges::any_of(at->second, [&](std::int32_t slot) {
             const auto held = holder_.find(slot);
             return slot != but_slot && held != holder_.end() && held->second.occupant == occupant;
           });
  }

  void put(std::int32_t slot, std::int32_t occupant, Tick tick) {
    holder_[slot] = {occupant, tick};
    auto& places = places_[occupant];
    std::erase_if(places, [&](std::int32_t place) {
      const auto held = holder_.find(place);
      return held == holder_.end() || held->second.occupant != occupant;
    });
    if (std::ranges::find(places, slot) == places.end()) places.push_back(slot);
    lost_.erase(occupant);
  }
  void lose(const SlotRow& event, const std::string& how, Code code) {
    const auto held = holder_.find(event.slot);
    if (held == holder_.end()) return;
    const std::int32_t occupant = held->second.occupant;
    if (!is_needed(occupant, event.tick) || has_copy(occupant, event.slot)) return;
    lost_.try_emplace(occupant, Loss{event.tick, event.slot, code, how});
  }
  void take(const SlotRow& event) {
    const auto held = holder_.find(event.slot);
    if (held != holder_.end() && held->second.occupant != event.node) {
      if (held->second.tick == event.tick) {
        // With rows, their slots say it.
        if (last_step_ < 0)
          doubled(event.slot, held->second.occupant, event.node, step_of(event.tick), -1);
      } else {
        lose(event, run_.name(event.node) + " was written over it", Code::kSlotClobbered);
      }
    }
    put(event.slot, event.node, event.tick);
  }

 public:
  void doubled(std::int32_t slot, std::int32_t first, std::int32_t second, std::int32_t step,
               std::int32_t row) {
    out_.push_back({.code = Code::kSlotDouble,
                    .step = step,
                    .node = second,
                    .row = row,
                    .slot = slot,
                    .whose = whose_,
                    .kind = "two nodes in one slot",
                    .text = run_.name(first) + " and " + run_.name(second) +
                            " are written to slot " + std::to_string(slot) + " in the same forward",
                    .sure = Sure::kCertain});
  }

 private:
  void move(const SlotRow& event, const std::unordered_map<std::int32_t, Held>& before) {
    const auto source = before.find(event.from_slot);
    const auto now = holder_.find(event.from_slot);
    const bool right = (source != before.end() && source->second.occupant == event.node) ||
                       (now != holder_.end() && now->second.occupant == event.node);
    if (const auto held = holder_.find(event.slot);
        held != holder_.end() && held->second.occupant != event.node)
      lose(event, run_.name(event.node) + " was moved over it", Code::kSlotClobbered);
    if (right || source == before.end()) {
      put(event.slot, event.node, event.tick);
      return;
    }
    // What was copied is another node's.
    put(event.slot, source->second.occupant, event.tick);
    if (!has_copy(event.node, -1) && is_needed(event.node, event.tick))
      lost_[event.node] = {event.tick, event.slot, Code::kSlotLost,
                           "it was to be moved from slot " + std::to_string(event.from_slot) +
                               ", which held " + run_.name(source->second.occupant)};
  }

  const RunView& run_;
  Whose whose_;
  std::vector<Finding>& out_;
  std::unordered_map<std::int32_t, Held> holder_;                       // by slot
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> places_;  // by occupant
  std::map<std::int32_t, Loss> lost_;                                   // by occupant
  std::vector<std::int32_t> needed_until_;
  std::int32_t last_step_ = -1;  // with rows
};

// Every row has the same slot: a file without the column.
bool knows_slots(const RunView& run, Whose whose) {
  std::int64_t rows = 0;
  for (const ForwardId forward : run.capture.forwards(whose))
    for (const InputRow& row : run.capture.inputs(forward, whose)) {
      ++rows;
      if (row.slot > 0) return true;
    }
  return rows == 1;
}

void check_cache(const RunView& run, Whose whose, std::vector<Finding>& out) {
  const Capture& capture = run.capture;
  Cache cache(run, whose, out);
  SlotEvents events(capture, whose);
  const bool has_slots = knows_slots(run, whose);
  for (const ForwardId forward : capture.forwards(whose)) {
    const auto rows = capture.inputs(forward, whose);
    const Tick tick =
        make_tick(forward.step, whose == Whose::kTarget ? Phase::kForward : Phase::kDraft);
    events.each_until(tick, [&](std::span<const SlotRow> changes) { cache.apply(changes); });
    cache.forward(rows, tick);
    if (!has_slots) continue;
    std::unordered_map<std::int32_t, std::int32_t> written;
    for (const InputRow& row : rows)
      if (row.slot >= 0)
        if (const auto [at, is_new] = written.emplace(row.slot, row.node);
            !is_new && at->second != row.node)
          cache.doubled(row.slot, at->second, row.node, row.step, row.row);
  }
}

}  // namespace

void check_slots(const RunView& run, std::vector<Finding>& out) {
  for (const Whose whose : run.capture.owners()) check_cache(run, whose, out);
}

}  // namespace triescope::doctor
