#include "core/model/layer_subset.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace triescope {
namespace {

void check_layers(const std::vector<std::int32_t>& layers, int all) {
  if (layers.empty())
    throw Error(ErrorCode::kInvalidArgument, "layers: expected at least one to stay, found none");
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i] < 0 || layers[i] >= all || (i > 0 && layers[i] <= layers[i - 1]))
      throw Error(ErrorCode::kInvalidArgument, "layers: expected ascending numbers from 0 to " +
                                                   std::to_string(all - 1) + ", found " +
                                                   std::to_string(layers[i]));
}

}  // namespace

std::vector<std::int32_t> other_layers(int all, std::span<const std::int32_t> some) {
  std::vector<std::int32_t> rest;
  for (std::int32_t layer = 0; layer < all; ++layer)
    if (!std::ranges::binary_search(some, layer)) rest.push_back(layer);
  return rest;
}

LayerSubset::LayerSubset(Model& whole, std::vector<std::int32_t> layers)
    : whole_(whole), layers_(std::move(layers)), info_(whole.info()) {
  check_layers(layers_, info_.layers);
  info_.name = std::to_string(layers_.size()) + " of " + std::to_string(info_.layers) +
               " layers of " + info_.name;
  info_.layers = static_cast<int>(layers_.size());
}

void LayerSubset::set_layers(std::vector<std::int32_t> layers) {
  check_layers(layers, whole_.info().layers);
  if (layers.size() != layers_.size())
    throw Error(ErrorCode::kInvalidArgument, "layers: expected " + std::to_string(layers_.size()) +
                                                 ", as many as there is KV for, found " +
                                                 std::to_string(layers.size()));
  layers_ = std::move(layers);
}

ForwardOutput LayerSubset::forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) {
  ForwardBatch part = batch;
  part.layers = layers_;
  return whole_.forward(part, kv, std::move(stop));
}

}  // namespace triescope
