// The halves of a DraftHead whose target runs through libtorch. This header is torch-free, for
// draft_head.cpp.
#pragma once

#include "core/files/draft_head/head_file.h"
#include "core/model/heads/draft_head.h"

namespace triescope {

// Fills head.layers and head.tokens, on the target's device and in its dtype. REQUIRES:
// target.torch_shared(). Errors: those of HeadFile; kOutOfMemory, kCuda.
void load_torch_halves(const formats::HeadFile& file, const Model& target, DraftHead& head);

}  // namespace triescope
