// Measures the most that this machine can do: kernels are judged by their share of it. All threads
// of a pool work together, and the shortest of many short runs counts, so that on a busy machine a
// few runs are undisturbed.
#pragma once

#include "core/base/thread_pool.h"
#include "core/kernels/cpu_variant.h"

namespace triescope::kernels {

// Bytes a second read from memory. Error{kOutOfMemory}: 128 MB are needed.
double read_bandwidth(ThreadPool& pool);

// Fused multiply-adds a second, each of one number (the portable variant has none fused: products
// and sums apart). `variant` must be available.
double multiply_adds(ThreadPool& pool, CpuVariant variant);

}  // namespace triescope::kernels
