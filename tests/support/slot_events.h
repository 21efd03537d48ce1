// What a slot store told since it was last asked, as text: "alloc 3=7, move 1=7 from 3".
#pragma once

#include <string>

#include "core/tree/slot_store.h"
#include "tests/support/fake_model.h"

namespace triescope::test {

inline std::string told(SlotStore& store) {
  std::string text;
  for (const capture::SlotRow& row : store.take_events()) {
    text += (text.empty() ? "" : ", ") + std::string(capture::to_string(row.action)) + " " +
            std::to_string(row.slot) + "=" + std::to_string(row.node);
    if (row.action == capture::SlotAction::kMove) text += " from " + std::to_string(row.from_slot);
  }
  return text;
}

}  // namespace triescope::test
