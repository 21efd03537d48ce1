#include <doctest/doctest.h>

#include "core/base/counted.h"

namespace triescope {
namespace {

TEST_CASE("counted: a noun takes an s unless there is one of it") {
  CHECK(counted(1, "row") == "1 row");
  CHECK(counted(0, "row") == "0 rows");
  CHECK(counted(2, "live path") == "2 live paths");
  CHECK(counted(-1, "row") == "-1 rows");
  CHECK(counted(std::size_t{1}, "token") == "1 token");
  CHECK(counted(std::int64_t{1} << 40, "token") == "1099511627776 tokens");
}

}  // namespace
}  // namespace triescope
