// The layers that drafting leaves out, in words.
#include <doctest/doctest.h>

#include "viz/query/left_out_layers.h"

namespace triescope::viz::test_left_out_layers {
namespace {

TEST_CASE(
    "left-out layers: neighbours are a range, two of them a pair, and the count stands behind") {
  const auto text = [](std::initializer_list<std::size_t> layers) {
    std::vector<bool> left_out(10, false);
    for (const std::size_t layer : layers) left_out[layer] = true;
    return left_out_text(left_out);
  };
  CHECK(text({2, 3, 4, 7}) == "2–4, 7: 4 of 10");
  CHECK(text({8, 9}) == "8, 9: 2 of 10");
  CHECK(text({0}) == "0: 1 of 10");
  CHECK(text({}) == "none: 0 of 10");
}

}  // namespace
}  // namespace triescope::viz::test_left_out_layers
