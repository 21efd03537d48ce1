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
  // Of a steady scene nodes that every row sees are no columns but counted here: as with the prompt there
  // is nothing to tell them apart, and the others get room for their tokens.
  std::int32_t shared = 0;

  // Gathers them where the cursor, the order or the capture changed. False: this step has no inputs
  // of the tree (prefill, or its forward is still to come). scene.capture must not be null.
  bool update(const RowSource& source, const Scene& scene, bool slot_order);

 private:
  // What they were gathered for.
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
