// Where KV is not there that a later row needs, and where two rows of a forward share a slot. KV that is
// gone is no fault until a row needs it. Only where the recorder told what happened to its slots; two rows in
// one slot are found by the rows alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::capture {

enum class SlotFaultKind : std::uint8_t {
  kTwice = 0,    // two rows of a forward write to the slot
  kOverwritten,  // written while its KV was still needed
  kLost,         // freed, or moved wrongly
};

struct SlotFault {
  SlotFaultKind kind = SlotFaultKind::kTwice;
  Tick tick = 0;
  std::int32_t slot = -1;
  std::int32_t occupant = -1;  // whose KV is gone; kTwice: the first of the two
  enum class How : std::uint8_t { kWritten = 0, kMovedOver, kGarbage, kFreed, kMovedWrongly };
  How how = How::kWritten;
  std::int32_t by = -1;         // who was written there, or moved there
  std::int32_t from_slot = -1;  // kMovedWrongly: what was moved lay there, and was by's
  std::int32_t needed_by = -1, needed_in = -1;  // the first row that misses it, and its step
  std::int32_t row = -1;                        // kTwice: the second row; -1 = not known
};

// In the order in which they are found: not before a row needs what is gone.
std::vector<SlotFault> slot_faults(const Capture& capture, Whose whose);

// A sentence without its full stop; `name` calls an occupant by its name.
std::string slot_fault_text(const SlotFault& fault,
                            const std::function<std::string(std::int32_t)>& name);

}  // namespace triescope::capture
