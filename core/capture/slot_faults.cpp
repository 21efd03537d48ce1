// Every event of an owner's cache in turn, and at each forward whether the rows' paths are still there.
#include "core/capture/slot_faults.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "core/capture/slot_events.h"

namespace triescope::capture {
namespace {

class FollowedCache {
  struct Held {
    std::int32_t occupant;
    Tick tick;
  };

 public:
  FollowedCache(const Capture& capture, Whose whose, std::vector<SlotFault>& out)
      : capture_(capture), whose_(whose), out_(out) {
    mark_needs();
  }

  // The events of one tick.
  void apply(std::span<const SlotRow> events) {
    std::unordered_map<std::int32_t, Held> before;  // what moves read
    for (const SlotRow& event : events)
      if (event.action == SlotAction::kMove)
        if (const auto held = holder_.find(event.from_slot); held != holder_.end())
          before.insert(*held);
    for (const SlotRow& event : events) {
      switch (event.action) {
        case SlotAction::kAlloc:
        case SlotAction::kReuse:
          take(event);
          break;
        case SlotAction::kGarbage:
          lose(event, SlotFault::How::kGarbage);
          break;
        case SlotAction::kFree:
          lose(event, SlotFault::How::kFreed);
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
      if (const std::int32_t at = capture_.position_of(row.node); first < 0 || at < first)
        first = at;
    for (auto at = lost_.begin(); at != lost_.end();) {
      auto& [occupant, loss] = *at;
      if (window() > 0 && first - capture_.position_of(occupant) >= window()) {
        at = lost_.erase(at);
        continue;
      }
      const bool counts = loss.tick < tick || (whose_ == Whose::kTarget && loss.tick == tick);
      const InputRow* needs = nullptr;
      if (counts)
        for (const InputRow& row : rows)
          if (row.node != occupant && capture_.is_on_path(occupant, row.node) &&
              (window() == 0 ||
               capture_.position_of(row.node) - capture_.position_of(occupant) < window())) {
            needs = &row;
            break;
          }
      if (needs == nullptr || is_behind_window(occupant, needs->node)) {
        ++at;
        continue;
      }
      loss.needed_by = needs->node;
      loss.needed_in = needs->step;
      out_.push_back(loss);
      at = lost_.erase(at);
    }
  }

  void doubled(std::int32_t slot, std::int32_t first, std::int32_t second, Tick tick,
               std::int32_t row) {
    out_.push_back({.kind = SlotFaultKind::kTwice,
                    .tick = tick,
                    .slot = slot,
                    .occupant = first,
                    .by = second,
                    .row = row});
  }

 private:
  std::int32_t parent(std::int32_t node) const {
    return capture_.nodes()[static_cast<std::size_t>(node)].parent;
  }
  // A capture does not know another model's window. What left it is lost from the front.
  bool is_behind_window(std::int32_t occupant, std::int32_t node) const {
    if (whose_ == Whose::kTarget) return false;
    const std::int32_t until = capture_.position_of(occupant);
    const auto prompt = static_cast<std::int32_t>(capture_.run().prompt_tokens.size());
    for (std::int32_t i = 0; i < std::min(until, prompt); ++i)
      if (has_copy(-2 - i, -1)) return false;
    for (; node > 0; node = parent(node))
      if (capture_.position_of(node) < until && has_copy(node, -1)) return false;
    return true;
  }
  std::int32_t window() const {
    return whose_ == Whose::kTarget ? capture_.run().sliding_window : 0;
  }

  // The last step with a row at or below each node: KV that nothing needs later is never a fault.
  void mark_needs() {
    const auto forwards = capture_.forwards(whose_);
    needed_until_.assign(capture_.nodes().size(), -1);
    for (auto at = forwards.rbegin(); at != forwards.rend(); ++at) {
      last_step_ = std::max(last_step_, at->step);
      for (const InputRow& row : capture_.inputs(*at, whose_))
        for (std::int32_t node = row.node; node > 0; node = parent(node)) {
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
  void lose(const SlotRow& event, SlotFault::How how) {
    const auto held = holder_.find(event.slot);
    if (held == holder_.end()) return;
    const std::int32_t occupant = held->second.occupant;
    if (!is_needed(occupant, event.tick) || has_copy(occupant, event.slot)) return;
    const bool is_over = how == SlotFault::How::kWritten || how == SlotFault::How::kMovedOver;
    lost_.try_emplace(
        occupant, SlotFault{.kind = is_over ? SlotFaultKind::kOverwritten : SlotFaultKind::kLost,
                            .tick = event.tick,
                            .slot = event.slot,
                            .occupant = occupant,
                            .how = how,
                            .by = is_over ? event.node : -1});
  }
  void take(const SlotRow& event) {
    const auto held = holder_.find(event.slot);
    if (held != holder_.end() && held->second.occupant != event.node) {
      if (held->second.tick == event.tick) {
        // With rows, their slots say it.
        if (last_step_ < 0) doubled(event.slot, held->second.occupant, event.node, event.tick, -1);
      } else {
        lose(event, SlotFault::How::kWritten);
      }
    }
    put(event.slot, event.node, event.tick);
  }
  void move(const SlotRow& event, const std::unordered_map<std::int32_t, Held>& before) {
    const auto source = before.find(event.from_slot);
    const auto now = holder_.find(event.from_slot);
    const bool right = (source != before.end() && source->second.occupant == event.node) ||
                       (now != holder_.end() && now->second.occupant == event.node);
    if (const auto held = holder_.find(event.slot);
        held != holder_.end() && held->second.occupant != event.node)
      lose(event, SlotFault::How::kMovedOver);
    if (right || source == before.end()) {
      put(event.slot, event.node, event.tick);
      return;
    }
    // The KV that was copied is another node's.
    put(event.slot, source->second.occupant, event.tick);
    if (!has_copy(event.node, -1) && is_needed(event.node, event.tick))
      lost_[event.node] = {.kind = SlotFaultKind::kLost,
                           .tick = event.tick,
                           .slot = event.slot,
                           .occupant = event.node,
                           .how = SlotFault::How::kMovedWrongly,
                           .by = source->second.occupant,
                           .from_slot = event.from_slot};
  }

  const Capture& capture_;
  Whose whose_;
  std::vector<SlotFault>& out_;
  std::unordered_map<std::int32_t, Held> holder_;                       // by slot
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> places_;  // by occupant
  std::map<std::int32_t, SlotFault> lost_;                              // by occupant
  std::vector<std::int32_t> needed_until_;
  std::int32_t last_step_ = -1;  // with rows
};

// Every row has the same slot: a file without the column.
bool knows_slots(const Capture& capture, Whose whose) {
  std::int64_t rows = 0;
  for (const ForwardId forward : capture.forwards(whose))
    for (const InputRow& row : capture.inputs(forward, whose)) {
      ++rows;
      if (row.slot > 0) return true;
    }
  return rows == 1;
}

}  // namespace

std::vector<SlotFault> slot_faults(const Capture& capture, Whose whose) {
  std::vector<SlotFault> faults;
  FollowedCache cache(capture, whose, faults);
  SlotEvents events(capture, whose);
  const bool has_slots = knows_slots(capture, whose);
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
          cache.doubled(row.slot, at->second, row.node, tick, row.row);
  }
  return faults;
}

std::string slot_fault_text(const SlotFault& fault,
                            const std::function<std::string(std::int32_t)>& name) {
  const std::string slot = std::to_string(fault.slot);
  if (fault.kind == SlotFaultKind::kTwice)
    return name(fault.occupant) + " and " + name(fault.by) + " are written to slot " + slot +
           " in the same forward";
  const auto how = [&]() -> std::string {
    switch (fault.how) {
      case SlotFault::How::kWritten:
        return name(fault.by) + " was written over it";
      case SlotFault::How::kMovedOver:
        return name(fault.by) + " was moved over it";
      case SlotFault::How::kGarbage:
        return "its KV was marked as garbage";
      case SlotFault::How::kFreed:
        return "its slot was freed";
      case SlotFault::How::kMovedWrongly:
        break;
    }
    return "it was to be moved from slot " + std::to_string(fault.from_slot) + ", which held " +
           name(fault.by);
  };
  return name(fault.occupant) + " lay in slot " + slot + "; " + how() + " in the " +
         to_string(phase_of(fault.tick)) + " phase, and the row of " + name(fault.needed_by) +
         " in step " + std::to_string(fault.needed_in) + " still needs it";
}

}  // namespace triescope::capture
