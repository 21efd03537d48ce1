#include "core/model/active_weights.h"

#include <algorithm>

#include "core/files/weight_names.h"

namespace triescope {

ActiveWeights active_weights(const formats::ModelConfig& config) {
  ActiveWeights count;
  for (const formats::Part& part : formats::parts_of(config)) {
    const formats::WeightShape shape = formats::expected_shape(config, part).value();
    const std::int64_t values = shape.rows * shape.cols;
    const int experts = config.layers[static_cast<std::size_t>(part.layer)].experts;
    if (part.expert >= 0 && part.expert < experts) {
      // Which ones does not matter: all are of one size.
      if (part.expert < config.experts.used) count.routed += values;
      continue;
    }
    count.used += values;
    const bool looked_up = part.role == formats::Role::kPositions ||
                           (part.role == formats::Role::kEmbedding && !config.tied_embeddings);
    if (!looked_up) count.read += values;
  }
  count.used += count.routed;
  count.read += count.routed;
  return count;
}

RowCosts with_experts(RowCosts costs, const formats::ModelConfig& config) {
  if (!config.has_experts()) return costs;
  const ActiveWeights weights = active_weights(config);
  int experts = 0;
  for (const formats::LayerConfig& layer : config.layers)
    experts = std::max(experts, layer.experts);
  costs.of_experts = static_cast<double>(weights.routed) / static_cast<double>(weights.read);
  costs.chosen = static_cast<double>(config.experts.used) / experts;
  return costs;
}

}  // namespace triescope
