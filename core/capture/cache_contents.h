// CacheContents: who lies in each slot of an owner's cache, forward by forward: what rows wrote there and
// what was moved. A slot that was freed keeps its last occupant, because its KV is still there to be seen.
// Occupants are nodes, or prompt token i as -2 - i. Borrows the capture, which may grow meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/capture/slot_events.h"
#include "core/capture/slot_runs.h"

namespace triescope::capture {

class CacheContents {
 public:
  CacheContents(const Capture& capture, Whose whose);

  // Goes to where `forward` has written its rows. Costs what changes on the way, forwards or back.
  void go_to(ForwardId forward);

  // By slot: the slots that something was written to.
  const std::map<std::int32_t, std::int32_t>& occupants() const { return occupants_; }
  // The slots that hold an occupant: several, where a beam search copies caches.
  std::span<const std::int32_t> slots_of(std::int32_t occupant) const;
  // Whether every token of the prompt was written by a row.
  bool knows_prompt() const { return next_forward_ > prompt_known_from_; }

  // Chooses the path of `node` (0: the prompt alone) for what follows. Cheapest for a descendant of the
  // node that was chosen last.
  void choose_path(std::int32_t node);
  std::int32_t path_node() const { return path_node_; }
  bool is_on_path(std::int32_t occupant) const {
    return occupant <= -2 ||
           (occupant > 0 && static_cast<std::size_t>(occupant) < on_path_.size() &&
            on_path_[static_cast<std::size_t>(occupant)]);
  }
  // The slots that hold the prompt or a node of that path.
  const SlotRuns& path_slots();
  // Occupants of that path that lie in no slot.
  const std::set<std::int32_t>& unplaced() const { return unplaced_; }

 private:
  struct Write {
    std::int32_t slot, before;
  };
  struct Mark {
    std::size_t writes, events;
  };

  void write(std::int32_t slot, std::int32_t occupant);
  void set(std::int32_t slot, std::int32_t occupant);  // -1: nothing
  void apply(std::span<const SlotRow> events);
  void run_next();
  const Capture* capture_;
  Whose whose_;
  SlotEvents events_;
  std::size_t next_forward_ = 0;  // among capture.forwards()
  std::vector<Mark> marks_;       // by forward: before it
  std::vector<Write> writes_;     // to be undone
  std::set<std::int32_t> unwritten_prompt_;
  std::size_t prompt_known_from_;  // by forward
  std::map<std::int32_t, std::int32_t> occupants_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> slots_;  // by occupant

  std::int32_t path_node_ = 0;
  std::vector<bool> on_path_;  // by node
  SlotSet path_slots_;
  SlotRuns path_runs_;
  bool is_changed_ = false;  // since path_runs_ was made
  std::set<std::int32_t> unplaced_;
};

}  // namespace triescope::capture
