// KV slots: KV that is gone although a later row needs it, and two rows in one slot.
#include "core/capture/slot_faults.h"
#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

struct SlotFaultWords {
  Code code;
  const char* kind;
};

SlotFaultWords words_of(SlotFaultKind kind) {
  switch (kind) {
    case SlotFaultKind::kTwice:
      return {Code::kSlotDouble, "two nodes in one slot"};
    case SlotFaultKind::kOverwritten:
      return {Code::kSlotClobbered, "a slot is written while its KV is still needed"};
    case SlotFaultKind::kLost:
      break;
  }
  return {Code::kSlotLost, "KV is gone that later rows need"};
}

}  // namespace

void check_slots(const RunView& run, std::vector<Finding>& out) {
  for (const Whose whose : run.capture.owners())
    for (const SlotFault& fault : slot_faults(run.capture, whose)) {
      const SlotFaultWords words = words_of(fault.kind);
      out.push_back(
          {.code = words.code,
           .step = step_of(fault.tick),
           .node = fault.kind == SlotFaultKind::kTwice ? fault.by : fault.occupant,
           .row = fault.row,
           .slot = fault.slot,
           .whose = whose,
           .kind = words.kind,
           .text = slot_fault_text(fault, [&](std::int32_t one) { return run.name(one); }),
           .sure = Sure::kCertain});
    }
}

}  // namespace triescope::doctor
