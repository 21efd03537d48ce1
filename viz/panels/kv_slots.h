// The KV slots at a cursor, counted, and as a CSV table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/capture/row_faults.h"
#include "viz/draw/scene.h"
#include "viz/panels/row_source.h"

namespace triescope::viz {

struct KvSlots {
  int live = 0, garbage = 0, free = 0, moved = 0, reused = 0, prompt = 0;
  int pending = 0;                   // live ones whose node has no verdict yet
  int reserved = 0;                  // slots beyond the last used one
  int mask_prefix = 0;               // RowSource::mask_prefix(), not among them
  std::int32_t used = 0;             // slots below this one were used
  std::vector<std::int32_t> others;  // slots that no prompt token holds, the reserved ones last
};
KvSlots slots_at(const RowSource& source, const capture::Capture& capture, capture::Tick tick);

// The faults of KV that happened before the tick, in its step.
std::vector<capture::SlotFault> faults_at(const RowSource& source, const capture::Capture& capture,
                                          capture::Tick tick);

// The slots that were used at the scene's cursor, one row each, below a header line. A run with such faults has a
// column `expected`, which says whose KV the tree asks for in the slot.
std::string kv_csv(const RowSource& source, const Scene& scene);

}  // namespace triescope::viz
