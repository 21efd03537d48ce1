// The layers that a forward's rows go through, what they run of each, and where the KV storage holds its K and V.
//
// Where all layers have K and V of one width, a storage holds those of all or those of the attention that stays
// alone, in order. Else it holds all, at their own index.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/files/config.h"

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

// Values of K, and of V, of one slot in each layer of the storage for so many layers; 0 = the layer has none of
// its own.
std::vector<int> stored_widths(const formats::ModelConfig& config, std::size_t layers);

}  // namespace triescope
