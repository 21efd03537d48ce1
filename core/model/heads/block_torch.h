// The model of block_model.h through libtorch, on the device of a target that runs there: the same forward over
// TorchLayers, in the target's dtype.
#pragma once

#include <memory>

#include "core/model/heads/torch_head_weights.h"
#include "core/model/model.h"

namespace triescope {

// Borrows the target. REQUIRES: target.torch_shared(), on_device. Errors: those of HeadFile;
// kOutOfMemory, kCuda.
std::unique_ptr<Model> make_block_torch(TorchHeadLoader& loader, const Model& target);

}  // namespace triescope
