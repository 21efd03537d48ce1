// A DFlash head as a Model with two kinds of rows:
//
//   text    rows with the target's states f: every layer's K and V are those of norm(fc(f)). They have no stream, see
//           nothing and give nothing
//   block   rows without: the newest token, then masks. They go through the layers together and all see the text and
//           each other; a mask's logits are of the token at its own position
//
// Their K and V lie in slots like any other model's. A block's own go with it. Embedding and output head are the
// target's where the file has none. On the CPU kernels; block_torch.h is the same model on the device of a target that
// runs through libtorch. Source: "DFlash: Block Diffusion for Flash Speculative Decoding", 2026; sgl-project/SpecForge,
// dflash.py.
#pragma once

#include <memory>

#include "core/files/draft_head/head_file.h"
#include "core/model/heads/head_weights.h"

namespace triescope {

// Borrows the target and the loader's pool. Errors: those of HeadFile; kOutOfMemory.
std::unique_ptr<Model> make_block_model(HeadLoader& loader, Model& target,
                                        kernels::Precision precision);

}  // namespace triescope
