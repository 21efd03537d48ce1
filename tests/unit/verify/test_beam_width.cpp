// The width of dynamic-width beam sampling, against every sequence of passes and refusals.
#include <doctest/doctest.h>

#include "core/verify/beam_width.h"

namespace triescope::test::test_beam_width {
namespace {

// Adds up the chance of every course of `left` drafts, of which `refused` were refused in a row.
void walk(const std::vector<double>& pass, std::size_t left, std::size_t refused,
          std::size_t passed, double chance, std::vector<double>& out) {
  if (left == 0) {
    out[passed] += chance;
    return;
  }
  walk(pass, left - 1, 0, passed + 1, chance * pass[refused], out);
  walk(pass, left - 1, refused + 1, passed, chance * (1 - pass[refused]), out);
}

TEST_CASE("beam width: the chances of so many passes are those of all courses together") {
  for (const std::vector<double>& pass : {std::vector<double>{0.3},
                                          {0.9, 0.1},
                                          {0.5, 0.25, 0.75},
                                          {0.8, 0.6, 0.4, 0.2, 0.1},
                                          {1, 0, 0}}) {
    std::vector<double> expected(pass.size() + 1, 0);
    walk(pass, pass.size(), 0, 0, 1, expected);
    const std::vector<double> found = chances_of_passes(pass);
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k)
      CHECK(found[k] == doctest::Approx(expected[k]).epsilon(1e-12));
  }
}

TEST_CASE("beam width: the greatest n of which all pass with the chance that is wanted") {
  const std::vector<double> pass = {0.8, 0.5};  // two pass 0.64, one 0.16 + 0.1, none 0.1
  CHECK(beam_width(pass, 0.6, 1) == 2);
  CHECK(beam_width(pass, 0.7, 1) == 1);
  CHECK(beam_width(pass, 0.95, 0) == 0);
  CHECK(beam_width(pass, 0.95, 2) == 2);
  CHECK(beam_width(pass, 0, 1) == 2);
}

}  // namespace
}  // namespace triescope::test::test_beam_width
