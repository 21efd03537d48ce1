#include "core/tree/slot_store.h"

#include <utility>

namespace triescope {

using capture::SlotAction;

SlotStore::SlotStore(std::unique_ptr<KvStorage> storage, bool record, std::int32_t front)
    : storage_(std::move(storage)), record_(record), front_(front) {}

void SlotStore::reserve(std::int32_t count) {
  if (count + front_ > storage_->capacity())
    with_memory(memory_wait_, [&] { storage_->reserve(count + front_); });
  if (count > size()) slots_.resize(index(count));
}

void SlotStore::set_use(Slot& slot, SlotUse use) {
  live_ += (use == SlotUse::kLive) - (slot.use == SlotUse::kLive);
  garbage_ += (use == SlotUse::kGarbage) - (slot.use == SlotUse::kGarbage);
  slot.use = use;
  if (use == SlotUse::kFree) {
    slot.occupant = -1;
  } else {
    slot.used_before = true;
  }
}

void SlotStore::set_slot_of(std::int32_t occupant, SlotId slot) {
  if (occupant < 0) return;  // the prompt, or nobody
  slot_of_.grow(occupant + 1);
  slot_of_[NodeId(occupant)] = slot;
}

void SlotStore::leave(std::int32_t slot) {
  const std::int32_t who = slots_[index(slot)].occupant;
  if (who >= 0 && slot_of(NodeId(who)) == SlotId(slot)) set_slot_of(who, SlotId());
}

void SlotStore::record(SlotAction action, std::int32_t slot, std::int32_t occupant,
                       std::int32_t from) {
  if (record_)
    events_.push_back({.action = action, .slot = slot, .node = occupant, .from_slot = from});
}

void SlotStore::take(std::int32_t slot, std::int32_t occupant) {
  Slot& s = slots_[index(slot)];
  record(s.used_before ? SlotAction::kReuse : SlotAction::kAlloc, slot, occupant);
  set_use(s, SlotUse::kLive);
  s.occupant = occupant;
  set_slot_of(occupant, SlotId(slot));
}

void SlotStore::mark_garbage(std::int32_t slot) {
  Slot& s = slots_[index(slot)];
  leave(slot);
  record(SlotAction::kGarbage, slot, s.occupant);
  set_use(s, SlotUse::kGarbage);
}

void SlotStore::release(std::int32_t slot) {
  Slot& s = slots_[index(slot)];
  if (s.use == SlotUse::kFree) return;
  leave(slot);
  record(SlotAction::kFree, slot, s.occupant);
  set_use(s, SlotUse::kFree);
}

std::span<const std::int32_t> SlotStore::in_storage(std::span<const std::int32_t> slots,
                                                    std::vector<std::int32_t>& buffer) const {
  if (front_ == 0) return slots;
  buffer.assign(slots.begin(), slots.end());
  for (std::int32_t& slot : buffer) slot += front_;
  return buffer;
}

void SlotStore::move(std::span<const std::int32_t> from, std::span<const std::int32_t> to) {
  if (from.empty()) return;
  std::vector<std::int32_t> from_buffer, to_buffer;
  const auto sources = in_storage(from, from_buffer), targets = in_storage(to, to_buffer);
  with_memory(memory_wait_, [&] { storage_->move(sources, targets); });
  moved_ += static_cast<std::int64_t>(from.size());
  std::vector<std::int32_t> occupants;
  occupants.reserve(from.size());
  for (const std::int32_t slot : from) occupants.push_back(occupant(slot));
  for (std::size_t i = 0; i < to.size(); ++i) {
    Slot& target = slots_[index(to[i])];
    if (target.occupant != occupants[i]) {
      record(SlotAction::kMove, to[i], occupants[i], from[i]);
      leave(to[i]);
    }
    set_use(target, SlotUse::kLive);
    target.occupant = occupants[i];
  }
  for (std::size_t i = to.size(); i-- > 0;) set_slot_of(occupants[i], SlotId(to[i]));
}

std::vector<capture::SlotRow> SlotStore::take_events() { return std::exchange(events_, {}); }

}  // namespace triescope
