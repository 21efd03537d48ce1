#include <doctest/doctest.h>

#include <cmath>

#include "viz/layouts/axis.h"

namespace test_axis {

using namespace triescope::viz;

TEST_CASE("axis: ticks are round, inside, evenly spaced and about as many as wanted") {
  for (const auto& [low, high] :
       {std::pair{0.0, 1.0}, {0.0, 37.0}, {-3.2, 8.9}, {1e6, 1.2e6}, {0.0, 3e-4}}) {
    for (int wanted = 2; wanted <= 12; ++wanted) {
      const auto ticks = nice_ticks(low, high, wanted);
      REQUIRE(ticks.size() >= 1);
      CHECK(ticks.size() <= 2 * static_cast<std::size_t>(wanted) + 1);
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        CHECK(ticks[i] >= low - 1e-9 * (high - low));
        CHECK(ticks[i] <= high + 1e-9 * (high - low));
        if (i >= 2) CHECK(ticks[i] - ticks[i - 1] == doctest::Approx(ticks[1] - ticks[0]));
      }
    }
  }
}

TEST_CASE("axis: ticks of counts are whole numbers, also where there is room for more") {
  for (const double tick : nice_integer_ticks(0, 3, 12)) CHECK(tick == std::round(tick));
  CHECK(nice_integer_ticks(0, 3, 12).size() <= 4);
  CHECK(nice_integer_ticks(0, 1, 5).size() == 2);
}

TEST_CASE("axis: it maps values to px and back") {
  const AxisScale scale{10, 20, 100, 300};
  CHECK(scale.px(15) == doctest::Approx(200));
  CHECK(scale.value(scale.px(12.5)) == doctest::Approx(12.5));
  const AxisScale down{0, 4, 300, 100};  // y grows downwards
  CHECK(down.px(4) == doctest::Approx(100));
}

TEST_CASE("axis ticks: the exact values") {
  using Ticks = std::vector<double>;
  CHECK(nice_ticks(0, 1, 4) == Ticks{0, 0.25, 0.5, 0.75, 1});
  CHECK(nice_ticks(0, 10, 5) == Ticks{0, 2, 4, 6, 8, 10});
  CHECK(nice_ticks(0, 7, 2) == Ticks{0, 5});
  CHECK(nice_ticks(-3, 3, 3) == Ticks{-2, 0, 2});
  CHECK(nice_ticks(0, 10, 0) == Ticks{0, 10});
  CHECK(nice_ticks(3, 3, 4) == Ticks{3});
  CHECK(nice_integer_ticks(0, 10, 4) == Ticks{0, 5, 10});  // never 2.5
  CHECK(nice_integer_ticks(0, 100, 4) == Ticks{0, 25, 50, 75, 100});
  CHECK(nice_integer_ticks(0, 3, 12) == Ticks{0, 1, 2, 3});
  CHECK(nice_integer_ticks(4, 4, 12) == Ticks{4});
}

}  // namespace test_axis
