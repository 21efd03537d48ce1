// The model of eagle_model.h through libtorch, on the device of a target that runs there: the same
// forward over TorchLayers, with libtorch's operations and our CUDA kernels, in the target's dtype.
// The target's embedding and output head are read on the device (TorchShared); tokens, input
// features and results cross between host and device once a forward.
#pragma once

#include <memory>

#include "core/model/heads/torch_head_weights.h"
#include "core/model/model.h"

namespace triescope {

// Borrows the target. REQUIRES: target.torch_shared(), on_device. Errors: those of HeadFile;
// kOutOfMemory, kCuda.
std::unique_ptr<Model> make_eagle_torch(TorchHeadLoader& loader, const Model& target);

}  // namespace triescope
