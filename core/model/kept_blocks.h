// Which of a file's block types stay in their blocks in the libtorch executor: those whose kernels
// are there and pass their check (kernel_check.h).
#pragma once

#include <ATen/ATen.h>

#include <set>
#include <string>

#include "core/formats/weights.h"
#include "core/model/layer_steps.h"
#include "core/model/model.h"

namespace triescope {

struct KeptBlocks {
  std::set<formats::GgmlType> types;
  std::string warning;  // which types are expanded though they should stay, and why; "" = none
};

// tensors: device and dtype of what is dense. None stay, without a word, where they were not to.
KeptBlocks choose_kept_blocks(const formats::WeightSource& source, const LoadOptions& options,
                              const at::TensorOptions& tensors, LayerSteps steps);

}  // namespace triescope
