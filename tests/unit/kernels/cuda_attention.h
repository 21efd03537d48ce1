// Calls of tree attention on CUDA for tests: random lists over shuffled slots.
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

using Call = AttentionInputs;

inline double tolerance(int dtype) { return AttentionInputs::tolerance(dtype); }

inline Bytes run_on(const Call& c, const CudaModule& module) {
  CudaArrays on(module);
  return on.get(launched(c, on, module).out, c.q.size() * size_of_dtype(c.dtype));
}
inline Bytes run_on_cpu(const Call& c) { return run_on(c, module_of(nullptr)); }
inline Bytes run_on_gpu(const Call& c, const CudaModule& gpu) { return run_on(c, gpu); }

// Random lists over shuffled slots. The prefix of the call holds `cut` of the slots that all rows
// share.
struct Scene {
  Call call;
  std::vector<std::vector<std::int32_t>> lists;

  Scene(const AttentionShape& shape, int dtype, std::int64_t rows, int shared, int longest_own,
        Rng& rng) {
    call.shape = shape;
    call.dtype = dtype;
    const std::int32_t slots = shared + static_cast<std::int32_t>(rows) * longest_own;
    const std::int64_t kv = std::int64_t{slots} * shape.kv_heads * shape.head_dim;
    call.q = in_dtype(random_values(rows * shape.heads * shape.head_dim, rng, 2.0f), dtype);
    call.keys = in_dtype(random_values(kv, rng), dtype);
    call.values = in_dtype(random_values(kv, rng), dtype);
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
    c.rows = static_cast<int>(end - begin);
    const auto row_values = static_cast<std::ptrdiff_t>(call.q.size() / lists.size());
    c.q.assign(call.q.begin() + begin * row_values, call.q.begin() + end * row_values);
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
inline void spoil(Floats& storage, const AttentionShape& shape, std::int32_t slot, int kv_head) {
  const int at = (slot * shape.kv_heads + kv_head) * shape.head_dim + 3;
  storage[static_cast<std::size_t>(at)] = kNaN;
}

}  // namespace triescope::kernels::test
