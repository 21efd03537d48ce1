#include <doctest/doctest.h>

#include <vector>

#include "viz/panels/column_fit.h"

namespace triescope::viz::test_column_fit {
namespace {

using On = std::vector<bool>;

TEST_CASE("columns: the least important go first, of two alike the first, until the rest fits") {
  const std::vector<ColumnSize> columns = {{2, 5}, {3, 1}, {1, 1}, {4, 9}};
  CHECK(columns_that_fit(columns, 10) == On{true, true, true, true});
  CHECK(columns_that_fit(columns, 9.9f) == On{true, false, true, true});
  CHECK(columns_that_fit(columns, 7) == On{true, false, true, true});
  CHECK(columns_that_fit(columns, 6.9f) == On{true, false, false, true});
  CHECK(columns_that_fit(columns, 5) == On{false, false, false, true});
  CHECK(columns_that_fit(columns, 1) == On{false, false, false, false});
  CHECK(columns_that_fit({}, 1).empty());
}

}  // namespace
}  // namespace triescope::viz::test_column_fit
