// KvStrip: KV slots as cells, wrapped into the rows of a body: before or after a commit, or as they
// are. Colours and marks follow docs/colours.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/slot_grid.h"
#include "viz/panels/kv_range.h"
#include "viz/panels/row_source.h"

namespace triescope::viz {

constexpr float kStripTitleEm = 1.25f;  // above the body of a strip that has a title

struct KvStrip {
  Rect body;
  capture::Tick tick = 0;  // the slots are shown as they were before it
  std::string title;       // "" = none
  std::vector<std::int32_t> slots;
  std::vector<std::int32_t> faulty =
      {};                 // those of them where KV is not as the tree asks, ascending
  std::int32_t used = 0;  // slots below this one were used; the others are only reserved
  SlotGrid grid;
  float scroll = 0;
};

Rect cell_of(const KvStrip& strip, std::size_t cell);  // on the canvas

// `range`: slots written in it get a bar below.
void draw_strip(Canvas& canvas, const RowSource& source, const KvStrip& strip, const KvRange& range,
                const Scene& scene);
// Draws arrows from the slots before the commit to where they were moved. If there are many, only
// the focused node's are drawn. `moved` is their number.
void draw_moves(Canvas& canvas, const RowSource& source, const KvStrip& before,
                const KvStrip& after, int moved, const Scene& scene);

}  // namespace triescope::viz
