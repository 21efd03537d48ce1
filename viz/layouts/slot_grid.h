// Slot grid: a long strip of slots wrapped into rows of a given width, in cells as large as fit but
// at least 4 px. Where even those do not fit, several slots share a cell. Pure geometry.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

struct SlotGrid {
  static constexpr float kWidestEm = 3.5f, kTallestEm = 2.1f;
  static constexpr float kMinPx = 4;

  std::size_t columns = 1, cells = 0;
  std::size_t merge = 1;  // slots per cell
  float width = 1, pitch = 1, gap = 1;

  // `zoom` >= 1 makes cells larger than what fits; the grid is then taller than `h`.
  static SlotGrid fit(float w, float h, std::size_t slots, float em, float zoom);

  Rect cell(std::size_t i) const;                // from the grid's top left
  std::optional<std::size_t> at(Point p) const;  // cell under a point
  float height() const;
  // The cells [first, last) that are visible between `scroll` and `scroll + h`.
  std::pair<std::size_t, std::size_t> visible(float scroll, float h, std::size_t count) const;
};

}  // namespace triescope::viz
