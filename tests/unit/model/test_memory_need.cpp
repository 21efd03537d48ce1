// The memory that a model takes, before it is loaded.
#include <doctest/doctest.h>

#include "core/model/memory_need.h"

namespace triescope {
namespace {

// Llama-3.1-8B in Q4_K_M.
ModelInfo llama() {
  ModelInfo info;
  info.quantisation = "mixed: Q4_K Q6_K";
  info.parameters = 8'030'261'248;
  info.file_bytes = 4'920'734'000;
  info.layers = 32;
  info.hidden = 4096;
  info.heads = 32;
  info.kv_heads = 8;
  info.head_dim = 128;
  info.intermediate = 14336;
  info.vocab_size = 128256;
  return info;
}

TEST_CASE("memory: on the CPU matrices stay as they lie in the file") {
  const ModelInfo info = llama();
  CHECK(memory_need(info, {}).weights == info.file_bytes);
  CHECK(memory_need(info, {.dtype = DType::kBF16}).weights == info.file_bytes);
  CHECK(memory_need(info, {.reference_kernels = true}).weights == 4 * info.parameters);
  CHECK(memory_need(info, {.stored_weights = false}).weights == 4 * info.parameters);
  CHECK(memory_need(info, {.dtype = DType::kBF16, .stored_weights = false}).weights ==
        2 * info.parameters);
  ModelInfo plain = info;
  plain.quantisation = "F32";
  plain.file_bytes = 4 * info.parameters;
  CHECK(memory_need(plain, {}).weights == 4 * info.parameters);
  CHECK(memory_need(plain, {.dtype = DType::kBF16}).weights == 2 * info.parameters);
}

TEST_CASE("memory: on a GPU every weight has the dtype asked for") {
  const ModelInfo info = llama();
  CHECK(memory_need(info, {.device = "cuda"}).weights == 4 * info.parameters);
  CHECK(memory_need(info, {.device = "cuda:1", .dtype = DType::kF16}).weights ==
        2 * info.parameters);
}

TEST_CASE(
    "memory: a draft head lies as in its file on the CPU kernels, else in the target's dtype") {
  constexpr std::int64_t kValues = 1'000, kHalf = 2'000, kWide = 4'000;
  CHECK(head_need(kValues, kHalf, {}) == kHalf);
  CHECK(head_need(kValues, kWide, {}) == kWide);
  CHECK(head_need(kValues, kWide, {.dtype = DType::kBF16}) == kHalf);
  CHECK(head_need(kValues, kHalf, {.reference_kernels = true}) == kWide);
  CHECK(head_need(kValues, kHalf, {.device = "cuda:0"}) == kWide);
  CHECK(head_need(kValues, kWide, {.device = "cuda:0", .dtype = DType::kBF16}) == kHalf);
}

TEST_CASE("memory: K and V of a token, and what a prefill's chunk computes with") {
  const ModelInfo info = llama();
  CHECK(memory_need(info, {}).kv_per_token == 2 * 32 * 8 * 128 * 4);
  CHECK(memory_need(info, {.dtype = DType::kBF16}).kv_per_token == 2 * 32 * 8 * 128 * 2);
  CHECK(memory_need(info, {.kv_dtype = DType::kBF16}).kv_per_token == 2 * 32 * 8 * 128 * 2);
  const MemoryNeed need = memory_need(info, {});
  CHECK(need.scratch == 4 * (256 * (3 * 4096 + 2 * (32 + 8) * 128 + 3 * 14336) + 16 * 128256));
  CHECK(need.to_load() == need.weights + need.scratch);
}

TEST_CASE("memory: on a GPU attention's scratch grows with the context, up to 64 MB") {
  ModelInfo info = llama();
  // A prompt goes through a GPU in larger pieces.
  const std::int64_t rows =
      4 * (std::int64_t{1024} * (3 * 4096 + 2 * (32 + 8) * 128 + 3 * 14336) + 16 * 128256);
  const auto more = [&](int context) {
    info.context = context;
    return memory_need(info, {.device = "cuda"}).scratch - rows;
  };
  CHECK(more(0) == 0);
  CHECK(more(256) == 2 * 1024 * 32 * (128 + 2) * 4);
  CHECK(more(131072) == 64 << 20);
}

}  // namespace
}  // namespace triescope
