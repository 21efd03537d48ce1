#include "core/model/layer_route.h"

namespace triescope {

std::vector<RouteStep> layer_route(const formats::ModelConfig& config,
                                   std::span<const std::int32_t> layers) {
  const bool even = config.has_even_kv();
  std::vector<RouteStep> route;
  if (layers.empty() || even) {
    const std::size_t steps = layers.empty() ? config.layers.size() : layers.size();
    for (std::size_t i = 0; i < steps; ++i) {
      const std::size_t layer = layers.empty() ? i : static_cast<std::size_t>(layers[i]);
      route.push_back({layer, even ? i : config.kv_layer(layer), true});
    }
    return route;
  }
  std::vector<bool> stays(config.layers.size()), is_read(config.layers.size());
  for (const std::int32_t layer : layers) {
    stays[static_cast<std::size_t>(layer)] = true;
    is_read[config.kv_layer(static_cast<std::size_t>(layer))] = true;
  }
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i] || is_read[i]) route.push_back({i, config.kv_layer(i), stays[i]});
  return route;
}

std::vector<int> stored_widths(const formats::ModelConfig& config, std::size_t layers) {
  if (config.has_even_kv()) return std::vector<int>(layers, config.heads_of(0).kv_dims());
  std::vector<int> widths;
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const formats::HeadShape shape = config.heads_of(i);
    widths.push_back(shape.owns_kv ? shape.kv_dims() : 0);
  }
  return widths;
}

}  // namespace triescope
