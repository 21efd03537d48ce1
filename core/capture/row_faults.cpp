#include "core/capture/row_faults.h"

#include <algorithm>

namespace triescope::capture {
namespace {

// When a forward's rows were computed.
Tick tick_of(const ForwardId& forward, Whose whose) {
  return make_tick(forward.step, whose == Whose::kTarget ? Phase::kForward : Phase::kDraft);
}

}  // namespace

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
    judge_positions(owner, whose);
    judge_sights(owner, whose);
    shown_step_ = -1;
  }
  // KV that is gone is a fault only once a row needs it. So everything is followed again when there is a quarter
  // more of it, and at the end.
  const std::size_t size = forwards.size() + capture_->slot_events(whose).size();
  const bool is_whole = capture_->status() != RunStatus::kRunning;
  if (size == owner.rows_followed || (!is_whole && size < owner.rows_followed * 5 / 4)) return;
  owner.rows_followed = size;
  owner.slot_faults = slot_faults(*capture_, whose);
  std::ranges::stable_sort(owner.slot_faults, {}, &SlotFault::tick);
  owner.slot_steps.clear();
  owner.slot_marks.clear();
  for (const SlotFault& fault : owner.slot_faults) {
    for (const std::int32_t node : {fault.occupant, fault.by})
      owner.slot_marks.add(node, fault.tick, RowMark::kRecorded);
    if (owner.slot_steps.empty() || owner.slot_steps.back() != step_of(fault.tick))
      owner.slot_steps.push_back(step_of(fault.tick));
  }
}

void RowFaults::judge_sights(Owner& owner, Whose whose) {
  const auto forwards = capture_->forwards(whose);
  for (; owner.next_forward < forwards.size(); ++owner.next_forward) {
    const ForwardId forward = forwards[owner.next_forward];
    bool is_right = true;
    for (const InputRow& row : capture_->inputs(forward, whose)) {
      RowMark mark = RowMark::kNone;
      if (!owner.sights.is_right(row)) {
        is_right = false;
        // Extra slots stand before missing ones.
        const auto first = owner.sights.faults(row, 1);
        mark = !first.empty() && is_missing(first.front().kind) ? RowMark::kMissing
                                                                : RowMark::kRecorded;
      }
      owner.sight_marks.add(row.node, tick_of(forward, whose), mark);
    }
    if (!is_right && (owner.sight_steps.empty() || owner.sight_steps.back() != forward.step))
      owner.sight_steps.push_back(forward.step);
  }
}

void RowFaults::judge_positions(Owner& owner, Whose whose) {
  owner.positions.extend();
  owner.position_steps = owner.positions.faulty_steps();
  // The positions that all rows are asked for may change as more of them come.
  if (owner.positions.shift() != owner.shift || owner.position_steps.empty()) {
    owner.shift = owner.positions.shift();
    owner.position_marks.clear();
    owner.next_position = 0;
  }
  if (owner.position_steps.empty()) return;
  const auto forwards = capture_->forwards(whose);
  for (; owner.next_position < forwards.size(); ++owner.next_position)
    for (const InputRow& row : capture_->inputs(forwards[owner.next_position], whose))
      owner.position_marks.add(row.node, tick_of(forwards[owner.next_position], whose),
                               owner.positions.is_right(row) ? RowMark::kNone : RowMark::kRecorded);
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

RowMark RowFaults::mark(std::int32_t node, Tick cursor, Whose whose) const {
  const Owner& owner = of(whose);
  RowMark graver = RowMark::kNone;
  for (const RowMarks* const marks : {&owner.sight_marks, &owner.position_marks, &owner.slot_marks})
    graver = std::max(graver, marks->at(node, cursor));
  return graver;
}

bool RowFaults::has_mark(RowMark mark, Tick cursor, Whose whose) const {
  const Owner& owner = of(whose);
  return owner.sight_marks.has(mark, cursor) || owner.position_marks.has(mark, cursor) ||
         owner.slot_marks.has(mark, cursor);
}

}  // namespace triescope::capture
