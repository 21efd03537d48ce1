// Normalisation of rows. A row's result depends on that row alone (fixed order of summation). In
// place is allowed (out == x with the same stride).
#pragma once

#include <cstdint>

#include "core/base/thread_pool.h"

namespace triescope::kernels {

struct Rows {  // `count` rows of `dim` floats
  std::int64_t count = 0;
  std::int64_t dim = 0;
};

// out = x / sqrt(mean(x^2) + eps) * w, w = weight or (plus_one, Gemma) 1 + weight. weight [dim] or
// null = 1. Tolerance against libtorch: 1e-6 relative (fp32 sums in 16 lanes).
void rms_norm(const float* x, std::int64_t x_stride, Rows rows, const float* weight, float eps,
              bool plus_one, float* out, std::int64_t out_stride, ThreadPool& pool);

// out = (x - mean) / sqrt(var + eps) * weight + bias; weight, bias [dim] or null. The variance is
// that of the centred values.
void layer_norm(const float* x, std::int64_t x_stride, Rows rows, const float* weight,
                const float* bias, float eps, float* out, std::int64_t out_stride,
                ThreadPool& pool);

// RMS norm of every head of a row (q/k norm): [heads, head_dim] at x + r * stride, in place; weight
// [head_dim].
void rms_norm_heads(float* x, std::int64_t stride, std::int64_t rows, int heads, int head_dim,
                    const float* weight, float eps, bool plus_one, ThreadPool& pool);

}  // namespace triescope::kernels
