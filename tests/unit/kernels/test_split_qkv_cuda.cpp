// The CUDA kernel between the product for q, k, v and attention, against the CPU twins:
// its own source on the CPU (always), and the module's on a GPU where one answers.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "core/kernels/norm.h"
#include "core/kernels/rope.h"
#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/split_qkv.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

struct SplitQkv {
  int rows = 1, heads = 1, kv_heads = 1, head_dim = 8, rope_dims = 0, dtype = kTriescopeF32;
  Floats qkv, query_norm, key_norm, cos, sin;
  std::vector<std::int32_t> slots;
  int capacity = 1;
  int all() const { return heads + 2 * kv_heads; }
};

struct Split {
  Bytes qkv, keys, values;
  bool operator==(const Split&) const = default;
};

constexpr float kUntouched = -77.0f;

SplitQkv random_split(int rows, int heads, int kv_heads, int head_dim, int rope_dims, bool norms,
                      int dtype, Rng& rng) {
  SplitQkv c;
  c.rows = rows;
  c.heads = heads;
  c.kv_heads = kv_heads;
  c.head_dim = head_dim;
  c.rope_dims = rope_dims;
  c.dtype = dtype;
  c.qkv = in_dtype(test::random_values(std::int64_t{rows} * c.all() * head_dim, rng, 2.0f), dtype);
  if (norms) {
    c.query_norm = test::random_values(head_dim, rng);
    c.key_norm = test::random_values(head_dim, rng);
  }
  c.cos = test::random_values(std::int64_t{rows} * rope_dims / 2, rng);
  c.sin = test::random_values(std::int64_t{rows} * rope_dims / 2, rng);
  c.capacity = rows + 3;
  c.slots = test::shuffled(c.capacity, rng);
  c.slots.resize(static_cast<std::size_t>(rows));
  return c;
}

Split run(const SplitQkv& c, const CudaModule* gpu) {
  Place place(gpu);
  Floats in = c.qkv,
         storage(static_cast<std::size_t>(c.capacity * c.kv_heads * c.head_dim), kUntouched);
  const Bytes qkv = encode(in, c.dtype), empty = encode(storage, c.dtype);
  TriescopeSplitQkv call = {};
  call.qkv = place.put(qkv);
  call.keys = place.put(empty);
  call.values = place.put(empty);
  call.slots = place.list(c.slots);
  call.query_norm = place.list(c.query_norm);
  call.key_norm = place.list(c.key_norm);
  call.cos = place.list(c.cos);
  call.sin = place.list(c.sin);
  call.eps = 1e-6f;
  call.rows = c.rows;
  call.heads = c.heads;
  call.kv_heads = c.kv_heads;
  call.head_dim = c.head_dim;
  call.rope_dims = c.rope_dims;
  call.dtype = c.dtype;
  REQUIRE(place.launch(triescope_cuda_split_qkv, &CudaModule::split_qkv, call) == 0);
  return {place.get(call.qkv, qkv.size()), place.get(call.keys, empty.size()),
          place.get(call.values, empty.size())};
}

// q in its place in qkv, K and V in their slots, of the CPU twins.
struct SplitTwin {
  Floats qkv, keys, values;
};

SplitTwin twin(const SplitQkv& c) {
  ThreadPool pool(1);
  const int width = c.all() * c.head_dim;
  SplitTwin t;
  t.qkv = c.qkv;
  Floats work = c.qkv;
  float* q = work.data();
  float* k = q + c.heads * c.head_dim;
  if (!c.query_norm.empty()) {
    rms_norm_heads(q, width, c.rows, c.heads, c.head_dim, c.query_norm.data(), 1e-6f, false, pool);
    rms_norm_heads(k, width, c.rows, c.kv_heads, c.head_dim, c.key_norm.data(), 1e-6f, false, pool);
    work = in_dtype(work, c.dtype);
    q = work.data();
    k = q + c.heads * c.head_dim;
  }
  rope(q, width, c.rows, c.heads + c.kv_heads, c.head_dim, c.rope_dims, c.cos.data(), c.sin.data());
  work = in_dtype(work, c.dtype);
  const auto storage = static_cast<std::size_t>(c.capacity * c.kv_heads * c.head_dim);
  t.keys.assign(storage, kUntouched);
  t.values.assign(storage, kUntouched);
  for (int r = 0; r < c.rows; ++r) {
    const float* row = work.data() + r * width;
    const int kv = c.kv_heads * c.head_dim, query = c.heads * c.head_dim;
    const std::ptrdiff_t slot = std::ptrdiff_t{c.slots[static_cast<std::size_t>(r)]} * kv;
    std::copy(row, row + query, t.qkv.begin() + r * width);
    std::copy(row + query, row + query + kv, t.keys.begin() + slot);
    std::copy(row + query + kv, row + width, t.values.begin() + slot);
  }
  return t;
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
        const SplitQkv c =
            random_split(rows, heads, kv_heads, head_dim, rope_dims, norms, dtype, rng);
        const Split got = run(c, gpu);
        const SplitTwin want = twin(c);
        CHECK(decode(got.values, dtype) == want.values);
        const Floats qkv = decode(got.qkv, dtype), keys = decode(got.keys, dtype);
        // Two products, below 16 here, are added: near 0 they have the rounding of the larger; so has
        // what follows a norm that takes one rounding more or less.
        const double least = 16 * relative(norms ? dtype : kTriescopeF32, 2e-6);
        const double fraction = relative(dtype, 2e-6);
        CHECK(distance(qkv, want.qkv, fraction, least) <= 1);
        CHECK(distance(keys, want.keys, fraction, least) <= 1);
        // k and v of the product stay as they were, in every row.
        const int width = c.all() * head_dim, query = heads * head_dim;
        for (int r = 0; r < rows; ++r)
          CHECK(std::equal(qkv.begin() + r * width + query, qkv.begin() + (r + 1) * width,
                           c.qkv.begin() + r * width + query));
      }
    }
  }
}

void check_split_alone(const CudaModule* gpu) {
  Rng rng(15);
  const SplitQkv all = random_split(9, 4, 2, 80, 80, true, kTriescopeF16, rng);
  const Split together = run(all, gpu);
  const int width = all.all() * 80, kv = 2 * 80;
  for (const int row : {0, 4, 8}) {
    SplitQkv one = all;
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
    SplitQkv c = random_split(2, 3, 1, 16, 8, norms, kTriescopeF32, rng);
    const int width = c.all() * 16;
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

TEST_CASE("CUDA split of q, k and v, its source run on the CPU, agrees with the CPU twins") {
  check_split_qkv(nullptr);
}

TEST_CASE(
    "CUDA split of q, k and v, its source run on the CPU: a row's bits depend neither on other rows "
    "nor on slots") {
  check_split_alone(nullptr);
}

TEST_CASE("CUDA split of q, k and v, its source run on the CPU: a NaN stays") {
  check_split_nan(nullptr);
}

TEST_CASE("CUDA split of q, k and v refuses what its contract excludes and launches nothing") {
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
    "CUDA split of q, k and v on the GPU agrees with the CPU twins, row by row, and keeps NaNs") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_split_qkv(gpu);
  check_split_alone(gpu);
  check_split_nan(gpu);
}

}  // namespace
}  // namespace triescope::kernels
