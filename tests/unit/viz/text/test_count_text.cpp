#include <doctest/doctest.h>

#include "viz/text/spoken_text.h"

namespace triescope::viz::test_count_text {
namespace {

TEST_CASE("counts: words up to ten, then digits in groups of three") {
  CHECK(count_text(0) == "zero");
  CHECK(count_text(1) == "one");
  CHECK(count_text(10) == "ten");
  CHECK(count_text(11) == "11");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(49152) == "49,152");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(count_text(-3) == "-3");
  CHECK(count_text(-123) == "-123");
  CHECK(count_text(-1234) == "-1,234");
}

TEST_CASE("enumerations: commas, and 'and' before the last") {
  CHECK(std::string(before_item(0, 1)).empty());
  CHECK(std::string(before_item(0, 2)).empty());
  CHECK(std::string(before_item(1, 2)) == " and ");
  CHECK(std::string(before_item(1, 3)) == ", ");
  CHECK(std::string(before_item(2, 3)) == " and ");
}

}  // namespace
}  // namespace triescope::viz::test_count_text
