#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "core/base/count_up.h"

namespace triescope::test {
namespace {

TEST_CASE("count_up: from 0, or from where the caller begins, in the caller's type") {
  CHECK(count_up(3) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(count_up(2, std::int32_t{7}) == std::vector<std::int32_t>{7, 8});
  CHECK(count_up<std::size_t>(2) == std::vector<std::size_t>{0, 1});
  CHECK(count_up(0).empty());
}

}  // namespace
}  // namespace triescope::test
