#include "core/capture/row_sight.h"

#include <algorithm>

namespace triescope::capture {
namespace {

std::int32_t parent_of(const Capture& capture, std::int32_t node) {
  return capture.nodes()[static_cast<std::size_t>(node)].parent;
}
std::int32_t depth_of(const Capture& capture, std::int32_t node) {
  return node <= 0 ? 0 : capture.nodes()[static_cast<std::size_t>(node)].depth;
}

std::int32_t common_ancestor(const Capture& capture, std::int32_t a, std::int32_t b) {
  while (a > 0 && depth_of(capture, a) > depth_of(capture, b)) a = parent_of(capture, a);
  while (b > 0 && depth_of(capture, b) > depth_of(capture, a)) b = parent_of(capture, b);
  while (a != b && a > 0 && b > 0) {
    a = parent_of(capture, a);
    b = parent_of(capture, b);
  }
  return a == b ? std::max(a, 0) : 0;
}

}  // namespace

std::string relation_text(const Capture& capture, std::int32_t node, std::int32_t occupant) {
  if (occupant == node) return "itself";
  if (capture.is_on_path(occupant, node))
    return occupant <= -2 ? "a token of the prompt" : "its own ancestor";
  if (occupant <= -2 || node <= -2 || capture.is_on_path(node, occupant))
    return "a later token of its own text";
  const std::int32_t both = common_ancestor(capture, node, occupant);
  const std::int32_t down = depth_of(capture, node) - depth_of(capture, both),
                     across = depth_of(capture, occupant) - depth_of(capture, both);
  if (across == 1) {
    if (down == 1) return "its sibling";
    return down == 2 ? "the sibling of its parent" : "a sibling of one of its ancestors";
  }
  if (down == 1) return across == 2 ? "a child of its sibling" : "on the branch of its sibling";
  return "on another branch";
}

std::string sight_fault_text(const Capture& capture, std::int32_t node, const SightFault& fault) {
  switch (fault.kind) {
    case SightFaultKind::kUnwritten:
      return "nothing was written there";
    case SightFaultKind::kBeforeWindow:
      return "before the sliding window";
    case SightFaultKind::kStale:
      return "refused or freed before this step (stale KV)";
    default:
      return relation_text(capture, node, fault.occupant);
  }
}

RowSights::RowSights(const Capture& capture, Whose whose)
    : capture_(&capture), whose_(whose), contents_(capture, whose) {}

void RowSights::go_to(ForwardId forward) {
  if (forward == forward_) return;
  forward_ = forward;
  contents_.go_to(forward);
  // The nodes that all rows have above them are looked up once.
  std::int32_t common = -1;
  for (const InputRow& row : capture_->inputs(forward, whose_))
    if (row.node > 0) common = common < 0 ? row.node : common_ancestor(*capture_, common, row.node);
  contents_.choose_path(common);
}

// A capture knows the target's window alone.
std::int32_t RowSights::window() const {
  return whose_ == Whose::kTarget ? capture_->run().sliding_window : 0;
}

std::int32_t RowSights::place_of(const InputRow& row) const {
  const std::int32_t place = capture_->position_of(row.node);
  return place >= 0 ? place : static_cast<std::int32_t>(capture_->run().prompt_tokens.size()) - 1;
}

bool RowSights::is_in_window(std::int32_t occupant, const InputRow& row) const {
  return window() == 0 || place_of(row) - capture_->position_of(occupant) < window();
}

// A prompt of which not every token was written by a row may lie anywhere. A head's cache begins behind
// its first token.
bool RowSights::is_required(std::int32_t occupant) const {
  return occupant > 0 || (contents_.knows_prompt() && !(whose_ == Whose::kHead && occupant == -2));
}

SlotRuns RowSights::asked(const InputRow& row) {
  const std::int32_t common = contents_.path_node();
  SlotRuns runs;
  if (row.node > 0 && window() == 0) {
    std::vector<std::int32_t> own;
    for (std::int32_t node = row.node; node > 0 && node != common;
         node = parent_of(*capture_, node)) {
      const auto slots = contents_.slots_of(node);
      own.insert(own.end(), slots.begin(), slots.end());
    }
    std::ranges::sort(own);
    const SlotRuns& shared = contents_.path_slots();
    runs.reserve(shared.size() + 2 * own.size());
    const auto add = [&](std::int32_t first, std::int32_t last) {
      if (!runs.empty() && first <= runs.back() + 1)
        runs.back() = std::max(runs.back(), last);
      else
        runs.insert(runs.end(), {first, last});
    };
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < shared.size(); i += 2) {
      for (; next < own.size() && own[next] < shared[i]; ++next) add(own[next], own[next]);
      add(shared[i], shared[i + 1]);
    }
    for (; next < own.size(); ++next) add(own[next], own[next]);
    return runs;
  }
  // A row of the prompt, or one with a window: token by token, from its own backwards.
  SlotSet slots;
  const std::int32_t own = place_of(row);
  const std::int32_t from = window() == 0 ? 0 : std::max(0, own - window() + 1);
  std::int32_t node = row.node;
  for (std::int32_t position = own; position >= from; --position) {
    const std::int32_t occupant = node > 0 ? node : -2 - position;
    for (const std::int32_t slot : contents_.slots_of(occupant)) slots.add(slot);
    if (node > 0) node = parent_of(*capture_, node);
  }
  return slots.runs();
}

template <class Visit>
void RowSights::each_missing(const InputRow& row, const SlotRuns& asked, const SeenRow& seen,
                             Visit visit) {
  const auto tell = [&](std::int32_t slot, std::int32_t occupant) {
    const SightFaultKind kind = occupant == row.node ? SightFaultKind::kNotItself
                                : occupant <= -2     ? SightFaultKind::kNotPrompt
                                                     : SightFaultKind::kNotAncestor;
    return visit(SightFault{kind, slot, occupant});
  };
  // Itself first: it is one of very many, where a row sees nothing.
  const auto own_slots = contents_.slots_of(row.node);
  const bool sees_itself = std::ranges::any_of(
      own_slots, [&](std::int32_t slot) { return holds_slot(seen.slots, slot); });
  bool goes_on = sees_itself || row.node == 0 || row.node == -1 || !is_required(row.node) ||
                 tell(own_slots.empty() ? -1 : std::ranges::min(own_slots), row.node);
  const auto& occupants = contents_.occupants();
  if (!goes_on) return;
  for_each_run_without(asked, seen.slots, [&](std::int32_t first, std::int32_t last) {
    for (auto at = occupants.lower_bound(first);
         goes_on && at != occupants.end() && at->first <= last; ++at) {
      const auto [slot, occupant] = *at;
      if (occupant == row.node || !is_required(occupant)) continue;
      // Any copy will do, and all that are missing are one fault.
      const auto copies = contents_.slots_of(occupant);
      if (copies.size() > 1 &&
          (slot != std::ranges::min(copies) || std::ranges::any_of(copies, [&](std::int32_t copy) {
             return holds_slot(seen.slots, copy);
           })))
        continue;
      goes_on = tell(slot, occupant);
    }
    return goes_on;
  });
  const std::int32_t own = place_of(row);
  for (const std::int32_t occupant : contents_.unplaced()) {
    if (!goes_on) return;
    if (occupant != row.node && is_required(occupant) && capture_->position_of(occupant) <= own &&
        is_in_window(occupant, row))
      goes_on = tell(-1, occupant);
  }
  for (std::int32_t node = row.node; goes_on && node > 0 && node != contents_.path_node();
       node = parent_of(*capture_, node))
    if (node != row.node && contents_.slots_of(node).empty() && is_in_window(node, row))
      goes_on = tell(-1, node);
}

bool RowSights::is_right(const InputRow& row) {
  const SeenRow* const seen = capture_->seen(row);
  if (seen == nullptr) return true;
  go_to({row.step, row.forward});
  const SlotRuns wanted = asked(row);
  bool is_right = true;
  const auto& occupants = contents_.occupants();
  for_each_run_without(seen->slots, wanted, [&](std::int32_t first, std::int32_t last) {
    const auto known = occupants.lower_bound(first);
    is_right = !contents_.knows_prompt() && (known == occupants.end() || known->first > last);
    return is_right;
  });
  if (is_right)
    each_missing(row, wanted, *seen, [&](const SightFault&) { return is_right = false; });
  return is_right;
}

SightFault RowSights::classified(const InputRow& row, std::int32_t slot,
                                 std::int32_t occupant) const {
  const Capture& capture = *capture_;
  // Up to what all rows have above them the path is known; behind it, it is short.
  const bool is_ancestor =
      row.node > 0 && occupant > 0 &&
              depth_of(capture, occupant) <= depth_of(capture, contents_.path_node())
          ? contents_.is_on_path(occupant)
          : capture.is_on_path(occupant, row.node);
  const auto kind = [&] {
    if (is_ancestor) return SightFaultKind::kBeforeWindow;
    if (occupant <= -2 || capture.is_on_path(row.node, occupant)) return SightFaultKind::kLater;
    const Tick now = make_tick(row.step, Phase::kForward);
    const Tick born = capture.nodes()[static_cast<std::size_t>(occupant)].tick;
    if (step_of(born) < row.step && (is_dead(capture.state_at(occupant, now)) ||
                                     capture.slot_at(slot, now, whose_).state != SlotState::kLive))
      return SightFaultKind::kStale;
    return row.node > 0 && parent_of(capture, row.node) == parent_of(capture, occupant)
               ? SightFaultKind::kSibling
               : SightFaultKind::kBranch;
  };
  return {kind(), slot, occupant};
}

std::vector<SightFault> RowSights::faults(const InputRow& row, std::size_t most) {
  std::vector<SightFault> found;
  const SeenRow* const seen = capture_->seen(row);
  if (seen == nullptr || most == 0) return found;
  go_to({row.step, row.forward});
  const SlotRuns wanted = asked(row);
  const auto& occupants = contents_.occupants();
  bool is_unwritten_told = !contents_.knows_prompt();
  for_each_run_without(seen->slots, wanted, [&](std::int32_t first, std::int32_t last) {
    std::int32_t next = first;
    const auto tell_unwritten = [&](std::int32_t slot) {
      if (!is_unwritten_told) found.push_back({SightFaultKind::kUnwritten, slot, -1});
      is_unwritten_told = true;
    };
    for (auto at = occupants.lower_bound(first);
         at != occupants.end() && at->first <= last && found.size() < most; ++at) {
      if (at->first > next) tell_unwritten(next);
      next = at->first + 1;
      found.push_back(classified(row, at->first, at->second));
    }
    if (found.size() < most && next <= last) tell_unwritten(next);
    return found.size() < most;
  });
  if (found.size() < most)
    each_missing(row, wanted, *seen, [&](const SightFault& fault) {
      found.push_back(fault);
      return found.size() < most;
    });
  return found;
}

}  // namespace triescope::capture
