// The history of the KV cache: what every slot held and when, and where every node's KV lay. It is
// built from a capture's slot events as they are read, and answers for any cursor. Not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/records.h"

namespace triescope::capture {

class SlotHistory {
 public:
  void take(const SlotRow& row);  // in order of time

  std::int32_t count_at(Tick cursor) const;  // highest slot used before `cursor`, plus one
  SlotView slot_at(std::int32_t slot, Tick cursor) const;
  std::int32_t slot_of(std::int32_t node, Tick cursor) const;  // -1 = no KV is held
  const std::vector<KvLevel>& levels() const { return levels_; }

 private:
  struct Interval {
    Tick from;
    SlotState state;
    std::int32_t node, moved_from;
    SlotAction action;
  };
  struct Place {
    Tick from;
    std::int32_t slot;
  };

  void count(SlotState before, SlotState after, Tick tick);
  void leave(std::int32_t node, std::int32_t slot, Tick tick);

  std::vector<std::vector<Interval>> slots_;                     // by slot, by time
  std::unordered_map<std::int32_t, std::vector<Place>> places_;  // by node, by time
  std::vector<std::pair<Tick, std::int32_t>> peak_;  // (tick, highest slot + 1), growing
  std::vector<KvLevel> levels_;
};

}  // namespace triescope::capture
