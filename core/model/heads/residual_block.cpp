#include "core/model/heads/residual_block.h"

#include "core/kernels/activation.h"

namespace triescope {

void add_residual_block(const kernels::PackedLinear& block, std::vector<float>& x,
                        std::vector<float>& scratch, ThreadPool& pool) {
  const std::int64_t width = block.inputs();
  const auto rows = static_cast<std::int64_t>(x.size()) / width;
  scratch.resize(x.size());
  kernels::linear(block, x.data(), width, rows, scratch.data(), width, pool);
  kernels::activation(kernels::ActivationKind::kSilu, scratch.data(), width, rows, width, pool);
  kernels::add_to(x.data(), scratch.data(), static_cast<std::int64_t>(x.size()));
}

}  // namespace triescope
