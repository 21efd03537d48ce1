// RowFaults: where a capture's rows are recorded otherwise than the tree asks for: what they attended to, where
// they stand, and what became of the KV that they need. The doctor reports it; pictures mark it. Made and kept
// by the Capture (Capture::row_faults()), which may grow.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/capture/row_marks.h"
#include "core/capture/row_positions.h"
#include "core/capture/row_sight.h"
#include "core/capture/slot_faults.h"

namespace triescope::capture {

struct RowSight {
  const SeenRow* seen = nullptr;  // null: nothing was recorded, so it is taken to be as asked
  std::vector<SightFault> faults;
};

class RowFaults {
 public:
  explicit RowFaults(const Capture& capture) : capture_(&capture) {}

  void extend();  // reads what the capture has gained

  // The steps with such a fault, ascending.
  std::span<const std::int32_t> sight_steps(Whose whose) const { return of(whose).sight_steps; }
  std::span<const std::int32_t> position_steps(Whose whose) const {
    return of(whose).position_steps;
  }
  std::span<const std::int32_t> slot_steps(Whose whose) const { return of(whose).slot_steps; }

  // What the rows of a step attended to, row by row as Capture::inputs() has them. It keeps the step that
  // was asked for last. At most kMostOfStep faults are told.
  std::span<const RowSight> sights(std::int32_t step, Whose whose) const;
  static constexpr std::size_t kMostOfStep = 1 << 18;
  // The slots that the tree asks a row to attend to.
  SlotRuns asked_slots(const InputRow& row) const;
  const RowPositions& positions(Whose whose) const { return of(whose).positions; }
  // A step's faults of slots, by the tick in which they happened. A run that goes on is looked at again now and then.
  std::vector<SlotFault> slots(std::int32_t step, Whose whose) const;

  // How the newest row of a node before `cursor` differs from what the tree asks for, and its KV until then.
  RowMark mark(std::int32_t node, Tick cursor, Whose whose) const;
  // Whether any row before `cursor` has the mark.
  bool has_mark(RowMark mark, Tick cursor, Whose whose) const;

 private:
  struct Owner {
    explicit Owner(const Capture& capture, Whose whose)
        : positions(capture, whose), sights(capture, whose), shown(capture, whose) {}
    RowPositions positions;
    RowSights sights;              // goes along the run
    mutable RowSights shown;       // goes where it is asked about
    std::size_t next_forward = 0;  // that sights has not judged
    RowMarks sight_marks, position_marks, slot_marks;
    std::size_t next_position = 0;  // the forward that position_marks has not judged
    std::int32_t shift = 0;         // of the positions, for which position_marks was made
    std::vector<std::int32_t> sight_steps, position_steps, slot_steps;
    std::vector<SlotFault> slot_faults;
    std::size_t rows_followed = 0;  // forwards and events when slot_faults was made
  };
  const Owner& of(Whose whose) const { return *owners_[static_cast<std::size_t>(whose)]; }
  void extend(Owner& owner, Whose whose);
  void judge_sights(Owner& owner, Whose whose);
  void judge_positions(Owner& owner, Whose whose);

  const Capture* capture_;
  std::array<std::unique_ptr<Owner>, kWhoseCount> owners_;
  mutable std::int32_t shown_step_ = -1;
  mutable Whose shown_whose_ = Whose::kTarget;
  mutable std::vector<RowSight> shown_;
};

}  // namespace triescope::capture
