// A layer's steps, each on its kernel or on libtorch's operations, by what the self-check found.
#pragma once

#include <memory>
#include <string>

#include "core/model/kernel_check.h"
#include "core/model/torch_layer_ops.h"

namespace triescope {

std::unique_ptr<TorchLayerOps> make_checked_layer_ops(const formats::ModelConfig& config,
                                                      const KernelObstacles& obstacles);

// For the user: which steps run on libtorch's operations, and why; what has one reason is said once.
// "" = none.
std::string warning_of(const KernelObstacles& obstacles);

}  // namespace triescope
