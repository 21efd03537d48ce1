// One call of a linear layer, for what computes all of its outputs (linear.h) or does something with
// them at once (gated_linear.h). Internal to core/kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/thread_pool.h"
#include "core/kernels/linear.h"

namespace triescope::kernels {

struct CpuKernels;

class LinearRun {
 public:
  // x, rows > 0: as in linear(). `beside`: floats that each worker wants for itself. Uses the pool;
  // to be made before its loop, in which every worker calls what is below with its own number.
  LinearRun(const PackedLinear& w, const float* x, std::int64_t x_stride, std::int64_t rows,
            ThreadPool& pool, std::int64_t beside = 0);

  const PackedLinear::Placed& part(std::size_t index) const { return w_.parts_[index]; }
  // Panels [begin, end) of a part, counted from its first. Row r of y at y + r * y_stride, from the
  // first output of panel `begin` on.
  void panels(const PackedLinear::Placed& part, std::int64_t begin, std::int64_t end, int worker,
              float* y, std::int64_t y_stride, LinearMode mode = LinearMode::kStore) const;
  // [beside]
  float* beside(int worker) const;

 private:
  const PackedLinear& w_;
  const CpuKernels& kernels_;  // asked once: workers have a choice of their own
  ThreadPool& pool_;
  const float* x_;
  std::int64_t x_stride_, rows_;
  std::size_t own_bytes_, bytes_;  // of a worker's scratch: the kernels', and with `beside`
  // Of this run, above 0, of no other: the note of a worker in whose scratch x is laid out.
  std::uint64_t number_;
};

}  // namespace triescope::kernels
