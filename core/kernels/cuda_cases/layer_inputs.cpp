// The kernels of a layer between its norms and its products: q, k and v, and the MLP's activation.
#include <algorithm>

#include "core/kernels/activation.h"
#include "core/kernels/cuda_cases/kernel_inputs.h"
#include "core/kernels/cuda_cases/random_inputs.h"
#include "core/kernels/norm.h"
#include "core/kernels/rope.h"

namespace triescope::kernels {
namespace {

constexpr float kUntouched = -77.0f;  // what the storage holds in other slots

ActivationKind kind_of(int kind) {
  return kind == kTriescopeSilu       ? ActivationKind::kSilu
         : kind == kTriescopeGeluTanh ? ActivationKind::kGeluTanh
                                      : ActivationKind::kGelu;
}

}  // namespace

SplitQkvInputs SplitQkvInputs::random(int rows, int heads, int kv_heads, int head_dim,
                                      int rope_dims, bool norms, int dtype, Rng& rng) {
  SplitQkvInputs c;
  c.rows = rows;
  c.heads = heads;
  c.kv_heads = kv_heads;
  c.head_dim = head_dim;
  c.rope_dims = rope_dims;
  c.dtype = dtype;
  c.qkv = in_dtype(random_values(std::int64_t{rows} * c.width(), rng, 2.0f), dtype);
  if (norms) {
    c.query_norm = random_values(head_dim, rng);
    c.key_norm = random_values(head_dim, rng);
  }
  c.cos = random_values(std::int64_t{rows} * rope_dims / 2, rng);
  c.sin = random_values(std::int64_t{rows} * rope_dims / 2, rng);
  c.capacity = rows + 3;
  c.slots = shuffled(c.capacity, rng);
  c.slots.resize(static_cast<std::size_t>(rows));
  return c;
}

TriescopeSplitQkv SplitQkvInputs::put(CudaArrays& on, const CudaModule&) const {
  const Floats empty(storage(), kUntouched);
  return {.qkv = on.put(qkv, dtype),
          .keys = on.put(empty, dtype),
          .values = on.put(empty, dtype),
          .slots = on.list(slots),
          .query_norm = on.list(query_norm),
          .key_norm = on.list(key_norm),
          .cos = on.list(cos),
          .sin = on.list(sin),
          .eps = eps,
          .rows = rows,
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .rope_dims = rope_dims,
          .dtype = dtype};
}

Agreement SplitQkvInputs::compare(const CudaArrays& on, const Call& call) const {
  ThreadPool pool(1);
  const bool norms = !query_norm.empty();
  const std::ptrdiff_t row_width = width(), query = std::ptrdiff_t{heads} * head_dim,
                       kv = std::ptrdiff_t{kv_heads} * head_dim;
  Floats work = qkv;
  if (norms) {
    rms_norm_heads(work.data(), row_width, rows, heads, head_dim, query_norm.data(), eps, false,
                   pool);
    rms_norm_heads(work.data() + query, row_width, rows, kv_heads, head_dim, key_norm.data(), eps,
                   false, pool);
    work = in_dtype(work, dtype);
  }
  rope(work.data(), row_width, rows, heads + kv_heads, head_dim, rope_dims, cos.data(), sin.data());
  work = in_dtype(work, dtype);
  // q in its place in qkv, where k and v stay as they were; K and V in their slots.
  Floats want = qkv, keys(storage(), kUntouched), values(storage(), kUntouched);
  for (int r = 0; r < rows; ++r) {
    const auto row = work.begin() + r * row_width;
    const std::ptrdiff_t slot = slots[static_cast<std::size_t>(r)] * kv;
    std::copy(row, row + query, want.begin() + r * row_width);
    std::copy(row + query, row + query + kv, keys.begin() + slot);
    std::copy(row + query + kv, row + row_width, values.begin() + slot);
  }
  // Two products, below 16 here, are added: near 0 they have the rounding of the larger; so has
  // what follows a norm that takes one rounding more or less.
  const double fraction = relative_rounding(dtype, 2e-6),
               least = 16 * relative_rounding(norms ? dtype : int{kTriescopeF32}, 2e-6);
  const Floats found = on.get(call.qkv, qkv.size(), dtype);
  Agreement result = agreement(found, want, fraction, least);
  result = worse(result, agreement(on.get(call.keys, storage(), dtype), keys, fraction, least));
  result = worse(result, agreement(on.get(call.values, storage(), dtype), values, 0, 0));
  for (int r = 0; r < rows; ++r)
    if (!std::equal(found.begin() + r * row_width + query, found.begin() + (r + 1) * row_width,
                    qkv.begin() + r * row_width + query))
      result.unequal = "the kernel changes k or v of the product";
  return result;
}

std::string SplitQkvInputs::what() const { return "rotary positions of q"; }

double SplitQkvInputs::bytes() const {
  return 2.0 * static_cast<double>(qkv.size() * size_of_dtype(dtype));
}

ActivationInputs ActivationInputs::random(int rows, int dim, bool gated, int kind, int dtype,
                                          Rng& rng) {
  ActivationInputs c;
  c.rows = rows;
  c.dim = dim;
  c.gated = gated;
  c.kind = kind;
  c.dtype = dtype;
  c.in = in_dtype(random_values(std::int64_t{rows} * (gated ? 2 : 1) * dim, rng, 4.0f), dtype);
  return c;
}

TriescopeGatedActivation ActivationInputs::put(CudaArrays& on, const CudaModule&) const {
  TriescopeGatedActivation call = {};
  call.in = on.put(in, dtype);
  call.out = on.room(static_cast<std::size_t>(rows) * static_cast<std::size_t>(dim) *
                     size_of_dtype(dtype));
  call.rows = rows;
  call.dim = dim;
  call.gated = gated;
  call.kind = kind;
  call.dtype = dtype;
  return call;
}

Agreement ActivationInputs::compare(const CudaArrays& on, const Call& call) const {
  ThreadPool pool(1);
  const std::ptrdiff_t width = (gated ? 2 : 1) * std::ptrdiff_t{dim};
  Floats act(static_cast<std::size_t>(rows) * static_cast<std::size_t>(dim));
  for (int r = 0; r < rows; ++r)
    std::copy_n(in.begin() + r * width, dim, act.begin() + std::ptrdiff_t{r} * dim);
  activation(kind_of(kind), act.data(), dim, rows, dim, pool);
  act = in_dtype(act, dtype);
  for (int r = 0; r < rows && gated; ++r)
    for (int i = 0; i < dim; ++i)
      act[static_cast<std::size_t>(r) * static_cast<std::size_t>(dim) +
          static_cast<std::size_t>(i)] *= in[static_cast<std::size_t>(r * width + dim + i)];
  act = in_dtype(act, dtype);
  // Two roundings in fp16 and bf16; times `up`, below 18 here, in the least distance.
  return agreement(on.get(call.out, act.size(), dtype), act, 2 * relative_rounding(dtype, 2e-6),
                   18e-6);
}

std::string ActivationInputs::what() const {
  return std::string(gated ? "gated " : "") + (kind == kTriescopeSilu       ? "SiLU"
                                               : kind == kTriescopeGeluTanh ? "GELU (tanh)"
                                                                            : "GELU");
}

double ActivationInputs::bytes() const {
  return static_cast<double>(in.size() * size_of_dtype(dtype)) * (gated ? 1.5 : 2.0);
}

}  // namespace triescope::kernels
