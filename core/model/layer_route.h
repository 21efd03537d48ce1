// LayerRoute: the layers that a forward's rows go through, and where the KV storage holds each one's K and V. Where
// all layers have K and V of one width, the storage of a part of them holds those layers alone, in their order;
// else it holds all, at their own index.
//
// A layer that is left out (LayerSubset) but whose K and V a later one reads still computes them, from the stream that
// goes past it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/files/config.h"

namespace triescope {

struct RouteStep {
  std::size_t layer = 0;
  std::size_t stored = 0;  // index in the storage of what the layer writes and reads
  bool whole = true;       // false: K and V alone
};

// `layers`: those that stay, ascending; empty = all.
std::vector<RouteStep> layer_route(const formats::ModelConfig& config,
                                   std::span<const std::int32_t> layers);

// Values of K, and of V, of one slot in each layer of the storage for so many layers; 0 = the layer has none of
// its own.
std::vector<int> stored_widths(const formats::ModelConfig& config, std::size_t layers);

}  // namespace triescope
