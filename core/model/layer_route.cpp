#include "core/model/layer_route.h"

namespace triescope {

std::vector<RouteStep> layer_route(const formats::ModelConfig& config,
                                   std::span<const std::int32_t> sublayers, std::size_t kv_layers) {
  const std::size_t layers = config.layers.size();
  std::vector<bool> attends(layers, sublayers.empty()), mlp = attends;
  for (const std::int32_t part : sublayers)
    (is_attention(part) ? attends : mlp)[static_cast<std::size_t>(layer_of(part))] = true;
  const bool even = config.has_even_kv();
  std::vector<bool> stores = attends;
  for (std::size_t i = 0; i < layers; ++i)
    if (attends[i] && !even) stores[config.kv_layer(i)] = true;
  std::vector<RouteStep> route;
  std::size_t attending = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    const std::size_t of_part = attends[i] ? attending++ : 0;
    if (!stores[i] && !mlp[i]) continue;
    const std::size_t stored = !even ? config.kv_layer(i) : kv_layers == layers ? i : of_part;
    route.push_back({i, stored, stores[i], attends[i], mlp[i]});
  }
  return route;
}

std::vector<formats::KvShape> stored_shapes(const formats::ModelConfig& config,
                                            std::size_t layers) {
  if (config.has_even_kv()) return {layers, config.kv_shape(0)};
  std::vector<formats::KvShape> shapes;
  for (std::size_t i = 0; i < config.layers.size(); ++i) shapes.push_back(config.kv_shape(i));
  return shapes;
}

}  // namespace triescope
