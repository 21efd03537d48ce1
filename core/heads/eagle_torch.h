// The model of eagle_model.h through libtorch, on the device of a target that runs there: the same
// forward over TorchLayers, in libtorch's operations and our CUDA kernels, in the target's dtype.
// Embedding and output head of the target are read on the device (TorchShared); tokens, input
// features and what comes out cross between host and device, once each a forward.
#pragma once

#include <memory>

#include "core/heads/torch_head_weights.h"
#include "core/model/model.h"

namespace triescope {

// Borrows the target. REQUIRES: target.torch_shared(), on_device. Errors: HeadFile's, kOutOfMemory,
// kCuda.
std::unique_ptr<Model> make_eagle_torch(TorchHeadLoader& loader, const Model& target);

}  // namespace triescope
