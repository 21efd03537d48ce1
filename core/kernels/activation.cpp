#include "core/kernels/activation.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

constexpr std::int64_t kAloneElements = 8192;

// x/2 * (1 + erf(x / sqrt 2))
void gelu_row(const float* gate, const float* up, std::int64_t n, float* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float y = 0.5f * gate[i] * (1.0f + std::erf(gate[i] * 0.70710678118654752f));
    out[i] = up == nullptr ? y : y * up[i];
  }
}

void apply(ActivationKind kind, const float* gate, const float* up, std::int64_t stride,
           std::int64_t rows, std::int64_t dim, float* out, std::int64_t out_stride,
           ThreadPool& pool) {
  const RowActivation act = row_activation(kind);
  const auto run = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t r = begin; r < end; ++r) {
      act(gate + r * stride, up == nullptr ? nullptr : up + r * stride, dim, out + r * out_stride);
    }
  };
  if (rows * dim <= kAloneElements) {
    run(0, rows, 0);
  } else {
    pool.for_ranges(rows, run);
  }
}

}  // namespace

RowActivation row_activation(ActivationKind kind) {
  const CpuKernels& kernels = cpu_kernels();
  switch (kind) {
    case ActivationKind::kSilu:
      return kernels.silu;
    case ActivationKind::kGeluTanh:
      return kernels.gelu_tanh;
    case ActivationKind::kClampedSwiglu:
      return kernels.clamped_swiglu;
    case ActivationKind::kGelu:
      break;
  }
  return &gelu_row;
}

void gated_activation(ActivationKind kind, const float* gate, const float* up, std::int64_t stride,
                      std::int64_t rows, std::int64_t dim, float* out, std::int64_t out_stride,
                      ThreadPool& pool) {
  apply(kind, gate, up, stride, rows, dim, out, out_stride, pool);
}

void activation(ActivationKind kind, float* x, std::int64_t stride, std::int64_t rows,
                std::int64_t dim, ThreadPool& pool) {
  apply(kind, x, nullptr, stride, rows, dim, x, stride, pool);
}

void add_to(float* x, const float* y, std::int64_t count) { cpu_kernels().add(x, y, count); }

void scale_by(float* x, float factor, std::int64_t count) { cpu_kernels().scale(x, factor, count); }

void softcap(float* x, float cap, std::int64_t count) { cpu_kernels().softcap(x, cap, count); }

void clip(float* x, float limit, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = std::clamp(x[i], -limit, limit);
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace triescope::kernels
