// The slot events of an owner's cache, in turn and a tick at a time: what the checks of masks and of
// slots follow from forward to forward. Copies the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::doctor {

class SlotEvents {
 public:
  SlotEvents(const capture::Capture& capture, capture::Whose whose) {
    for (std::int32_t step = 0; step <= capture.last_step(); ++step) {
      const auto of_step = capture.slot_events(step, whose);
      events_.insert(events_.end(), of_step.begin(), of_step.end());
    }
  }

  // Calls apply(the events of one tick) for each tick up to `last` that no earlier call came to.
  template <class Apply>
  void each_until(capture::Tick last, Apply apply) {
    while (next_ < events_.size() && events_[next_].tick <= last) {
      std::size_t end = next_;
      while (end < events_.size() && events_[end].tick == events_[next_].tick) ++end;
      apply(std::span<const capture::SlotRow>(events_).subspan(next_, end - next_));
      next_ = end;
    }
  }

 private:
  std::vector<capture::SlotRow> events_;
  std::size_t next_ = 0;
};

}  // namespace triescope::doctor
