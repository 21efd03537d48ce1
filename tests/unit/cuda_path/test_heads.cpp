// Draft heads beside a target on the CUDA path: their layers run through the project's kernels, whose
// source the stand-in runs on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/files/weights.h"
#include "core/kernels/row_ops.h"
#include "core/model/transformer.h"
#include "tests/unit/cuda_path/failing_launches.h"
#include "tests/unit/cuda_path/torch_model.h"
#include "tests/unit/heads/head_texts.h"

namespace triescope::test::test_heads {
namespace {

const bool use_stand_in =
    ::setenv("TRIESCOPE_CUDA_MODULE", TRIESCOPE_CUDA_STAND_IN, /*overwrite=*/1) == 0;

HeadTarget kernel_target(DType dtype) {
  return HeadTarget(load_torch_model(head_folder() + "target", dtype));
}

TEST_CASE("CUDA path: EAGLE and EAGLE-3 heads of every format answer as PyTorch") {
  REQUIRE(use_stand_in);
  check_eagle_heads(kernel_target(DType::kF32));
}

TEST_CASE("CUDA path: Medusa and Hydra heads of every format answer as PyTorch") {
  check_medusa_heads(kernel_target(DType::kF32));
  check_hydra_heads(kernel_target(DType::kF32));
}

TEST_CASE("CUDA path: rows of Medusa's and Hydra's heads stay on the device but for their best") {
  const HeadTarget target = kernel_target(DType::kF32);
  for (const char* const name : {"medusa", "hydra"}) {
    CAPTURE(name);
    const auto head = target.head(name);
    const bool reads_tokens = head->tokens->reads_tokens();
    const std::vector<float> state(16, 0.25f);
    const std::vector<std::int32_t> tokens = {3, 9};  // two rows of the first head
    const std::span<const float> all = head->tokens->logits(0, state, tokens);
    const std::size_t rows = reads_tokens ? 2 : 1, vocab = all.size() / rows;
    const std::vector<float> whole(all.begin(), all.end());
    const ForwardOutput output = head->tokens->rows(0, state, tokens, 5);
    CHECK(output.logits.empty());
    for (std::size_t r = 0; r < rows; ++r) {
      const std::span<const float> expected = std::span(whole).subspan(r * vocab, vocab);
      const LogitsRow row = output.row(static_cast<int>(r));
      CHECK(row.size() == vocab);
      CHECK(row.known_best().size() == 5);
      CHECK(row.top_k(5) == kernels::top_k(expected, 5));
      CHECK(std::ranges::equal(row.whole(), expected));
    }
  }
}

TEST_CASE("CUDA path: all of Medusa's heads at once, their rows on the device as well") {
  const HeadTarget target = kernel_target(DType::kF32);
  // Of one output matrix for all heads, and of one for each.
  for (const char* const name : {"medusa-v2", "medusa"}) {
    CAPTURE(name);
    const auto head = target.head(name);
    const int count = head->tokens->count();
    const std::vector<float> state(16, 0.25f);
    std::vector<std::vector<std::pair<float, std::int32_t>>> best;
    for (int h = 0; h < count; ++h)
      best.push_back(kernels::top_k(head->tokens->logits(h, state, {}), 5));
    const ForwardOutput output = head->tokens->first_rows(count, state, 5);
    CHECK(output.logits.empty());
    for (int h = 0; h < count; ++h) {
      const auto found = output.row(h).top_k(5), &expected = best[static_cast<std::size_t>(h)];
      for (std::size_t i = 0; i < 5; ++i) {
        CHECK(found[i].second == expected[i].second);
        CHECK(std::abs(found[i].first - expected[i].first) < 1e-5);
      }
    }
  }
}

TEST_CASE("CUDA path: heads in bf16 and f16 come near PyTorch's fp32") {
  for (const auto& [dtype, value] : {std::pair{DType::kBF16, 0.03}, {DType::kF16, 0.01}}) {
    CAPTURE(std::string(to_string(dtype)));
    const HeadTarget target = kernel_target(dtype);
    check_eagle_heads(target, {.value = value, .drafts = dtype == DType::kF16});
    check_hydra_heads(target, {.value = value});
  }
}

TEST_CASE("CUDA path: runs with heads write greedy decoding's text and draft as on the CPU") {
  check_texts_with_heads(kernel_target(DType::kF32), 24);
}

TEST_CASE("CUDA path: a launch that fails in a head's layers is an error that says where and why") {
  const HeadTarget target = kernel_target(DType::kF32);
  const auto head = target.head("eagle3");
  for (const auto& [error, kernel] : {std::pair{"700 add_norm", "add and norm"},
                                      {"700 split_qkv_heads<T>", "split of q, k and v"},
                                      {"700 attention_partitions", "tree attention"},
                                      {"700 gated_activation", "activation"}}) {
    HeadRun run(*head);
    CAPTURE(error);
    const auto thrown = error_of_failing_launches(error, [&] {
      run.run({{1, 0, 0, {0}, std::vector<float>(16)}});
    });
    REQUIRE(thrown);
    CHECK(thrown->code() == ErrorCode::kCuda);
    CHECK(thrown->what() == std::string(kernel) + " on cpu: an error of the stand-in");
  }
}

TEST_CASE("CUDA path: what of a head runs more slowly is among its notes") {
  const HeadTarget target = kernel_target(DType::kF32);
  CHECK(target.head("eagle3")->layers->info().warning.empty());
  const auto head = target.head("eagle3-qwen3");  // heads of 12 dimensions
  const std::string warning =
      "attention runs on libtorch's operations instead of the tree-attention kernel, with the same "
      "result and more slowly: the kernel takes head sizes that are multiples of 8 up to 256, and "
      "this model's is 12";
  CHECK(head->layers->info().warning == warning);
  REQUIRE_FALSE(head->notes.empty());
  CHECK(head->notes.back() == warning);
}

}  // namespace
}  // namespace triescope::test::test_heads
