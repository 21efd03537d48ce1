#include "core/model/torch_features.h"

namespace triescope {

void TorchFeatures::keep(const at::Tensor& x, std::int32_t layer) {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i] == layer) kept_[i] = x.index_select(0, rows_);
}

at::Tensor TorchFeatures::on_host(StagingBuffer& memory) const {
  if (kept_.empty()) return {};
  return memory.host_copy(at::stack(kept_).to(at::kFloat).contiguous());
}

}  // namespace triescope
