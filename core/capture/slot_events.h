// SlotEvents: the slot events of an owner's cache, in turn and a tick at a time. The capture may grow
// meanwhile. Borrows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/capture/capture.h"

namespace triescope::capture {

class SlotEvents {
 public:
  SlotEvents(const Capture& capture, Whose whose) : capture_(&capture), whose_(whose) {}

  // Calls apply(the events of one tick) for each tick up to `last` that no earlier call came to.
  template <class Apply>
  void each_until(Tick last, Apply apply) {
    const auto events = capture_->slot_events(whose_);
    std::size_t end = next_;
    while (end < events.size() && events[end].tick <= last) ++end;
    give(events.first(end), apply);
  }

  // Likewise, up to the last event before tick `end` that fulfils `wanted`; none, if none does.
  template <class Wanted, class Apply>
  void each_until_last(Tick end_tick, Wanted wanted, Apply apply) {
    const auto events = capture_->slot_events(whose_);
    std::size_t end = next_;
    for (std::size_t at = next_; at < events.size() && events[at].tick < end_tick; ++at)
      if (wanted(events[at])) end = at + 1;
    give(events.first(end), apply);
  }

  // How many events it has come to. Back at an earlier place it gives the later ones again.
  std::size_t place() const { return next_; }
  void go_back(std::size_t place) { next_ = place; }

 private:
  template <class Apply>
  void give(std::span<const SlotRow> events, Apply apply) {
    while (next_ < events.size()) {
      std::size_t end = next_;
      while (end < events.size() && events[end].tick == events[next_].tick) ++end;
      apply(events.subspan(next_, end - next_));
      next_ = end;
    }
  }

  const Capture* capture_;
  Whose whose_;
  std::size_t next_ = 0;
};

}  // namespace triescope::capture
