// SlotStore: who occupies which KV slot. It is the one bookkeeping under all policies: it owns the
// model's KvStorage, enlarges it, counts live, garbage and reserved slots, and notes every change
// as a capture row. Policies (kv_policy.h) decide; the store carries out.
//
// An occupant is a node id, -2 - i for prompt token i, or -1 for nobody (records.h). A node has one
// slot of its own, slot_of(), even where a policy copies its KV into others. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/id_vector.h"
#include "core/base/ids.h"
#include "core/base/memory_wait.h"
#include "core/capture/records.h"
#include "core/model/model.h"

namespace triescope {

constexpr std::int32_t prompt_occupant(std::int32_t prompt_index) { return -2 - prompt_index; }

enum class SlotUse : std::uint8_t { kFree, kLive, kGarbage };

class SlotStore {
 public:
  // `record`: keep the changes for take_events(). `front`: so many slots of the storage come before
  // this store's and belong to nobody here; slot s of the store is slot s + front of the storage.
  SlotStore(std::unique_ptr<KvStorage> storage, bool record, std::int32_t front = 0);

  // reserve() and move() call `wait` when the storage is refused memory.
  void wait_for_memory(MemoryWait wait) { memory_wait_ = std::move(wait); }

  // Ensures slots 0 .. count-1 exist.
  void reserve(std::int32_t count);
  // Puts an occupant into a free slot, which becomes slot_of() a node. Recorded as reuse if the
  // slot was freed before.
  void take(std::int32_t slot, std::int32_t occupant);
  // The occupant is dead, but the slot stays taken. slot_of() no longer names it, as after
  // release().
  void mark_garbage(std::int32_t slot);
  void release(std::int32_t slot);
  // Copies KV from[i] -> to[i] as if all at once, and moves the occupants with it. A slot that is
  // not a target keeps its occupant. A node's own slot becomes the first target that it is copied
  // to. Only occupants that really change place are recorded; all copies count as moved, also those
  // onto themselves.
  void move(std::span<const std::int32_t> from, std::span<const std::int32_t> to);

  // The slot that holds a node's KV; none where it has none (any more).
  SlotId slot_of(NodeId node) const { return slot_of_.get(node); }
  std::int32_t occupant(std::int32_t slot) const { return slots_[index(slot)].occupant; }
  SlotUse use(std::int32_t slot) const { return slots_[index(slot)].use; }
  std::int32_t size() const {
    return static_cast<std::int32_t>(slots_.size());
  }  // one past the highest ever used

  std::int32_t live() const { return live_; }
  std::int32_t garbage() const { return garbage_; }
  std::int32_t reserved() const { return storage_->capacity(); }  // the front included
  std::int32_t front() const { return front_; }
  // The storage's numbers of the store's slots: `slots` itself without a front, else in `buffer`.
  std::span<const std::int32_t> in_storage(std::span<const std::int32_t> slots,
                                           std::vector<std::int32_t>& buffer) const;
  std::int64_t moved() const { return moved_; }  // slots copied since the run began

  KvStorage& storage() { return *storage_; }
  const KvStorage& storage() const { return *storage_; }
  std::int64_t bytes_per_slot() const { return storage_->bytes_per_slot(); }

  // The changes since the last call; the caller fills in their ticks.
  std::vector<capture::SlotRow> take_events();

 private:
  struct Slot {
    std::int32_t occupant = -1;
    SlotUse use = SlotUse::kFree;
    bool used_before = false;
  };
  static std::size_t index(std::int32_t slot) { return static_cast<std::size_t>(slot); }
  void set_use(Slot& slot, SlotUse use);
  void set_slot_of(std::int32_t occupant, SlotId slot);
  void leave(std::int32_t slot);  // the slot is no longer its occupant's own
  void record(capture::SlotAction action, std::int32_t slot, std::int32_t occupant,
              std::int32_t from = -1);

  std::unique_ptr<KvStorage> storage_;
  bool record_;
  std::int32_t front_;
  MemoryWait memory_wait_;
  std::vector<Slot> slots_;
  IdVector<NodeId, SlotId> slot_of_;
  std::vector<capture::SlotRow> events_;
  std::int32_t live_ = 0, garbage_ = 0;
  std::int64_t moved_ = 0;
};

}  // namespace triescope
