#include <doctest/doctest.h>

#include "viz/layouts/mask_grid.h"
#include "viz/layouts/slot_grid.h"

namespace test_grids {

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

TEST_CASE("slot grid: the largest cells that fit, to the px") {
  const SlotGrid ten = SlotGrid::fit(350, 21, 10, 10, 1);
  CHECK(ten.width == 35);
  CHECK(ten.pitch == doctest::Approx(21));
  CHECK(ten.gap == 2);
  CHECK(ten.columns == 10);
  CHECK(ten.cells == 10);
  CHECK(ten.merge == 1);
  CHECK(ten.cell(3).x == 106);
  CHECK(ten.cell(3).y == 1);
  CHECK(ten.cell(3).w == 33);
  CHECK(ten.cell(3).h == doctest::Approx(19));
  // One more slot makes all cells smaller.
  const SlotGrid eleven = SlotGrid::fit(350, 21, 11, 10, 1);
  CHECK(eleven.width == 28);
  CHECK(eleven.pitch == 20);
  CHECK(eleven.columns == 12);
  // Gaps follow the cells' height.
  CHECK(SlotGrid::fit(10, 10, 1, 10, 1).gap == 2);
  CHECK(SlotGrid::fit(7.5f, 7.5f, 1, 10, 1).gap == 1);
  CHECK(SlotGrid::fit(5.5f, 5.5f, 1, 10, 1).gap == 0.5f);
}

TEST_CASE("slot grid: where the smallest cells do not fit, slots share them, all of them") {
  const SlotGrid even = SlotGrid::fit(40, 8, 1000, 10, 1);
  CHECK(even.width == 4);
  CHECK(even.pitch == 4);
  CHECK(even.columns == 10);
  CHECK(even.merge == 50);
  CHECK(even.cells == 20);
  CHECK(even.height() == 8);
  const SlotGrid odd = SlotGrid::fit(40, 8, 1001, 10, 1);
  CHECK(odd.merge == 51);
  CHECK(odd.cells == 20);
  CHECK(SlotGrid::fit(40, 8, 20, 10, 1).merge == 1);
}

TEST_CASE("slot grid: cells of 6 px keep a gap of one, and beside a row there is no cell") {
  const SlotGrid grid = SlotGrid::fit(60, 12, 20, 6, 1);
  CHECK(grid.pitch == 6);
  CHECK(grid.gap == 1);
  CHECK(grid.columns == 10);
  CHECK(grid.at({59, 1}) == 9u);
  CHECK(grid.at({1, 7}) == 10u);
  CHECK_FALSE(grid.at({61, 1}));  // not the first of the next row
  CHECK_FALSE(grid.at({1, 13}));
  CHECK_FALSE(grid.at({-1, 1}));
}

TEST_CASE("slot grid: zoomed cells stop at one and a half times the widest") {
  const SlotGrid grid = SlotGrid::fit(350, 21, 10, 10, 1.2f);
  CHECK(grid.width == doctest::Approx(42));
  CHECK(grid.pitch == doctest::Approx(25.2));
  CHECK(grid.columns == 8);
  const SlotGrid most = SlotGrid::fit(350, 21, 10, 10, 9);
  CHECK(most.width == doctest::Approx(52.5));
  CHECK(most.pitch == doctest::Approx(25.2));
  CHECK(most.columns == 6);
  CHECK(most.height() == doctest::Approx(2 * 25.2));
}

TEST_CASE("slot grid: points belong to the cell that begins at or before them") {
  const SlotGrid grid = SlotGrid::fit(350, 21, 10, 10, 1);
  CHECK(grid.at({0, 0}) == 0u);
  CHECK(grid.at({34.9f, 20}) == 0u);
  CHECK(grid.at({35, 0}) == 1u);
  CHECK(grid.at({349, 0}) == 9u);
  CHECK_FALSE(grid.at({350, 0}));
  CHECK_FALSE(grid.at({0, 22}));
  CHECK_FALSE(grid.at({5, -0.1f}));
  CHECK_FALSE(grid.at({-0.1f, 5}));
}

TEST_CASE("slot grid: what shows is whole rows, and no more than there are") {
  SlotGrid grid;
  grid.columns = 10;
  grid.pitch = 20;
  grid.cells = 100;
  using Range = std::pair<std::size_t, std::size_t>;
  CHECK(grid.visible(0, 20, 100) == Range{0, 10});
  CHECK(grid.visible(20, 20, 100) == Range{10, 20});
  CHECK(grid.visible(19, 20, 100) == Range{0, 20});
  CHECK(grid.visible(0, 21, 15) == Range{0, 15});
  CHECK(grid.visible(400, 20, 100) == Range{100, 100});
  CHECK(grid.height() == 200);
  grid.cells = 101;
  CHECK(grid.height() == 220);
}

TEST_CASE("mask grid: cells, offsets and what shows, to the px") {
  const MaskGrid wide = MaskGrid::fit({100, 50, 400, 120}, 3, 10, 10, 1, {});
  CHECK(wide.cell_w == 32);  // limited, because wider cells look worse
  CHECK(wide.cell_h == 20);
  CHECK(MaskGrid::fit({100, 50, 400, 120}, 3, 10, 10, 2, {}).cell_w == doctest::Approx(44.8));
  CHECK(MaskGrid::fit({0, 0, 400, 120}, 60, 10, 10, 1, {}).cell_h == 5);  // rows scroll from here
  CHECK(MaskGrid::fit({0, 0, 400, 3}, 60, 10, 10, 1, {}).cell_h == 3);

  const MaskGrid grid = MaskGrid::fit({0, 0, 100, 50}, 20, 10, 10, 2, {25, 10});
  CHECK(grid.cell_w == 20);
  CHECK(grid.cell_h == 5);
  CHECK(grid.offset.x == 25);
  CHECK(grid.offset.y == 10);
  using Range = std::pair<std::size_t, std::size_t>;
  CHECK(grid.visible_columns() == Range{1, 7});
  CHECK(grid.visible_rows() == Range{2, 12});
  const Rect cell = grid.cell(2, 1);
  CHECK(cell.x == -5);
  CHECK(cell.y == 0);
  CHECK(cell.w == 20);
  CHECK(cell.h == 5);
  CHECK(grid.row_at(0) == 2u);
  CHECK(grid.row_at(49.9f) == 11u);
  CHECK_FALSE(grid.row_at(50));
  CHECK(grid.column_at(0) == 1u);
  CHECK(grid.column_at(99.9f) == 6u);
  CHECK_FALSE(grid.column_at(100));
  const MaskGrid end = MaskGrid::fit({0, 0, 100, 50}, 20, 10, 10, 2, {1e6f, 1e6f});
  CHECK(end.offset.x == 100);
  CHECK(end.offset.y == 50);
  CHECK(end.visible_columns() == Range{5, 10});
  CHECK(end.visible_rows() == Range{10, 20});
  // There is nothing below the last row, nor to the right of the last column.
  CHECK_FALSE(wide.row_at(50 + 61));
  CHECK_FALSE(wide.column_at(100 + 321));
}

}  // namespace test_grids
