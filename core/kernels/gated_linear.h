// The first half of a gated MLP: two linear layers of one input and the activation that joins them.
//
//   y[r, i] = act(gate[r, i]) * up[r, i],   gate = linear(w's first part), up = linear(its second)
//
// The result has the bits of linear() and gated_activation() (linear.h, activation.h), "path only"
// included. Each thread joins the outputs that it computed while they are in its cache: gate and up
// never cross from core to core, and up is not kept.
#pragma once

#include <cstdint>

#include "core/base/thread_pool.h"
#include "core/kernels/activation.h"
#include "core/kernels/linear.h"

namespace triescope::kernels {

// w: two parts with equally many outputs. x: row r at x + r * x_stride, [inputs]. y: row r at y + r
// * y_stride, [half of w's outputs]; may not overlap x. rows >= 0. Error{kInvalidArgument}: other
// parts.
void gated_linear(const PackedLinear& w, ActivationKind kind, const float* x, std::int64_t x_stride,
                  std::int64_t rows, float* y, std::int64_t y_stride, ThreadPool& pool);

}  // namespace triescope::kernels
