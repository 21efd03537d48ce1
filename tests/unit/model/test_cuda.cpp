// The same models on a GPU: own attention kernel and libtorch's plain operations against the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/kernels/linear.h"
#include "core/model/block_types.h"
#include "tests/support/skip.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

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

namespace {

// Every type of blocks: a few rows through the kernels, more than they take (by tiles), then one.
// Random weights make attention's scores large, and what is exponentiated shows every rounding.
void check_blocks_against_cpu(const LoadOptions& options) {
  for (const formats::GgmlType type : kernels::PackedLinear::types()) {
    if (formats::block_elements(type) > 1 && !computes_from_blocks(type, true)) continue;
    const TempDir folder;
    const std::string path = (folder.path() / "model.gguf").string();
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, static_cast<std::uint64_t>(type));
    const auto cpu = load_model(path), other = load_model(path, options);
    CAPTURE(formats::to_string(type));
    CHECK(other->info().warning == "");
    for (const int count : {5, 33}) {
      CAPTURE(count);
      std::vector<std::int32_t> ids;
      for (int i = 0; i < count; ++i)
        ids.push_back((i * 29 + 7) % static_cast<std::int32_t>(kStoredVocab));
      const auto kv = cpu->make_kv(count + 1), other_kv = other->make_kv(count + 1);
      const std::vector<float> want = all_logits(*cpu, *kv, ids),
                               want_next = step_logits(*cpu, *kv, count, 11);
      const double allowed =
          5e-3 * std::abs(*std::ranges::max_element(want, {}, [](float v) { return std::abs(v); }));
      CHECK(max_difference(all_logits(*other, *other_kv, ids), want) < allowed);
      CHECK(max_difference(step_logits(*other, *other_kv, count, 11), want_next) < allowed);
    }
  }
}

}  // namespace

TEST_CASE("CUDA: a model in blocks of any type has the CPU's logits") {
  if (list_devices().size() < 2) TRIESCOPE_SKIP("no NVIDIA driver answers");
  LoadOptions options;
  options.device = "cuda";
  options.dtype = DType::kF32;
  check_blocks_against_cpu(options);
}

TEST_CASE("libtorch's operations on a CPU: a model in blocks of any type has our kernels' logits") {
  LoadOptions options;
  options.reference_kernels = true;
  check_blocks_against_cpu(options);
}
