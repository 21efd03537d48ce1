#include "core/model/sublayers.h"

#include <algorithm>

namespace triescope {

std::vector<std::int32_t> sublayers_of(std::span<const std::int32_t> layers) {
  std::vector<std::int32_t> parts;
  for (const std::int32_t layer : layers)
    parts.insert(parts.end(), {attention_of(layer), mlp_of(layer)});
  return parts;
}

std::vector<std::int32_t> layers_with_attention(std::span<const std::int32_t> sublayers) {
  std::vector<std::int32_t> layers;
  for (const std::int32_t part : sublayers)
    if (is_attention(part)) layers.push_back(layer_of(part));
  return layers;
}

std::vector<std::int32_t> all_but(int count, std::span<const std::int32_t> some) {
  std::vector<std::int32_t> rest;
  for (std::int32_t number = 0; number < count; ++number)
    if (!std::ranges::binary_search(some, number)) rest.push_back(number);
  return rest;
}

}  // namespace triescope
