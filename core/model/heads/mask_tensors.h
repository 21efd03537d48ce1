// What a target's forward reads of SPACE's masks, out of their file.
#pragma once

#include "core/files/draft_head/head_file.h"
#include "core/model/mask_inputs.h"

namespace triescope {

// REQUIRES: file.kind() is kSpace. Errors: HeadFile's.
MaskInputs read_mask_inputs(const formats::HeadFile& file);

}  // namespace triescope
