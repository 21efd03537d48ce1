#include <doctest/doctest.h>

#include <cmath>

#include "app/bench/benchmarks.h"

namespace triescope::app::test_bench_samplers {
namespace {

TEST_CASE("bench samplers: the samplers' table has a row for each, over the whole vocabulary") {
  std::vector<float> logits;
  for (int i = 0; i < 300; ++i) logits.push_back(-std::log(static_cast<float>(i + 1)));
  double last = 0;
  const auto table =
      measure_samplers(logits, 2, [&](const std::string& doing, double done, double of) {
        CHECK(doing == "samplers");
        CHECK(done == last + 1);
        CHECK(of == 2);
        last = done;
      });
  CHECK(last == 2);
  std::string names;
  for (const SamplerCost& row : table) {
    names += row.sampler + "; ";
    CHECK(row.vocabulary == 300);
    CHECK(row.first_us > 0);
    CHECK(row.next_us > 0);
  }
  CHECK(names == "inverse CDF; Gumbel-max; binary search; alias tables; ");
}

}  // namespace
}  // namespace triescope::app::test_bench_samplers
