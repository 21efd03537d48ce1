#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "app/lesson/chi_square.h"

namespace triescope::app::test_chi_square {
namespace {

TEST_CASE("chi-square: the tail is that of the tables") {
  // Abramowitz and Stegun, table 26.8: the value that is exceeded with this probability.
  CHECK(chi_square_tail(3.84146, 1) == doctest::Approx(0.05).epsilon(1e-5));
  CHECK(chi_square_tail(6.63490, 1) == doctest::Approx(0.01).epsilon(1e-5));
  CHECK(chi_square_tail(5.99147, 2) == doctest::Approx(0.05).epsilon(1e-5));
  CHECK(chi_square_tail(0.0100251, 2) == doctest::Approx(0.995).epsilon(1e-5));
  CHECK(chi_square_tail(18.3070, 10) == doctest::Approx(0.05).epsilon(1e-5));
  CHECK(chi_square_tail(2.15586, 10) == doctest::Approx(0.995).epsilon(1e-5));
  CHECK(chi_square_tail(149.449, 100) == doctest::Approx(0.001).epsilon(1e-4));
  CHECK(chi_square_tail(0, 3) == 1);
  CHECK(chi_square_tail(5, 0) == 1);
  CHECK(chi_square_tail(1e6, 3) == 0);
}

TEST_CASE("chi-square: the sum over the cells, and one degree fewer than there are") {
  const std::vector<std::int64_t> counts{30, 50, 20};
  const ChiSquare chi = chi_square(counts, std::vector<double>{0.25, 0.5, 0.25});
  CHECK(chi.value == doctest::Approx(25.0 / 25 + 0.0 + 25.0 / 25));
  CHECK(chi.degrees == 2);
  CHECK(chi.p == doctest::Approx(0.36787944));  // e^-1
}

TEST_CASE("chi-square: cells that are expected fewer than 5 times are put together") {
  const std::vector<std::int64_t> counts{90, 4, 6};
  const ChiSquare chi = chi_square(counts, std::vector<double>{0.92, 0.04, 0.04});
  CHECK(chi.degrees == 1);
  CHECK(chi.value == doctest::Approx(4.0 / 92 + 4.0 / 8));
  // A cell that is expected exactly 5 times is not merged.
  CHECK(chi_square(counts, std::vector<double>{0.9, 0.05, 0.05}).degrees == 2);
}

TEST_CASE("chi-square: what cannot be drawn was not drawn from this") {
  const std::vector<std::int64_t> counts{99, 1};
  const ChiSquare chi = chi_square(counts, std::vector<double>{1, 0});
  CHECK(chi.p == 0);
  CHECK(chi.degrees == 0);
  const std::vector<std::int64_t> right{100, 0};
  CHECK(chi_square(right, std::vector<double>{1, 0}).p == 1);
}

}  // namespace
}  // namespace triescope::app::test_chi_square
