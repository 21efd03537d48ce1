// MaskRows: rows and columns of the shown step's mask: its forward's inputs, and the nodes that
// hold KV while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/draw/scene.h"
#include "viz/panels/row_source.h"

namespace triescope::viz {

struct MaskRows {
  std::vector<capture::InputRow> rows;
  std::vector<std::int32_t>
      columns;  // nodes: behind their ancestors, or in the order of their slots
  // In a steady scene, the number of nodes that every row sees. They are no columns: like the
  // prompt they look the same in every row, and the other nodes need the room for their tokens.
  std::int32_t shared = 0;

  // Gathers rows and columns again if the cursor, the order or the capture changed. False: the step
  // has no inputs in the tree (prefill, or its forward is still to come). scene.capture must not be
  // null.
  bool update(const RowSource& source, const Scene& scene, bool slot_order);

 private:
  // The inputs that they were gathered from.
  struct Key {
    const capture::Capture* capture = nullptr;
    RowSource source;
    capture::Tick cursor = -1;
    std::int64_t slots = -1;
    bool slot_order = false;
    bool operator==(const Key&) const = default;
  };
  Key key_;
};

// One line per row of the mask, below a header line: which nodes it sees.
std::string mask_csv(const RowSource& source, const Scene& scene, bool slot_order);

}  // namespace triescope::viz
