// The layers that drafting leaves out, in words.
#include <doctest/doctest.h>

#include "core/capture/metric_names.h"
#include "tests/unit/viz/captures.h"
#include "viz/query/left_out_layers.h"

namespace triescope::viz::test_left_out_layers {
namespace {

TEST_CASE(
    "left-out layers: neighbours are a range, two of them a pair, and the count stands behind") {
  const auto text = [](std::initializer_list<std::size_t> layers) {
    std::vector<LeftOut> left_out(10, LeftOut::kNothing);
    for (const std::size_t layer : layers) left_out[layer] = LeftOut::kLayer;
    return left_out_text(left_out);
  };
  CHECK(text({2, 3, 4, 7}) == "2–4, 7: 4 of 10");
  CHECK(text({8, 9}) == "8, 9: 2 of 10");
  CHECK(text({0}) == "0: 1 of 10");
  CHECK(text({}) == "none: 0 of 10");
}

TEST_CASE(
    "left-out layers: parts that are left out alone stand behind whole layers, and are counted") {
  using enum LeftOut;
  CHECK(left_out_text({kNothing, kAttention, kMlp, kLayer, kAttention}) ==
        "3; attention of 1, 4; MLP of 2: 5 of 10 parts");
  CHECK(left_out_text({kNothing, kMlp, kMlp, kMlp}) == "MLP of 1–3: 3 of 8 parts");
  CHECK(left_out_parts({kNothing, kAttention, kMlp, kLayer}) == 4);
}

TEST_CASE(
    "left-out layers: the newest list before the cursor holds, and both parts of a layer are the layer") {
  using enum LeftOut;
  const auto opened = test::make_capture([](capture::Recorder& out) {
    capture::RowTables rows;
    rows.run = test::synthetic_info(3, "layer_skip", "Layer skip", "recycle");
    rows.run->model_json = R"({"layers": 5})";
    const auto figure = [&](int step, std::string_view name, double layer) {
      rows.metrics.push_back({.tick = capture::make_tick(step, capture::Phase::kDraft),
                              .name = std::string(name),
                              .value = layer});
    };
    figure(1, capture::kLeftOutLayer, 2);
    figure(2, capture::kLeftOutAttention, 1);
    figure(2, capture::kLeftOutAttention, 3);
    figure(2, capture::kLeftOutMlp, 3);
    figure(2, capture::kLeftOutMlp, 4);
    figure(2, capture::kLeftOutMlp, 5);  // the model has no such layer
    for (capture::Tick tick = 0; tick < capture::make_tick(3, capture::Phase::kDraft); ++tick)
      rows.phases.push_back({.tick = tick, .start_us = tick * 10, .duration_us = 10});
    out.write(rows);
  });
  const auto at = [&](int step) {
    return left_out_layers(*opened->capture, capture::make_tick(step, capture::Phase::kForward));
  };
  CHECK(at(0).empty());
  CHECK(at(1) == std::vector<LeftOut>{kNothing, kNothing, kLayer, kNothing, kNothing});
  CHECK(at(2) == std::vector<LeftOut>{kNothing, kAttention, kNothing, kLayer, kMlp});
}

}  // namespace
}  // namespace triescope::viz::test_left_out_layers
