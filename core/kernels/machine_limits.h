// What this machine can do at most, measured: kernels are judged by their share of it. All threads
// of a pool together; the shortest of many short runs, so that on a busy machine a few go
// undisturbed.
#pragma once

#include "core/base/thread_pool.h"
#include "core/kernels/cpu_variant.h"

namespace triescope::kernels {

// Bytes a second read from memory. Error{kOutOfMemory}: 128 MB are needed.
double read_bandwidth(ThreadPool& pool);

// Multiply-adds a second of one number each, fused (products and sums apart in the portable
// variant, which has none fused). `variant` must be available.
double multiply_adds(ThreadPool& pool, CpuVariant variant);

}  // namespace triescope::kernels
