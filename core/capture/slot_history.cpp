#include "core/capture/slot_history.h"

#include <algorithm>

namespace triescope::capture {

void SlotHistory::take(const SlotRow& row) {
  const auto slot = static_cast<std::size_t>(row.slot);
  if (slots_.size() <= slot) {
    slots_.resize(slot + 1);
    peak_.emplace_back(row.tick, row.slot + 1);
  }
  const bool free = row.action == SlotAction::kFree;
  const SlotState state = free                                 ? SlotState::kFree
                          : row.action == SlotAction::kGarbage ? SlotState::kGarbage
                                                               : SlotState::kLive;
  auto& history = slots_[slot];
  const std::int32_t before = history.empty() ? -1 : history.back().node;
  count(history.empty() ? SlotState::kFree : history.back().state, state, row.tick);
  history.push_back({row.tick, state, free ? -1 : row.node,
                     row.action == SlotAction::kMove ? row.from_slot : -1, row.action});
  if (before != -1 && (free || before != row.node)) leave(before, row.slot, row.tick);
  if (!free && row.node != -1) {
    auto& places = places_[row.node];
    if (places.empty() || places.back().slot != row.slot) places.push_back({row.tick, row.slot});
  }
}

void SlotHistory::count(SlotState before, SlotState after, Tick tick) {
  if (levels_.empty() || levels_.back().tick != tick) {
    KvLevel next = levels_.empty() ? KvLevel{} : levels_.back();
    next.tick = tick;
    next.peak_live = next.live;
    levels_.push_back(next);
  }
  KvLevel& level = levels_.back();
  level.live += (after == SlotState::kLive) - (before == SlotState::kLive);
  level.garbage += (after == SlotState::kGarbage) - (before == SlotState::kGarbage);
  // A commit moves survivors before it frees the slots they left: only the state at its end counts.
  if (phase_of(tick) == Phase::kCommit)
    level.peak_live = level.live;
  else
    level.peak_live = std::max(level.peak_live, level.live);
}

// The node's KV is no longer in the slot. Batch search holds several copies of a node, so another
// may remain.
void SlotHistory::leave(std::int32_t node, std::int32_t slot, Tick tick) {
  constexpr std::size_t kCopiesLookedAt = 64;
  auto& places = places_[node];
  if (places.empty() || places.back().slot != slot) return;
  std::int32_t other = -1;
  for (std::size_t i = places.size(); i-- > 0 && places.size() - i <= kCopiesLookedAt;) {
    const std::int32_t copy = places[i].slot;
    if (copy >= 0 && slots_[static_cast<std::size_t>(copy)].back().node == node) {
      other = copy;
      break;
    }
  }
  places.push_back({tick, other});
}

std::int32_t SlotHistory::count_at(Tick cursor) const {
  const auto after = std::partition_point(peak_.begin(), peak_.end(),
                                          [&](const auto& entry) { return entry.first < cursor; });
  return after == peak_.begin() ? 0 : std::prev(after)->second;
}

SlotView SlotHistory::slot_at(std::int32_t slot, Tick cursor) const {
  SlotView view;
  if (slot < 0 || slot >= static_cast<std::int32_t>(slots_.size())) return view;
  const auto& history = slots_[static_cast<std::size_t>(slot)];
  const auto after = std::partition_point(
      history.begin(), history.end(), [&](const Interval& entry) { return entry.from < cursor; });
  if (after == history.begin()) return view;
  const Interval& now = *std::prev(after);
  view.state = now.state;
  view.node = now.node;
  const std::int32_t shown = step_of(cursor - 1);
  for (auto it = after; it != history.begin() && step_of(std::prev(it)->from) == shown; --it) {
    const Interval& event = *std::prev(it);
    if (event.action == SlotAction::kMove) {
      view.moved_this_step = true;
      view.moved_from = event.moved_from;
    }
    view.reused_this_step |= event.action == SlotAction::kReuse;
  }
  return view;
}

std::int32_t SlotHistory::slot_of(std::int32_t node, Tick cursor) const {
  const auto found = places_.find(node);
  if (found == places_.end()) return -1;
  const auto& places = found->second;
  const auto after = std::partition_point(places.begin(), places.end(),
                                          [&](const Place& place) { return place.from < cursor; });
  return after == places.begin() ? -1 : std::prev(after)->slot;
}

}  // namespace triescope::capture
