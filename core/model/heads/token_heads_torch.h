// Medusa's and Hydra's heads (token_heads.h) in libtorch's operations, on the device of a target
// that runs there and in its dtype. State and tokens go to the device, logits come back.
#pragma once

#include <memory>

#include "core/model/heads/token_heads.h"
#include "core/model/heads/torch_head_weights.h"

namespace triescope {

// Both borrow the target and read the loader's file at once. REQUIRES: target.torch_shared(),
// on_device. Errors: those of HeadFile; kOutOfMemory, kCuda.
std::unique_ptr<TokenHeads> make_medusa_torch(TorchHeadLoader& loader, const Model& target);
std::unique_ptr<TokenHeads> make_hydra_torch(TorchHeadLoader& loader, const Model& target);

}  // namespace triescope
