#include "core/capture/cache_contents.h"

#include <algorithm>
#include <limits>

namespace triescope::capture {

CacheContents::CacheContents(const Capture& capture, Whose whose)
    : capture_(&capture), whose_(whose), events_(capture, whose) {
  const auto prompt = static_cast<std::int32_t>(capture.run().prompt_tokens.size());
  for (std::int32_t i = 0; i < prompt; ++i) unplaced_.insert(-2 - i);
  unwritten_prompt_ = unplaced_;
  // A head's cache begins behind the prompt's first token.
  if (whose == Whose::kHead) unwritten_prompt_.erase(-2);
  prompt_known_from_ = unwritten_prompt_.empty() ? 0 : std::numeric_limits<std::size_t>::max();
}

std::span<const std::int32_t> CacheContents::slots_of(std::int32_t occupant) const {
  const auto at = slots_.find(occupant);
  return at == slots_.end() ? std::span<const std::int32_t>() : at->second;
}

void CacheContents::set(std::int32_t slot, std::int32_t occupant) {
  if (const auto now = occupants_.find(slot); now != occupants_.end()) {
    const std::int32_t before = now->second;
    std::vector<std::int32_t>& places = slots_[before];
    std::erase(places, slot);
    if (is_on_path(before)) {
      path_slots_.remove(slot);
      is_changed_ = true;
      if (places.empty()) unplaced_.insert(before);
    }
  }
  if (occupant == -1) {
    occupants_.erase(slot);
    return;
  }
  occupants_[slot] = occupant;
  slots_[occupant].push_back(slot);
  if (is_on_path(occupant)) {
    path_slots_.add(slot);
    is_changed_ = true;
    unplaced_.erase(occupant);
  }
}

void CacheContents::write(std::int32_t slot, std::int32_t occupant) {
  if (slot < 0 || occupant == -1 || occupant == 0) return;
  const auto now = occupants_.find(slot);
  const std::int32_t before = now == occupants_.end() ? -1 : now->second;
  if (before == occupant) return;
  writes_.push_back({slot, before});
  set(slot, occupant);
}

// The events of one tick: moves read before any of them writes.
void CacheContents::apply(std::span<const SlotRow> events) {
  std::unordered_map<std::int32_t, std::int32_t> before;
  for (const SlotRow& event : events)
    if (event.action == SlotAction::kMove)
      if (const auto now = occupants_.find(event.from_slot); now != occupants_.end())
        before[event.from_slot] = now->second;
  for (const SlotRow& event : events) {
    if (event.action == SlotAction::kAlloc || event.action == SlotAction::kReuse) {
      write(event.slot, event.node);
    } else if (event.action == SlotAction::kMove) {
      const auto from = before.find(event.from_slot);
      write(event.slot, from == before.end() ? event.node : from->second);
    }
  }
}

void CacheContents::run_next() {
  const ForwardId at = capture_->forwards(whose_)[next_forward_];
  marks_.resize(next_forward_);
  marks_.push_back({writes_.size(), events_.place()});
  const auto apply_events = [&](std::span<const SlotRow> events) { apply(events); };
  const auto rows = capture_->inputs(at, whose_);
  if (whose_ == Whose::kTarget) {
    // A step's commit comes behind the target's forward.
    events_.each_until(make_tick(at.step, Phase::kForward), apply_events);
  } else {
    // Others run several forwards in one phase: its events up to those of this forward's rows.
    events_.each_until(make_tick(at.step, Phase::kDraft) - 1, apply_events);
    std::unordered_map<std::int32_t, std::int32_t> wanted;
    for (const InputRow& row : rows) wanted.emplace(row.slot, row.node);
    events_.each_until_last(
        make_tick(at.step + 1, Phase::kDraft),
        [&](const SlotRow& event) {
          const auto found = wanted.find(event.slot);
          return (event.action == SlotAction::kAlloc || event.action == SlotAction::kReuse) &&
                 found != wanted.end() && found->second == event.node;
        },
        apply_events);
  }
  ++next_forward_;
  for (const InputRow& row : rows) {
    write(row.slot, row.node);
    if (row.node <= -2 && unwritten_prompt_.erase(row.node) > 0 && unwritten_prompt_.empty())
      prompt_known_from_ = next_forward_ - 1;
  }
}

void CacheContents::go_to(ForwardId forward) {
  const auto forwards = capture_->forwards(whose_);
  const auto until = static_cast<std::size_t>(
      std::ranges::upper_bound(forwards, std::pair(forward.step, forward.forward), {},
                               [](ForwardId id) { return std::pair(id.step, id.forward); }) -
      forwards.begin());
  if (next_forward_ > until) {
    const Mark mark = marks_[until];
    while (writes_.size() > mark.writes) {
      set(writes_.back().slot, writes_.back().before);
      writes_.pop_back();
    }
    events_.go_back(mark.events);
    next_forward_ = until;
  }
  while (next_forward_ < until) run_next();
}

void CacheContents::choose_path(std::int32_t node) {
  const auto nodes = capture_->nodes();
  const auto parent = [&](std::int32_t of) { return nodes[static_cast<std::size_t>(of)].parent; };
  node = std::max(node, 0);
  on_path_.resize(nodes.size(), false);
  if (path_node_ > 0 && node != path_node_ && !capture_->is_on_path(path_node_, node)) {
    for (std::int32_t one = path_node_; one > 0; one = parent(one)) {
      on_path_[static_cast<std::size_t>(one)] = false;
      unplaced_.erase(one);
      for (const std::int32_t slot : slots_of(one)) path_slots_.remove(slot);
    }
    is_changed_ = true;
    path_node_ = 0;
  }
  for (std::int32_t one = node; one > 0 && one != path_node_; one = parent(one)) {
    on_path_[static_cast<std::size_t>(one)] = true;
    if (slots_of(one).empty()) unplaced_.insert(one);
    for (const std::int32_t slot : slots_of(one)) path_slots_.add(slot);
    is_changed_ = true;
  }
  path_node_ = node;
}

const SlotRuns& CacheContents::path_slots() {
  if (is_changed_) path_runs_ = path_slots_.runs();
  is_changed_ = false;
  return path_runs_;
}

}  // namespace triescope::capture
