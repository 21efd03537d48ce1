// The same models on a GPU: own attention kernel and libtorch's plain operations against the CPU.
#include <doctest/doctest.h>

#include "tests/support/skip.h"
#include "tests/unit/model/model_test_util.h"

using namespace triescope;
using namespace triescope::test;

TEST_CASE("CUDA: logits are those of the CPU, prefill and steps, and memory is reported") {
  if (list_devices().size() < 2) TRIESCOPE_SKIP("no NVIDIA driver answers");
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  const std::vector<std::int32_t> ids = {504, 2365, 6354, 16438, 27003, 690, 260, 23790, 2767};
  const auto cpu = load_model(path->string());
  const auto cpu_kv = cpu->make_kv(16);
  const std::vector<float> expected = all_logits(*cpu, *cpu_kv, ids);
  const std::vector<float> expected_step = step_logits(*cpu, *cpu_kv, 9, 30);
  for (const bool reference : {false, true}) {
    CAPTURE(reference);
    LoadOptions options;
    options.device = "cuda";
    options.reference_kernels = reference;
    const auto model = load_model(path->string(), options);
    CHECK(model->info().device == "cuda:0");
    const auto kv = model->make_kv(16);
    CHECK(max_difference(all_logits(*model, *kv, ids), expected) < 1e-3);
    CHECK(max_difference(step_logits(*model, *kv, 9, 30), expected_step) < 1e-3);
    // Our kernels compute from blocks, libtorch's operations from what they stand for.
    CHECK((model->info().block_bytes > 0) == !reference);
    CHECK(model->info().warning == "");
    CHECK(model->device_memory().allocated_bytes >
          (reference ? model->info().parameters * 4 : model->info().block_bytes));
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      options.dtype = dtype;
      const auto half = load_model(path->string(), options);
      const auto half_kv = half->make_kv(16);
      CHECK(max_difference(all_logits(*half, *half_kv, ids), expected) <
            (dtype == DType::kF16 ? 0.5 : 3.0));
    }
  }
}
