// The residual block of Medusa's and Hydra's heads: x <- x + SiLU(W x + b). Not thread-safe.
#pragma once

#include <vector>

#include "core/base/thread_pool.h"
#include "core/kernels/linear.h"

namespace triescope {

// x: [rows, width]; `scratch` is overwritten.
void add_residual_block(const kernels::PackedLinear& block, std::vector<float>& x,
                        std::vector<float>& scratch, ThreadPool& pool);

}  // namespace triescope
