// The part of a draft head that is a transformer (EAGLE-1 and -2, EAGLE-3, MTP, Hydra's prefix layer),
// as a Model whose rows read a hidden state beside their token (ForwardBatch::input_features). e =
// embedding of the row's token, f = its input features:
//
//   EAGLE        x = fc(e, f)                                     the target's or a drafted state
//   EAGLE-3      h = fc(low, mid, high), or a drafted state as it is
//                layer 0 reads (norm(e), norm(h)) and adds to h (norm_before_residual: to norm(h))
//   MTP          x = fc(norm(e), norm(f)), or fc(norm(f), norm(e))   likewise
//   Hydra        x = f; e is not read and there are no logits
//
// The state that is fed back is a feature of this model: what leaves its last layer, or kFinalNorm
// where HeadConfig::norm_output is set and in Hydra's prefix layer. A model without a final norm
// has as kFinalNorm what leaves the last layer. Embedding and output head are the target's where
// the file has none. The model runs on the CPU kernels, and its rows depend on their path only,
// like the CPU transformer's; eagle_torch.h is the same model on the device of a target that runs
// through libtorch. Source: SafeAILab/EAGLE, eagle/model/cnets1.py and cnets.py; zankner/Hydra,
// hydra/model/hydra_heads.
#pragma once

#include <memory>

#include "core/files/draft_head/head_file.h"
#include "core/model/heads/head_weights.h"

namespace triescope {

// Borrows the target and the loader's pool. Errors: those of HeadFile; kOutOfMemory.
std::unique_ptr<Model> make_eagle_model(HeadLoader& loader, Model& target,
                                        kernels::Precision precision);

}  // namespace triescope
