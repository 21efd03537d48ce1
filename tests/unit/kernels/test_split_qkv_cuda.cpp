// The CUDA kernel between the product for q, k, v and attention, against the CPU twins:
// its own source on the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/split_qkv.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

struct Split {
  Bytes qkv, keys, values;
  bool operator==(const Split&) const = default;
};

Split run(const SplitQkvInputs& c, const CudaModule* gpu) {
  CudaArrays on(module_of(gpu));
  const TriescopeSplitQkv call = launched(c, on, module_of(gpu));
  const std::size_t size = size_of_dtype(c.dtype), storage = c.storage() * size;
  return {on.get(call.qkv, c.qkv.size() * size), on.get(call.keys, storage),
          on.get(call.values, storage)};
}

void check_split_qkv(const CudaModule* gpu) {
  Rng rng(14);
  struct Shape {
    int heads, kv_heads, head_dim, rope_dims;
  };
  const Shape shapes[] = {{1, 1, 64, 64}, {8, 1, 80, 20}, {6, 3, 128, 128}, {4, 4, 256, 64},
                          {5, 1, 7, 6},   {3, 1, 96, 0},  {7, 1, 40, 2},    {2, 2, 1, 0}};
  for (const int dtype : kDTypes) {
    for (const auto& [heads, kv_heads, head_dim, rope_dims] : shapes) {
      for (const auto& [rows, norms] : {std::pair{1, false}, {1, true}, {5, false}, {33, true}}) {
        CAPTURE(dtype);
        CAPTURE(heads);
        CAPTURE(head_dim);
        CAPTURE(rows);
        CAPTURE(norms);
        check_case(
            SplitQkvInputs::random(rows, heads, kv_heads, head_dim, rope_dims, norms, dtype, rng),
            gpu);
      }
    }
  }
}

void check_split_alone(const CudaModule* gpu) {
  Rng rng(15);
  const SplitQkvInputs all = SplitQkvInputs::random(9, 4, 2, 80, 80, true, kTriescopeF16, rng);
  const Split together = run(all, gpu);
  const int width = all.width(), kv = 2 * 80;
  for (const int row : {0, 4, 8}) {
    SplitQkvInputs one = all;
    one.rows = 1;
    const auto cut = [&](const Floats& from, int of_row) {
      return Floats(from.begin() + row * of_row, from.begin() + (row + 1) * of_row);
    };
    one.qkv = cut(all.qkv, width);
    one.cos = cut(all.cos, 40);
    one.sin = cut(all.sin, 40);
    const std::int32_t slot = all.slots[static_cast<std::size_t>(row)];
    one.slots = {(slot + 1) % all.capacity};  // elsewhere
    const Split alone = run(one, gpu);
    const auto bytes = [](const Bytes& from, int begin, int count) {
      return Bytes(from.begin() + begin * 2, from.begin() + (begin + count) * 2);
    };
    CAPTURE(row);
    CHECK(alone.qkv == bytes(together.qkv, row * width, width));
    CHECK(bytes(alone.keys, one.slots[0] * kv, kv) == bytes(together.keys, slot * kv, kv));
    CHECK(bytes(alone.values, one.slots[0] * kv, kv) == bytes(together.values, slot * kv, kv));
  }
}

void check_split_nan(const CudaModule* gpu) {
  Rng rng(16);
  for (const bool norms : {false, true}) {
    SplitQkvInputs c = SplitQkvInputs::random(2, 3, 1, 16, 8, norms, kTriescopeF32, rng);
    const int width = c.width();
    // The second row's second q head, its k and its v.
    for (const int at : {16 + 1, 3 * 16 + 9, 4 * 16 + 3})
      c.qkv[static_cast<std::size_t>(width + at)] = kNaN;
    const Split got = run(c, gpu);
    const Floats qkv = decode(got.qkv, c.dtype), keys = decode(got.keys, c.dtype),
                 values = decode(got.values, c.dtype);
    const auto row = static_cast<std::size_t>(width);
    const auto slot = static_cast<std::size_t>(c.slots[1]) * 16;
    CAPTURE(norms);
    // Dimension 1 is rotated with dimension 5, dimension 9 is not.
    CHECK(std::isnan(qkv[row + 16 + 1]));
    CHECK(std::isnan(qkv[row + 16 + 5]));
    CHECK(std::isnan(qkv[row + 16 + 2]) == norms);
    CHECK(std::isnan(keys[slot + 9]));
    CHECK(std::isnan(keys[slot]) == norms);
    CHECK(std::isnan(values[slot + 3]));
    CHECK(!std::isnan(values[slot + 2]));
    CHECK(!any_nan(qkv, 0, row));
    CHECK(!any_nan(qkv, row, 16));
    CHECK(!any_nan(keys, static_cast<std::size_t>(c.slots[0]) * 16, 16));
  }
}

TEST_CASE(
    "CUDA split qkv: CUDA split of q, k and v, its source run on the CPU, agrees with the CPU twins") {
  check_split_qkv(nullptr);
}

TEST_CASE(
    "CUDA split qkv: CUDA split of q, k and v, its source run on the CPU: a row's bits depend neither on other rows nor on slots") {
  check_split_alone(nullptr);
}

TEST_CASE("CUDA split qkv: CUDA split of q, k and v, its source run on the CPU: a NaN stays") {
  check_split_nan(nullptr);
}

TEST_CASE(
    "CUDA split qkv: CUDA split of q, k and v refuses what its contract excludes and launches nothing") {
  alignas(16) float memory[64] = {};
  const std::int32_t slots[1] = {0};
  TriescopeSplitQkv split = {};
  split.qkv = memory;
  split.keys = memory + 32;
  split.values = memory + 40;
  split.slots = slots;
  split.cos = memory + 48;
  split.sin = memory + 50;
  split.rows = split.heads = split.kv_heads = 1;
  split.head_dim = split.rope_dims = 4;
  using S = TriescopeSplitQkv;
  check_refused(
      triescope_cuda_split_qkv, split, [](S& c) { c.rows = 0; }, [](S& c) { c.rows = 65536; },
      [](S& c) { c.heads = 0; }, [](S& c) { c.kv_heads = 0; }, [](S& c) { c.head_dim = 0; },
      [](S& c) { c.rope_dims = 3; }, [](S& c) { c.rope_dims = 6; }, [](S& c) { c.rope_dims = -2; },
      [](S& c) { c.cos = nullptr; }, [](S& c) { c.sin = nullptr; }, [](S& c) { c.eps = -1; },
      [](S& c) { c.qkv = nullptr; }, [](S& c) { c.keys = nullptr; },
      [](S& c) { c.values = nullptr; }, [](S& c) { c.slots = nullptr; }, [](S& c) { c.dtype = -1; },
      [](S& c) { c.dtype = 3; });
  CHECK(triescope_cuda_split_qkv(&split, nullptr) == 0);
  CHECK(::cuda_stand_in::launches == "split_qkv_heads<T>\n");
}

TEST_CASE(
    "CUDA split qkv: CUDA split of q, k and v on the GPU agrees with the CPU twins, row by row, and keeps NaNs") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_split_qkv(gpu);
  check_split_alone(gpu);
  check_split_nan(gpu);
}

}  // namespace
}  // namespace triescope::kernels
