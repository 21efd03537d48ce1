#include "core/model/torch/torch_features.h"

#include "core/model/torch/torch_runtime.h"

namespace triescope {

void TorchFeatures::keep(const at::Tensor& x, std::int32_t layer) {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i] == layer) kept_[i] = x.index_select(0, rows_);
}

void TorchFeatures::join() {
  if (!kept_.empty()) joined_ = at::stack(kept_).to(at::kFloat).contiguous();
}

std::span<const float> TorchFeatures::on_host(StagingBuffer& memory) const {
  if (!joined_.defined()) return {};
  return values_of(memory.host_copy(joined_));
}

}  // namespace triescope
