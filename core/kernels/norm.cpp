#include "core/kernels/norm.h"

#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

// With fewer elements, one thread is done before a second could start.
constexpr std::int64_t kAloneElements = 16384;

template <class Body>
void each_row(Rows rows, ThreadPool& pool, Body body) {
  if (rows.count * rows.dim <= kAloneElements) {
    for (std::int64_t r = 0; r < rows.count; ++r) body(r);
    return;
  }
  pool.for_ranges(rows.count, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t r = begin; r < end; ++r) body(r);
  });
}

}  // namespace

void rms_norm(const float* x, std::int64_t x_stride, Rows rows, const float* weight, float eps,
              bool plus_one, float* out, std::int64_t out_stride, ThreadPool& pool) {
  const CpuKernels& kernels = cpu_kernels();
  each_row(rows, pool, [&](std::int64_t r) {
    kernels.rms_norm(x + r * x_stride, rows.dim, weight, eps, plus_one, out + r * out_stride);
  });
}

void layer_norm(const float* x, std::int64_t x_stride, Rows rows, const float* weight,
                const float* bias, float eps, float* out, std::int64_t out_stride,
                ThreadPool& pool) {
  const CpuKernels& kernels = cpu_kernels();
  each_row(rows, pool, [&](std::int64_t r) {
    kernels.layer_norm(x + r * x_stride, rows.dim, weight, bias, eps, out + r * out_stride);
  });
}

void rms_norm_heads(float* x, std::int64_t stride, std::int64_t rows, int heads, int head_dim,
                    const float* weight, float eps, bool plus_one, ThreadPool& pool) {
  const CpuKernels& kernels = cpu_kernels();
  each_row({.count = rows, .dim = std::int64_t{heads} * head_dim}, pool, [&](std::int64_t r) {
    for (int h = 0; h < heads; ++h) {
      float* head = x + r * stride + std::int64_t{h} * head_dim;
      kernels.rms_norm(head, head_dim, weight, eps, plus_one, head);
    }
  });
}

}  // namespace triescope::kernels
