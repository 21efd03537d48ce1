// One call of a linear layer, for code that computes all of its outputs (linear.h) or uses them at
// once (gated_linear.h). Internal to core/kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/thread_pool.h"
#include "core/kernels/linear.h"

namespace triescope::kernels {

struct CpuKernels;

class LinearRun {
 public:
  // x, rows > 0: as in linear(). `beside`: number of floats that each worker needs for itself. Uses
  // the pool. Make it before the pool's loop, in which every worker calls the functions below with
  // its own number.
  LinearRun(const PackedLinear& w, const float* x, std::int64_t x_stride, std::int64_t rows,
            ThreadPool& pool, std::int64_t beside = 0);

  const PackedLinear::Placed& part(std::size_t index) const { return w_.parts_[index]; }
  // Computes panels [begin, end) of a part, counted from its first. Row r of y is at y + r *
  // y_stride, from the first output of panel `begin` on.
  void panels(const PackedLinear::Placed& part, std::int64_t begin, std::int64_t end, int worker,
              float* y, std::int64_t y_stride, LinearMode mode = LinearMode::kStore) const;
  // [beside]
  float* beside(int worker) const;

 private:
  const PackedLinear& w_;
  const CpuKernels& kernels_;  // determined once: workers may have another variant
  ThreadPool& pool_;
  const float* x_;
  std::int64_t x_stride_, rows_;
  std::size_t own_bytes_, bytes_;  // sizes of a worker's scratch: the kernels', and with `beside`
  // A number above 0 that only this run has: the note of a worker in whose scratch x is laid out.
  std::uint64_t number_;
};

}  // namespace triescope::kernels
