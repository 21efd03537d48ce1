#include "core/model/torch_features.h"

namespace triescope {

void TorchFeatures::keep(const at::Tensor& x, std::int32_t layer) {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i] == layer) kept_[i] = x.index_select(0, rows_);
}

at::Tensor TorchFeatures::on_host() const {
  if (kept_.empty()) return {};
  return at::stack(kept_).to(at::kFloat).to(at::kCPU).contiguous();
}

}  // namespace triescope
