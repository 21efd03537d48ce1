// The forward passes of draft heads on the CPU kernels against an independent script in PyTorch
// (tests/golden/make_heads.py), and what a target shares with a head.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/unit/heads/head_goldens.h"

namespace triescope::test {
namespace {

using nlohmann::json;

HeadTarget target_on(bool reference_kernels) {
  return HeadTarget(
      load_model(head_folder() + "target", {.reference_kernels = reference_kernels, .threads = 1}));
}

constexpr HeadTolerance kCpuKernels = {.same_bits = true};

TEST_CASE(
    "forward: EAGLE and EAGLE-3 heads of every format answer as PyTorch: text, chain and tree") {
  check_eagle_heads(target_on(false), kCpuKernels);
}

TEST_CASE("forward: Medusa heads of every format answer as PyTorch") {
  check_medusa_heads(target_on(false), kCpuKernels);
}

TEST_CASE("forward: Hydra heads of every format answer as PyTorch, several paths at once") {
  check_hydra_heads(target_on(false), kCpuKernels);
}

TEST_CASE("forward: a head refuses input features of another width, and says which it reads") {
  for (const bool reference_kernels : {false, true}) {
    CAPTURE(reference_kernels);
    const HeadTarget target = target_on(reference_kernels);
    const auto head = target.head("eagle3");
    HeadRun run(*head);
    try {
      run.run({{1, 0, 0, {0}, std::vector<float>(17)}});
      FAIL("17 values were taken");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::kInvalidArgument);
      CHECK(std::string(error.what()) ==
            "forward: expected input features of 48 or 16 values for each of 1 rows, found 17 "
            "values");
    }
  }
}

TEST_CASE("forward: a head refuses KV that another model made") {
  for (const bool reference_kernels : {false, true}) {
    CAPTURE(reference_kernels);
    const HeadTarget target = target_on(reference_kernels), other = target_on(!reference_kernels);
    const auto head = target.head("eagle3"), two_layers = target.head("eagle3-two-layers");
    for (Model* maker : {target.model.get(), other.model.get(), two_layers->layers.get()}) {
      HeadRun run(*head);
      run.kv = maker->make_kv(4);
      CHECK_THROWS_WITH_AS(run.run({{1, 0, 0, {0}, std::vector<float>(16)}}),
                           "forward: the KV storage belongs to another model", Error);
    }
  }
}

TEST_CASE(
    "forward: what a target shares, on both executors: rows of its embedding, and logits of states without the final norm") {
  for (const bool reference_kernels : {false, true}) {
    CAPTURE(reference_kernels);
    const HeadTarget target = target_on(reference_kernels);
    CHECK((target.model->torch_shared() != nullptr) == reference_kernels);
    const std::int32_t wanted[] = {5, 0, 63};
    std::vector<float> rows(48), one(16);
    target.model->embed(wanted, rows);
    target.model->embed(std::span(wanted).subspan(1, 1), one);
    CHECK(std::equal(one.begin(), one.end(), rows.begin() + 16));
    // Layer 0's input is the embedding itself.
    for (std::size_t t = 0; t < target.tokens.size(); ++t) {
      target.model->embed(std::span(target.tokens).subspan(t, 1), one);
      CHECK(largest_difference(one, floats(target.text["features"]["0"][t])) < 1e-6);
      const std::vector<float> normed = floats(target.text["features"]["-1"][t]);
      CHECK(largest_difference(target.model->output_head(normed),
                               floats(target.text["logits"][t])) < 2e-4);
    }
    CHECK_THROWS_AS(target.model->embed(std::span(wanted).first(1), rows), Error);
    const std::int32_t beyond[] = {64};
    CHECK_THROWS_AS(target.model->embed(beyond, one), Error);
    CHECK_THROWS_AS(target.model->output_head(std::span(rows).first(17)), Error);
    const auto head = target.head("eagle-no-bias");
    CHECK_THROWS_AS(head->layers->embed(beyond, one), Error);  // it has none to share
    CHECK(head->layers->torch_shared() == nullptr);
  }
}

}  // namespace
}  // namespace triescope::test
