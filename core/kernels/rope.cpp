#include "core/kernels/rope.h"

#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

void rope(float* x, std::int64_t stride, std::int64_t rows, int heads, int head_dim, int dims,
          const float* cos, const float* sin) {
  const CpuKernels& kernels = cpu_kernels();
  const int half = dims / 2;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (int h = 0; h < heads; ++h) {
      kernels.rope(x + r * stride + std::int64_t{h} * head_dim, half, cos + r * half,
                   sin + r * half);
    }
  }
}

void rope_interleaved(float* x, std::int64_t stride, std::int64_t rows, int heads, int head_dim,
                      int dims, const float* cos, const float* sin) {
  const int half = dims / 2;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (int h = 0; h < heads; ++h) {
      float* head = x + r * stride + std::int64_t{h} * head_dim;
      for (int i = 0; i < half; ++i) {
        const float c = cos[r * half + i], s = sin[r * half + i];
        const float a = head[2 * i], b = head[2 * i + 1];
        head[2 * i] = a * c - b * s;
        head[2 * i + 1] = b * c + a * s;
      }
    }
  }
}

}  // namespace triescope::kernels
