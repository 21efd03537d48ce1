// Mask grid: equal cells in rows and columns that fill a body, zoomed and moved within it. Pure
// geometry. Cells never grow beyond a pleasant size and may be smaller than 1 px.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "viz/canvas/canvas.h"

namespace triescope::viz {

struct MaskGrid {
  static constexpr float kWidestEm = 3.2f, kTallestEm = 2.0f;

  Rect body;
  std::size_t rows = 0, columns = 0;
  float cell_w = 1, cell_h = 1;
  Point offset;  // how far into the grid the body's top left is

  // `zoom` >= 1; `offset` is limited to what can be seen.
  static MaskGrid fit(Rect body, std::size_t rows, std::size_t columns, float em, float zoom,
                      Point offset);
  Rect cell(std::size_t row, std::size_t column) const;  // on the canvas
  std::optional<std::size_t> row_at(float y) const;
  std::optional<std::size_t> column_at(float x) const;
  // The visible ones, [first, last).
  std::pair<std::size_t, std::size_t> visible_rows() const;
  std::pair<std::size_t, std::size_t> visible_columns() const;
};

}  // namespace triescope::viz
