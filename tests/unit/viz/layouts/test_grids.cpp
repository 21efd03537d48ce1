#include <doctest/doctest.h>

#include "viz/layouts/mask_grid.h"
#include "viz/layouts/slot_grid.h"

using namespace triescope::viz;

TEST_CASE("slot grid: whatever the number of slots, they fit, in order, without overlap") {
  for (const std::size_t slots : {1u, 7u, 60u, 500u, 4000u, 60000u}) {
    for (const auto& [w, h] : {std::pair{900.0f, 300.0f}, {260.0f, 80.0f}, {60.0f, 40.0f}}) {
      CAPTURE(slots);
      CAPTURE(w);
      const SlotGrid grid = SlotGrid::fit(w, h, slots, 14, 1);
      CHECK(grid.cells * grid.merge >= slots);
      CHECK(grid.height() <= h + SlotGrid::kMinPx);
      const Rect last = grid.cell(grid.cells - 1);
      CHECK(last.right() <= w + 0.5f);
      for (std::size_t i = 0; i < grid.cells; i += 1 + grid.cells / 50) {
        const Rect cell = grid.cell(i);
        CHECK(grid.at({cell.x + cell.w / 2, cell.y + cell.h / 2}) == i);
        if (i + 1 < grid.cells) {
          const Rect next = grid.cell(i + 1);
          CHECK((next.x >= cell.right() - 0.01f || next.y >= cell.bottom() - 0.01f));
        }
      }
      CHECK_FALSE(grid.at({-1, 0}));
      CHECK_FALSE(grid.at({0, h * 50}));
    }
  }
}

TEST_CASE("slot grid: zoom makes cells larger, and only what shows is visited") {
  const SlotGrid plain = SlotGrid::fit(600, 100, 5000, 14, 1);
  const SlotGrid zoomed = SlotGrid::fit(600, 100, 5000, 14, 4);
  CHECK(zoomed.pitch > plain.pitch);
  CHECK(zoomed.merge == 1);
  CHECK(zoomed.height() > 100);
  const auto [first, last] = zoomed.visible(200, 100, 5000);
  CHECK(first > 0);
  CHECK(last - first < 5000);
  CHECK(zoomed.cell(first).bottom() >= 200 - zoomed.pitch);
}

TEST_CASE("mask grid: cells are found where they are drawn, and the offset stays within") {
  const Rect body{100, 50, 400, 120};
  for (const float zoom : {1.0f, 3.0f}) {
    const MaskGrid grid = MaskGrid::fit(body, 9, 300, 14, zoom, {1e6f, -5});
    CHECK(grid.offset.y == 0);
    CHECK(grid.offset.x <= 300 * grid.cell_w - body.w + 0.01f);
    const auto [first, last] = grid.visible_columns();
    REQUIRE(first < last);
    for (std::size_t c = first + 1; c + 1 < last; ++c) {
      const Rect cell = grid.cell(0, c);
      CHECK(grid.column_at(cell.x + cell.w / 2) == c);
    }
    CHECK(grid.row_at(body.y + 1) == 0u);
    CHECK_FALSE(grid.row_at(body.y - 1));
    CHECK_FALSE(grid.column_at(body.right() + 1));
  }
}

TEST_CASE("mask grid: unzoomed, every column is in sight") {
  for (const std::size_t columns : {1u, 20u, 900u}) {
    const MaskGrid grid = MaskGrid::fit({0, 0, 500, 100}, 3, columns, 14, 1, {});
    CHECK(grid.visible_columns() == std::pair<std::size_t, std::size_t>{0, columns});
    CHECK(grid.cell(0, columns - 1).right() <= 500.01f);
  }
}
