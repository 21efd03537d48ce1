// Draft heads beside a target that runs through libtorch: they run where it does, here in libtorch's
// operations on the CPU, with TRIESCOPE_TEST_DEVICE=cuda on a GPU. With our CUDA kernels' source on
// the CPU: tests/unit/cuda_path/test_heads.cpp.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "tests/support/device.h"
#include "tests/unit/heads/head_texts.h"

namespace triescope::test {
namespace {

HeadTarget torch_target(DType dtype) {
  return HeadTarget(
      load_model(head_folder() + "target", {.device = test_device(),
                                            .dtype = dtype,
                                            .reference_kernels = test_device() == "cpu",
                                            .threads = 1}));
}

TEST_CASE("through libtorch: EAGLE and EAGLE-3 heads of every format answer as PyTorch") {
  check_eagle_heads(torch_target(DType::kF32));
}

TEST_CASE("through libtorch: Medusa heads of every format answer as PyTorch") {
  check_medusa_heads(torch_target(DType::kF32));
}

TEST_CASE("through libtorch: Hydra heads of every format answer as PyTorch") {
  check_hydra_heads(torch_target(DType::kF32));
}

TEST_CASE("through libtorch: a head has its target's dtype, and comes near PyTorch's fp32 in it") {
  for (const auto& [dtype, value] : {std::pair{DType::kBF16, 0.03}, {DType::kF16, 0.01}}) {
    CAPTURE(std::string(to_string(dtype)));
    const HeadTarget target = torch_target(dtype);
    check_eagle_heads(target, {.value = value, .drafts = dtype == DType::kF16});
    check_medusa_heads(target, {.value = value});
    check_hydra_heads(target, {.value = value});
  }
}

TEST_CASE(
    "through libtorch: runs with heads write greedy decoding's text and draft as on the CPU") {
  check_texts_with_heads(torch_target(DType::kF32), 40);
}

TEST_CASE(
    "through libtorch: a head keeps no thread pool and says nothing where nothing is slower") {
  const HeadTarget target = torch_target(DType::kF32);
  const auto head = target.head("eagle3");
  CHECK(head->pool == nullptr);
  CHECK(head->layers->info().warning.empty());
  const auto kv = head->layers->make_kv(4);
  CHECK(kv->bytes_per_slot() == 2 * 8 * 4);  // K and V of one head of 8, fp32
  std::stop_source stop;
  stop.request_stop();
  const std::int32_t zero[] = {0};
  const std::vector<float> state(16);
  ForwardBatch batch;
  batch.tokens = batch.positions = batch.slots = zero;
  batch.input_features = state;
  try {
    head->layers->forward(batch, *kv, stop.get_token());
    FAIL("the forward was not cancelled");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace triescope::test
