// How many experts a mixture's steps read, of a run made by hand.
#include <doctest/doctest.h>

#include "tests/unit/viz/mixture_run.h"
#include "viz/query/expert_use.h"

namespace triescope::viz::test_expert_use {
namespace {

using capture::make_tick;
using capture::Phase;
using test::mixture_capture;

TEST_CASE("expert use: a step counts different experts, and those of its first row") {
  const auto steps = expert_steps(mixture_capture(), mixture_capture().end_tick());
  REQUIRE(steps.size() == 2);
  CHECK(steps[0] == ExpertStep{.step = 1, .rows = 4, .layers = 2, .read = 6, .alone = 4});
  CHECK(steps[1] == ExpertStep{.step = 2, .rows = 1, .layers = 2, .read = 4, .alone = 4});
  CHECK(steps[0].read_a_layer() == 3);
  CHECK(steps[0].alone_a_layer() == 2);
}

TEST_CASE("expert use: nothing counts that the cursor has not seen") {
  CHECK(expert_steps(mixture_capture(), 0).empty());
  CHECK(expert_steps(mixture_capture(), make_tick(1, Phase::kForward)).empty());
  CHECK(expert_steps(mixture_capture(), make_tick(1, Phase::kForward) + 1).size() == 1);
}

TEST_CASE("expert use: bytes are one row's and those of every further expert") {
  const MixtureSize size = mixture_size(mixture_capture());
  CHECK(size.experts == 4);
  CHECK(size.used == 2);
  const ExpertStep step = expert_step(mixture_capture(), 1, mixture_capture().end_tick());
  CHECK(bytes_alone(step, size) == 1000);
  CHECK(bytes_read(step, size) == 1000 + 2 * 100);
  CHECK(bytes_read(step, {.experts = 4, .used = 2}) == 0);  // how large they are is not known
}

TEST_CASE("expert use: rows that choose freely read E (1 - (1 - k/E)^n) experts") {
  const MixtureSize size{.experts = 8, .used = 2};
  CHECK(experts_by_chance(size, 1) == doctest::Approx(2));
  CHECK(experts_by_chance(size, 2) == doctest::Approx(3.5));
  CHECK(experts_by_chance(MixtureSize{}, 3) == 0);
}

TEST_CASE("expert use: a node has the experts of its row, once its forward has run") {
  const auto rows = experts_of(mixture_capture(), 3, mixture_capture().end_tick());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].experts == std::vector{1, 2});
  CHECK(rows[1].experts == std::vector{0, 3});
  CHECK(experts_of(mixture_capture(), 3, make_tick(1, Phase::kForward)).empty());
  CHECK(experts_of(mixture_capture(), 5, mixture_capture().end_tick()).size() == 2);
  CHECK(experts_of(mixture_capture(), -3, mixture_capture().end_tick()).empty());
}

}  // namespace
}  // namespace triescope::viz::test_expert_use
