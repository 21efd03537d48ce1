#include "core/model/layer_subset.h"

#include <utility>

#include "core/base/error.h"

namespace triescope {

LayerSubset::LayerSubset(Model& whole, std::vector<std::int32_t> layers)
    : whole_(whole), layers_(std::move(layers)), info_(whole.info()) {
  if (layers_.empty())
    throw Error(ErrorCode::kInvalidArgument, "layers: expected at least one to stay, found none");
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i] < 0 || layers_[i] >= info_.layers || (i > 0 && layers_[i] <= layers_[i - 1]))
      throw Error(ErrorCode::kInvalidArgument, "layers: expected ascending numbers from 0 to " +
                                                   std::to_string(info_.layers - 1) + ", found " +
                                                   std::to_string(layers_[i]));
  info_.name = std::to_string(layers_.size()) + " of " + std::to_string(info_.layers) +
               " layers of " + info_.name;
  info_.layers = static_cast<int>(layers_.size());
}

ForwardOutput LayerSubset::forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) {
  ForwardBatch part = batch;
  part.layers = layers_;
  return whole_.forward(part, kv, std::move(stop));
}

}  // namespace triescope
