// Chooses which of a file's block types stay in blocks in the libtorch executor: those whose
// kernels exist and pass their check (kernel_check.h).
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/files/weights.h"
#include "core/kernels/aten.h"
#include "core/model/layer_steps.h"
#include "core/model/model.h"

namespace triescope {

struct KeptBlocks {
  std::set<formats::GgmlType> types;
  std::string warning;  // which types are expanded though they should stay, and why; "" = none
};

// The block types that stay in blocks. Empty, without a warning, where the options ask for dense
// weights. tensors: device and dtype of dense matrices.
KeptBlocks choose_kept_blocks(const formats::WeightSource& source, const LoadOptions& options,
                              const at::TensorOptions& tensors, LayerSteps steps);

// Checks again, before anything is read, whether the weights fit: memory_need() was too small if
// types are expanded that should have stayed. Error{kOutOfMemory}: the weights, some of them
// expanded, take more than `free_bytes` (-1 = unknown: no check); the message says what takes less.
void check_room_for_expanded(const formats::WeightSource& source, const KeptBlocks& blocks,
                             DType dtype, std::int64_t free_bytes);

}  // namespace triescope
