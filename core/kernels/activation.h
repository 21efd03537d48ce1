// Elementwise pieces of the MLP. Every element depends on its own inputs alone. Tolerance against
// libtorch: 1e-6 relative to the element or 1e-7 absolute (exp within 2 ulp).
#pragma once

#include <cstdint>

#include "core/base/thread_pool.h"

namespace triescope::kernels {

// kClampedSwiglu: act(gate) = g * sigmoid(1.702 g), g = min(gate, 7); with up it is times
// min(max(up, -7), 7) + 1 instead of up (gpt-oss).
enum class ActivationKind : std::uint8_t { kSilu, kGeluTanh, kGelu, kClampedSwiglu };

// One row: out[i] = act(gate[i]) * up[i], i < n; if up is null, act(gate[i]). out may be gate. The
// function belongs to the calling thread's instruction set.
using RowActivation = void (*)(const float* gate, const float* up, std::int64_t n, float* out);
RowActivation row_activation(ActivationKind kind);

// out[r, i] = act(gate[r, i]) * up[r, i], i < dim. Row r of gate is at gate + r * stride, and that
// of up likewise (one matrix computes both: up = gate + dim). out may be gate (out_stride ==
// stride).
void gated_activation(ActivationKind kind, const float* gate, const float* up, std::int64_t stride,
                      std::int64_t rows, std::int64_t dim, float* out, std::int64_t out_stride,
                      ThreadPool& pool);

// x[r, i] = act(x[r, i]) in place.
void activation(ActivationKind kind, float* x, std::int64_t stride, std::int64_t rows,
                std::int64_t dim, ThreadPool& pool);

// x[i] += y[i], x[i] *= f, x[i] = cap * tanh(x[i] / cap), x[i] = min(max(x[i], -limit), limit)
void add_to(float* x, const float* y, std::int64_t count);
void scale_by(float* x, float factor, std::int64_t count);
void softcap(float* x, float cap, std::int64_t count);
void clip(float* x, float limit, std::int64_t count);
// 1 / (1 + exp(-x))
float sigmoid(float x);

}  // namespace triescope::kernels
