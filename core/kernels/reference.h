// The operations once more, through libtorch in fp64: tests compare the fast ones with these. They
// have the same meaning and row-major, dense arguments; they are slow, single-use, and promise no
// order of summation. Built into triescope_kernels_torch.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/kernels/activation.h"
#include "core/kernels/tree_attention.h"

namespace triescope::kernels {

// x [rows, k], w [n, k], bias [n] or null -> [rows, n]
std::vector<float> linear_ref(const float* w, const float* bias, const float* x, std::int64_t rows,
                              std::int64_t n, std::int64_t k);

// q [rows, heads, head_dim]; keys, values [slots, kv_heads, head_dim] fp32 -> [rows, heads,
// head_dim]
std::vector<float> tree_attention_ref(const float* q, std::int64_t rows, const float* keys,
                                      const float* values, std::int64_t slots,
                                      const AttentionShape& shape, const VisibleSlots& visible);

// x [rows, dim]
std::vector<float> rms_norm_ref(const float* x, std::int64_t rows, std::int64_t dim,
                                const float* weight, float eps, bool plus_one);
std::vector<float> layer_norm_ref(const float* x, std::int64_t rows, std::int64_t dim,
                                  const float* weight, const float* bias, float eps);
std::vector<float> gated_activation_ref(ActivationKind kind, const float* gate, const float* up,
                                        std::int64_t count);
// x [rows, heads, head_dim]; cos, sin [rows, dims / 2]
std::vector<float> rope_ref(const float* x, std::int64_t rows, int heads, int head_dim, int dims,
                            const float* cos, const float* sin);
std::vector<float> log_softmax_ref(const float* row, std::int64_t n);
// Values and indices of torch.sort(descending, stable), the first k.
std::vector<std::pair<float, std::int32_t>> top_k_ref(const float* row, std::int64_t n,
                                                      std::int64_t k);

}  // namespace triescope::kernels
