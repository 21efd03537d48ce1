// Calls of tree attention on CUDA for tests: random lists over shuffled slots, run by the kernels'
// source on the CPU (which one test file includes) or by the module on a GPU, beside the CPU twin.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/kernels/cuda_module.h"
#include "core/kernels/tree_attention.h"
#include "tests/support/cuda_stand_in.h"
#include "tests/unit/kernels/cuda_place.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels::test {

inline double tolerance(int dtype) {  // of max |V|, which random_values keeps below 4.3
  return 4.3 * (dtype == kTriescopeF32 ? 2e-5 : dtype == kTriescopeF16 ? 1e-3 : 8e-3);
}

struct Call {
  AttentionShape shape;
  int dtype = 0;
  std::int64_t rows = 0;
  Bytes q, keys, values;
  std::vector<std::int32_t> prefix, own, offsets;  // offsets empty: causal, own = row slots
  std::int32_t longest = 0;
  std::size_t scratch = 0;  // bytes; 0: what the contract says
};

inline std::size_t scratch_of(const Call& c) {
  return c.scratch > 0 ? c.scratch
                       : triescope_cuda_tree_attention_scratch(
                             static_cast<int>(c.rows), c.shape.heads, c.shape.head_dim, c.longest);
}

// Runs a call with the pointers of `place` (bytes -> where the kernel can read them).
inline Bytes run_on_cpu(const Call& c) {
  Bytes out(c.q.size());
  Bytes scratch(scratch_of(c));
  const TriescopeTreeAttention a{
      .q = c.q.data(),
      .q_stride = c.shape.heads * c.shape.head_dim,
      .keys = c.keys.data(),
      .values = c.values.data(),
      .out = out.data(),
      .out_stride = c.shape.heads * c.shape.head_dim,
      .prefix = c.prefix.data(),
      .own = c.own.data(),
      .offsets = c.offsets.empty() ? nullptr : c.offsets.data(),
      .prefix_count = static_cast<std::int32_t>(c.prefix.size()),
      .longest = c.longest,
      .rows = static_cast<std::int32_t>(c.rows),
      .heads = c.shape.heads,
      .kv_heads = c.shape.kv_heads,
      .head_dim = c.shape.head_dim,
      .window = c.shape.window,
      .scale = c.shape.scale,
      .softcap = c.shape.softcap,
      .dtype = c.dtype,
      .scratch = scratch.data(),
      .scratch_bytes = scratch.size(),
  };
  REQUIRE(triescope_cuda_tree_attention(&a, nullptr) == 0);
  return out;
}

inline Bytes run_on_gpu(const Call& c, const CudaModule& gpu) {
  std::vector<void*> owned;
  const auto place = [&](const void* host, std::size_t bytes) {
    void* p = nullptr;
    REQUIRE(gpu.allocate(&p, std::max<std::size_t>(bytes, 16)) == 0);
    owned.push_back(p);
    if (host != nullptr && bytes > 0) REQUIRE(gpu.to_device(p, host, bytes) == 0);
    return p;
  };
  const std::size_t scratch = scratch_of(c);
  TriescopeTreeAttention a{};
  a.q = place(c.q.data(), c.q.size());
  a.keys = place(c.keys.data(), c.keys.size());
  a.values = place(c.values.data(), c.values.size());
  a.out = place(nullptr, c.q.size());
  a.prefix = static_cast<const std::int32_t*>(place(c.prefix.data(), c.prefix.size() * 4));
  a.own = static_cast<const std::int32_t*>(place(c.own.data(), c.own.size() * 4));
  a.offsets = c.offsets.empty()
                  ? nullptr
                  : static_cast<const std::int32_t*>(place(c.offsets.data(), c.offsets.size() * 4));
  a.scratch = place(nullptr, scratch);
  a.scratch_bytes = scratch;
  a.q_stride = a.out_stride = c.shape.heads * c.shape.head_dim;
  a.prefix_count = static_cast<std::int32_t>(c.prefix.size());
  a.longest = c.longest;
  a.rows = static_cast<std::int32_t>(c.rows);
  a.heads = c.shape.heads;
  a.kv_heads = c.shape.kv_heads;
  a.head_dim = c.shape.head_dim;
  a.window = c.shape.window;
  a.scale = c.shape.scale;
  a.softcap = c.shape.softcap;
  a.dtype = c.dtype;
  REQUIRE(gpu.tree_attention(&a, nullptr) == 0);
  Bytes out(c.q.size());
  REQUIRE(gpu.to_host(out.data(), a.out, out.size()) == 0);
  for (void* p : owned) gpu.free(p);
  return out;
}

// Random lists over shuffled slots. The prefix of the call holds `cut` of the slots that all rows
// share.
struct Scene {
  Call call;
  std::vector<float> q, keys, values;
  std::vector<std::vector<std::int32_t>> lists;

  Scene(const AttentionShape& shape, int dtype, std::int64_t rows, int shared, int longest_own,
        Rng& rng) {
    call.shape = shape;
    call.dtype = dtype;
    const std::int32_t slots = shared + static_cast<std::int32_t>(rows) * longest_own;
    q = random_values(rows * shape.heads * shape.head_dim, rng, 2.0f);
    keys = random_values(std::int64_t{slots} * shape.kv_heads * shape.head_dim, rng);
    values = random_values(std::int64_t{slots} * shape.kv_heads * shape.head_dim, rng);
    call.q = encode(q, dtype);
    call.keys = encode(keys, dtype);
    call.values = encode(values, dtype);
    const auto order = shuffled(slots, rng);
    std::int32_t next = shared;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<std::int32_t> list(order.begin(), order.begin() + shared);
      const int own = 1 + static_cast<int>(rng.next() % static_cast<std::uint64_t>(longest_own));
      for (int i = 0; i < own; ++i) list.push_back(order[static_cast<std::size_t>(next++)]);
      lists.push_back(list);
    }
  }

  Call rows(std::int64_t begin, std::int64_t end, std::ptrdiff_t cut) const {
    Call c = call;
    c.rows = end - begin;
    const auto row_bytes = static_cast<std::ptrdiff_t>(call.q.size() / lists.size());
    c.q.assign(call.q.begin() + begin * row_bytes, call.q.begin() + end * row_bytes);
    const auto& first = lists[static_cast<std::size_t>(begin)];
    c.prefix.assign(first.begin(), first.begin() + cut);
    c.offsets = {0};
    for (std::int64_t r = begin; r < end; ++r) {
      const auto& list = lists[static_cast<std::size_t>(r)];
      c.own.insert(c.own.end(), list.begin() + cut, list.end());
      c.offsets.push_back(static_cast<std::int32_t>(c.own.size()));
      c.longest = std::max(c.longest, static_cast<std::int32_t>(list.size()));
    }
    return c;
  }

  std::vector<float> twin(const Call& c, std::int64_t begin) const {
    ThreadPool pool(1);
    const std::int64_t width = c.shape.heads * c.shape.head_dim;
    std::vector<float> out(static_cast<std::size_t>(c.rows * width));
    tree_attention(
        q.data() + begin * width, width, c.rows, {keys.data(), values.data(), Precision::kF32},
        c.shape, {.prefix = c.prefix, .own = c.own, .offsets = c.offsets}, out.data(), width, pool);
    return out;
  }
};

inline double worst_error(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off = std::fabs(double{a[i]} - b[i]);
    if (std::isnan(off)) return INFINITY;
    worst = std::max(worst, off);
  }
  return worst;
}

// K and V of one key/value head and slot become NaN.
inline void spoil(Bytes& storage, const AttentionShape& shape, std::int32_t slot, int kv_head) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const int at = (slot * shape.kv_heads + kv_head) * shape.head_dim + 3;
  std::memcpy(storage.data() + at * 4, &nan, 4);
}

}  // namespace triescope::kernels::test
