// Attention of tree nodes over lists of visible KV slots, on the CPU.
//
// Row r sees a list of slots j = 0..L_r-1 in path order: the prefix all rows share, then its own
// list. For head h, with kv = h / (heads / kv_heads):
//   s_j = scale * q[r, h] . K[slot_j, kv]            softcap c > 0: s_j = c * tanh(s_j / c)
//   out[r, h] = sum_j exp(s_j - max s) * V[slot_j, kv]  /  sum_j exp(s_j - max s)
// With sinks, max s and the divisor also count the head's sink: + exp(sink_h - max s).
// A window w > 0 keeps the last w entries of the list.
//
// Invariant ("path only"): out[r] depends on q[r] and on the K and V along its own list, bit for
// bit, and not on other rows, on where slots lie, on the number of threads, or on where the list is
// divided into prefix and own part. Every s_j is one chain over the head's dimensions, the sum over
// j of V is one chain in path order, and the sum of the exponentials is divided by index in the
// list. Tolerance against libtorch: 1e-5 of max |V| (exp within 2 ulp, another order of summation).
// The prefix (and what own lists have in common at their start) is read once for all rows of a
// tile.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/thread_pool.h"
#include "core/kernels/precision.h"

namespace triescope::kernels {

struct AttentionShape {
  int heads = 0, kv_heads = 0;   // heads % kv_heads == 0
  int head_dim = 0;              // any; multiples of 16 are fast
  float scale = 0;               // usually 1 / sqrt(head_dim)
  float softcap = 0;             // 0 = none
  int window = 0;                // 0 = all
  const float* sinks = nullptr;  // [heads], a score that gives no value; null = none
};

// One layer's KV: [slots, kv_heads, head_dim] each.
struct KvView {
  const void* keys = nullptr;
  const void* values = nullptr;
  Precision precision = Precision::kF32;
};

// The slots that rows see, as in ForwardBatch of core/model/model.h: first the prefix, then
// of(row). Borrows the lists.
struct VisibleSlots {
  std::span<const std::int32_t> prefix;   // seen by all rows, first
  std::span<const std::int32_t> own;      // then row r sees own[offsets[r] .. offsets[r + 1])
  std::span<const std::int32_t> offsets;  // [rows + 1]; empty = causal: row r sees own[0 .. r]
  std::span<const std::int32_t> of(std::size_t row) const {
    if (offsets.empty()) return own.first(row + 1);
    return own.subspan(static_cast<std::size_t>(offsets[row]),
                       static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  }
};

// q: row r at q + r * q_stride, [heads, head_dim]; out likewise. Every row sees at least one slot
// (its own). K and V of all visible slots are already written. Error{kInvalidArgument}: a shape
// that contradicts itself, or a row that sees nothing. Slots are not range-checked (the model does
// that).
void tree_attention(const float* q, std::int64_t q_stride, std::int64_t rows, const KvView& kv,
                    const AttentionShape& shape, const VisibleSlots& visible, float* out,
                    std::int64_t out_stride, ThreadPool& pool);

// out[slots[r], 0 .. dims) = rows[r * stride ..]: writes K or V of this forward's rows into one
// layer. dims = kv_heads * head_dim.
void store_kv(const float* rows, std::int64_t stride, std::int64_t count, int dims,
              const std::int32_t* slots, Precision precision, void* out);

}  // namespace triescope::kernels
