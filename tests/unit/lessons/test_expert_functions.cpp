// What expressions know of a mixture of experts, of a run whose rows are written out in mixture_run.h.
#include <doctest/doctest.h>

#include "tests/unit/lessons/lesson_run.h"
#include "tests/unit/viz/mixture_run.h"

namespace test_expert_functions {

using namespace triescope;
using namespace triescope::test;

double of_mixture(const std::string& text) {
  return std::get<double>(value_of(text, mixture_capture()));
}
std::string refused_of_mixture(const std::string& text) {
  return refusal(ErrorCode::kCorruption, [&] { value_of(text, mixture_capture()); });
}

TEST_CASE("expert functions: different experts a layer of a step, beside those of its first row") {
  CHECK(of_mixture("experts") == 4);
  CHECK(of_mixture("experts_used") == 2);
  CHECK(of_mixture("experts_read(1)") == 3);  // (3 + 3) / 2 layers
  CHECK(of_mixture("experts_alone(1)") == 2);
  CHECK(of_mixture("experts_read(2)") == 2);
  CHECK(of_mixture("peak_step(experts_read)") == 1);
  CHECK(of_mixture("experts_by_chance(2)") == doctest::Approx(4 * (1 - 0.25)));
}

TEST_CASE("expert functions: bytes that a step read, beside those of its first row") {
  CHECK(of_mixture("weights_alone(1)") == 1000);
  CHECK(of_mixture("weights_read(1)") == 1000 + 2 * 100);
  CHECK(of_mixture("weights_read(2)") == 1000);
  CHECK(refused_of_mixture("weights_read(0)") == "column 1: the run recorded no experts in step 0");
}

TEST_CASE("expert functions: the experts of a row come by weight") {
  CHECK(of_mixture("expert(3, 0, 1)") == 1);
  CHECK(of_mixture("expert(3, 0, 2)") == 2);
  CHECK(of_mixture("expert(3, 1, 1)") == 0);
  CHECK(of_mixture("expert_weight(3, 0, 1)") == 0.75);
  CHECK(of_mixture("expert_weight(5, 1, 2)") == 0.25);
  CHECK(refused_of_mixture("expert(3, 2, 1)") ==
        "column 1: the run recorded no experts of node 3 in layer 2");
  CHECK(refused_of_mixture("expert(3, 0, 3)") ==
        "column 1: the row's experts have weights 1 to 2 in this capture; found number 3");
}

TEST_CASE("expert functions: a model with one MLP a layer has none") {
  CHECK(number_of("experts_read(1)") == 0);
  CHECK(refused("experts") == "column 1: the run did not record its model's experts");
  CHECK(refused("weights_read(1)") == "column 1: the run recorded no experts in step 1");
}

}  // namespace test_expert_functions
