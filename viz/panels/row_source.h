// RowSource: where a panel gets the rows that belong to a model: what its forwards read, which KV
// slots it holds, what it keeps in memory. A panel has one such value in its state and asks for
// these rows through it alone. Today every row of a capture is the target model's; what says whose
// rows are drawn will be a member here, and reach every question below.
#pragma once

#include <cstdint>
#include <span>

#include "core/capture/capture.h"

namespace triescope::viz {

struct RowSource {
  std::span<const capture::InputRow> inputs(const capture::Capture& capture,
                                            std::int32_t step) const {
    return capture.inputs(step);
  }
  std::span<const capture::SlotRow> slot_events(const capture::Capture& capture,
                                                std::int32_t step) const {
    return capture.slot_events(step);
  }
  std::span<const capture::MemoryRow> memory(const capture::Capture& capture) const {
    return capture.memory();
  }
  std::int32_t slot_count_at(const capture::Capture& capture, capture::Tick tick) const {
    return capture.slot_count_at(tick);
  }
  capture::SlotView slot_at(const capture::Capture& capture, std::int32_t slot,
                            capture::Tick tick) const {
    return capture.slot_at(slot, tick);
  }
  std::int32_t slot_of(const capture::Capture& capture, std::int32_t node,
                       capture::Tick tick) const {
    return capture.slot_of(node, tick);
  }
};

}  // namespace triescope::viz
