#include <algorithm>
#include <numeric>

#include "core/kernels/cuda_cases/kernel_inputs.h"
#include "core/kernels/cuda_cases/random_inputs.h"

namespace triescope::kernels {

AttentionInputs AttentionInputs::random(const AttentionShape& shape, int rows, int prefix,
                                        int dtype, Rng& rng) {
  AttentionInputs c;
  c.shape = shape;
  c.dtype = dtype;
  c.rows = rows;
  const std::int32_t slots = prefix + rows;
  const auto order = shuffled(slots, rng);
  c.prefix.assign(order.begin(), order.begin() + prefix);
  const std::vector<std::int32_t> of_rows(order.begin() + prefix, order.end());
  c.longest = slots;
  if (prefix == 0) {
    c.own = of_rows;
  } else {
    // The first row is the root; every second row after it hangs below the one before it.
    c.offsets = {0};
    for (std::size_t r = 0; r < of_rows.size(); ++r) {
      if (r > 0) c.own.push_back(of_rows[0]);
      if (r > 1 && r % 2 == 1) c.own.push_back(of_rows[r - 1]);
      c.own.push_back(of_rows[r]);
      c.offsets.push_back(static_cast<std::int32_t>(c.own.size()));
    }
    c.longest = prefix + std::min(3, rows);
  }
  const std::int64_t kv = std::int64_t{slots} * shape.kv_heads * shape.head_dim;
  c.q = in_dtype(random_values(std::int64_t{rows} * c.width(), rng, 2.0f), dtype);
  c.keys = in_dtype(random_values(kv, rng), dtype);
  c.values = in_dtype(random_values(kv, rng), dtype);
  return c;
}

TriescopeTreeAttention AttentionInputs::put(CudaArrays& on, const CudaModule& module) const {
  const std::size_t row = static_cast<std::size_t>(width()),
                    stride = row + static_cast<std::size_t>(apart);
  Floats spread(static_cast<std::size_t>(rows) * stride);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r)
    std::copy_n(q.begin() + static_cast<std::ptrdiff_t>(r * row), row,
                spread.begin() + static_cast<std::ptrdiff_t>(r * stride));
  TriescopeTreeAttention call = {};
  call.q = on.put(spread, dtype);
  call.q_stride = width() + apart;
  call.keys = on.put(keys, dtype);
  call.values = on.put(values, dtype);
  call.out = on.room(q.size() * size_of_dtype(dtype));
  call.out_stride = width();
  call.prefix = on.list(prefix);
  call.own = on.list(own);
  call.offsets = on.list(offsets);
  call.prefix_count = static_cast<std::int32_t>(prefix.size());
  call.longest = longest;
  call.rows = rows;
  call.heads = shape.heads;
  call.kv_heads = shape.kv_heads;
  call.head_dim = shape.head_dim;
  call.window = shape.window;
  call.scale = shape.scale;
  call.softcap = shape.softcap;
  call.dtype = dtype;
  call.scratch_bytes =
      scratch > 0 ? scratch
                  : module.tree_attention_scratch(rows, shape.heads, shape.head_dim, longest);
  call.scratch = call.scratch_bytes > 0 ? on.room(call.scratch_bytes) : nullptr;
  return call;
}

Floats AttentionInputs::twin() const {
  ThreadPool pool(1);
  Floats out(q.size());
  tree_attention(q.data(), width(), rows, {keys.data(), values.data(), Precision::kF32}, shape,
                 {.prefix = prefix, .own = own, .offsets = offsets}, out.data(), width(), pool);
  return out;
}

double AttentionInputs::tolerance(int dtype) {
  constexpr double kLargestValue = 4.3;
  return kLargestValue * (dtype == kTriescopeF32 ? 2e-5 : dtype == kTriescopeF16 ? 1e-3 : 8e-3);
}

Agreement AttentionInputs::compare(const CudaArrays& on, const Call& call) const {
  return agreement(on.get(call.out, q.size(), dtype), twin(), 0, tolerance(dtype));
}

std::string AttentionInputs::what() const {
  const std::string rows_text = std::to_string(rows) + (rows == 1 ? " row" : " rows");
  return offsets.empty() ? "tree attention, a prefill of " + rows_text
                         : "tree attention, " + std::to_string(prefix.size()) +
                               " slots and a tree of " + rows_text;
}

double AttentionInputs::bytes() const {
  return static_cast<double>((2 * q.size() + keys.size() + values.size()) * size_of_dtype(dtype));
}

}  // namespace triescope::kernels
