// Which of a file's block types are computed from as they lie in the file, and which are widened on
// loading.
#pragma once

#include "core/files/dequantise.h"

namespace triescope {

// Whether kernels compute from blocks of `type`: the CPU's, or those of a GPU.
bool computes_from_blocks(formats::GgmlType type, bool on_gpu);

}  // namespace triescope
