// StepRows: what one step recorded, as far as the series of a run look at it. A capture's step, or one
// that is being recorded. Borrowed rows, those of the target where a row has an owner.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/capture/capture.h"

namespace triescope::lessons {

struct StepRows {
  std::int32_t step = 0;
  std::optional<capture::StepRow> figures = {};  // nullopt = not recorded
  std::optional<capture::MemoryRow> memory = {};
  std::span<const capture::InputRow> inputs = {};
  std::span<const capture::VerdictRow> verdicts = {};
  std::span<const capture::SlotRow> slots = {};
  std::span<const capture::PhaseRow> phases = {};  // in tick order
  std::span<const capture::ExpertRow> experts = {};
};

StepRows rows_of_step(const capture::Capture& capture, std::int32_t step);

}  // namespace triescope::lessons
