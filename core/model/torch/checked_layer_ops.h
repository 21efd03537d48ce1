// A layer's steps. Each runs on its kernel or on libtorch's operations, as the self-check decided.
#pragma once

#include <memory>
#include <string>

#include "core/model/torch/kernel_check.h"
#include "core/model/torch/torch_layer_ops.h"

namespace triescope {

std::unique_ptr<TorchLayerOps> make_checked_layer_ops(const formats::ModelConfig& config,
                                                      const KernelObstacles& obstacles);

// For the user: which steps run on libtorch's operations, and why. Steps with the same reason are
// named together. "" = none.
std::string warning_of(const KernelObstacles& obstacles);

}  // namespace triescope
