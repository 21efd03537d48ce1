#include "core/model/block_types.h"

#include <algorithm>

#include "core/kernels/cuda_cases/kernel_case.h"
#include "core/kernels/linear.h"

namespace triescope {

bool computes_from_blocks(formats::GgmlType type, bool on_gpu) {
  if (formats::block_elements(type) == 1) return false;
  if (!on_gpu) return kernels::PackedLinear::holds(type);
  const std::vector<formats::GgmlType> types = kernels::kernel_block_types();
  return std::ranges::find(types, type) != types.end();
}

}  // namespace triescope
