#include "viz/layouts/mask_grid.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {
namespace {

constexpr float kShortestPx = 5;  // rows scroll rather than shrink below this

std::pair<std::size_t, std::size_t> range(float offset, float room, float size, std::size_t count) {
  const auto first = static_cast<std::size_t>(std::max(0.0f, std::floor(offset / size)));
  const auto last = static_cast<std::size_t>(std::max(0.0f, std::ceil((offset + room) / size)));
  return {std::min(first, count), std::min(last, count)};
}

}  // namespace

MaskGrid MaskGrid::fit(Rect body, std::size_t rows, std::size_t columns, float em, float zoom,
                       Point offset) {
  MaskGrid grid;
  grid.body = body;
  grid.rows = rows;
  grid.columns = columns;
  const auto r = static_cast<float>(std::max<std::size_t>(1, rows)),
             c = static_cast<float>(std::max<std::size_t>(1, columns));
  grid.cell_w = std::min(body.w / c * zoom, em * kWidestEm * 1.4f);
  if (zoom <= 1) grid.cell_w = std::min(grid.cell_w, em * kWidestEm);
  grid.cell_h = std::clamp(body.h / r * zoom, std::min(kShortestPx, body.h), em * kTallestEm);
  grid.offset = {std::clamp(offset.x, 0.0f, std::max(0.0f, c * grid.cell_w - body.w)),
                 std::clamp(offset.y, 0.0f, std::max(0.0f, r * grid.cell_h - body.h))};
  return grid;
}

Rect MaskGrid::cell(std::size_t row, std::size_t column) const {
  return {body.x - offset.x + static_cast<float>(column) * cell_w,
          body.y - offset.y + static_cast<float>(row) * cell_h, cell_w, cell_h};
}

std::optional<std::size_t> MaskGrid::row_at(float y) const {
  if (y < body.y || y >= body.bottom()) return std::nullopt;
  const auto row = static_cast<std::size_t>((y - body.y + offset.y) / cell_h);
  return row < rows ? std::optional(row) : std::nullopt;
}

std::optional<std::size_t> MaskGrid::column_at(float x) const {
  if (x < body.x || x >= body.right()) return std::nullopt;
  const auto column = static_cast<std::size_t>((x - body.x + offset.x) / cell_w);
  return column < columns ? std::optional(column) : std::nullopt;
}

std::pair<std::size_t, std::size_t> MaskGrid::visible_rows() const {
  return range(offset.y, body.h, cell_h, rows);
}
std::pair<std::size_t, std::size_t> MaskGrid::visible_columns() const {
  return range(offset.x, body.w, cell_w, columns);
}

}  // namespace triescope::viz
