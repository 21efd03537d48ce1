// The layers that a forward's rows go through, what they run of each, and where the KV storage holds its K and V.
//
// Where all layers have K and V of one shape, a storage holds those of all or those of the attention that stays
// alone, in order. Else it holds all, at their own index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/files/config.h"
#include "core/model/sublayers.h"

namespace triescope {

struct RouteStep {
  std::size_t layer = 0;
  std::size_t stored = 0;  // index in the storage of the K and V that the layer reads
  // A layer whose attention is left out (LayerSubset), but whose K and V a later one reads, still stores them: those
  // of the stream that goes past it.
  bool stores = true, attends = true;
  bool mlp = true;  // with what follows it in a layer: the layer's embedding and its scale
};

// Those of which nothing runs left out. `sublayers`: ForwardBatch's. `kv_layers`: how many the storage has.
std::vector<RouteStep> layer_route(const formats::ModelConfig& config,
                                   std::span<const std::int32_t> sublayers, std::size_t kv_layers);

// What each layer of the storage for so many layers holds.
std::vector<formats::KvShape> stored_shapes(const formats::ModelConfig& config, std::size_t layers);

// Whether a storage serves a forward through `sublayers`: one for the layers with attention among them, or for all.
// `fits`: whether it was made for so many layers.
template <class Fits>
bool fits_route(const formats::ModelConfig& config, std::span<const std::int32_t> sublayers,
                const Fits& fits) {
  return fits(config.layers.size()) ||
         (!sublayers.empty() && fits(layers_with_attention(sublayers).size()));
}

}  // namespace triescope
