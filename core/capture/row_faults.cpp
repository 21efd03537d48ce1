#include "core/capture/row_faults.h"

#include <algorithm>

namespace triescope::capture {

void RowFaults::extend() {
  for (int i = 0; i < kWhoseCount; ++i) {
    const auto whose = static_cast<Whose>(i);
    auto& owner = owners_[static_cast<std::size_t>(i)];
    if (!owner) owner = std::make_unique<Owner>(*capture_, whose);
    extend(*owner, whose);
  }
}

void RowFaults::extend(Owner& owner, Whose whose) {
  const auto forwards = capture_->forwards(whose);
  if (forwards.empty()) return;
  if (owner.next_forward < forwards.size()) {
    owner.positions.extend();
    owner.position_steps = owner.positions.faulty_steps();
    shown_step_ = -1;
  }
  for (; owner.next_forward < forwards.size(); ++owner.next_forward) {
    const ForwardId forward = forwards[owner.next_forward];
    if (!owner.sight_steps.empty() && owner.sight_steps.back() == forward.step) continue;
    const auto rows = capture_->inputs(forward, whose);
    if (std::ranges::any_of(rows, [&](const InputRow& row) { return !owner.sights.is_right(row); }))
      owner.sight_steps.push_back(forward.step);
  }
  // What is gone is a fault only once a row needs it: all is followed again when there is a quarter more, and
  // at the end.
  const std::size_t size = forwards.size() + capture_->slot_events(whose).size();
  const bool is_whole = capture_->status() != RunStatus::kRunning;
  if (size == owner.rows_followed || (!is_whole && size < owner.rows_followed * 5 / 4)) return;
  owner.rows_followed = size;
  owner.slot_faults = slot_faults(*capture_, whose);
  std::ranges::stable_sort(owner.slot_faults, {}, &SlotFault::tick);
  owner.slot_steps.clear();
  for (const SlotFault& fault : owner.slot_faults)
    if (owner.slot_steps.empty() || owner.slot_steps.back() != step_of(fault.tick))
      owner.slot_steps.push_back(step_of(fault.tick));
}

std::span<const RowSight> RowFaults::sights(std::int32_t step, Whose whose) const {
  if (step == shown_step_ && whose == shown_whose_) return shown_;
  shown_step_ = step;
  shown_whose_ = whose;
  shown_.clear();
  std::size_t left = kMostOfStep;
  for (const InputRow& row : capture_->inputs(step, whose)) {
    RowSight sight{.seen = capture_->seen(row), .faults = {}};
    if (sight.seen) sight.faults = of(whose).shown.faults(row, left);
    left -= sight.faults.size();
    shown_.push_back(std::move(sight));
  }
  return shown_;
}

SlotRuns RowFaults::asked_slots(const InputRow& row) const {
  of(row.whose).shown.go_to({row.step, row.forward});
  return of(row.whose).shown.asked(row);
}

std::vector<SlotFault> RowFaults::slots(std::int32_t step, Whose whose) const {
  const auto& faults = of(whose).slot_faults;
  const auto step_of_fault = [](const SlotFault& fault) { return step_of(fault.tick); };
  return {std::ranges::lower_bound(faults, step, {}, step_of_fault),
          std::ranges::upper_bound(faults, step, {}, step_of_fault)};
}

}  // namespace triescope::capture
