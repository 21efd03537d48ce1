#include "core/model/active_weights.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/files/weight_names.h"
#include "core/kernels/linear.h"
#include "core/model/block_types.h"

namespace triescope {

namespace {

int experts_of(const formats::ModelConfig& config, const formats::Part& part) {
  return config.layers[static_cast<std::size_t>(part.layer)].experts;
}

// It belongs to one of the experts from which a layer's router chooses.
bool is_routed(const formats::ModelConfig& config, const formats::Part& part) {
  return part.expert >= 0 && part.expert < experts_of(config, part);
}

// A forward takes single rows of it.
bool is_looked_up(const formats::ModelConfig& config, const formats::Part& part) {
  return part.role == formats::Role::kPositions || part.role == formats::Role::kPerLayerEmbedding ||
         (part.role == formats::Role::kEmbedding && !config.tied_embeddings);
}

std::int64_t bytes_of(const formats::WeightSource& source, const formats::Part& part, DType dtype,
                      bool on_gpu) {
  const formats::WeightShape shape = source.shape(part).value();
  const std::int64_t values = shape.rows * shape.cols;
  const std::optional<formats::GgmlType> type = source.stored_type(part);
  if (type && (on_gpu ? computes_from_blocks(*type, true) : kernels::PackedLinear::holds(*type)))
    return values / formats::block_elements(*type) * formats::block_bytes(*type);
  return values * (dtype == DType::kF32 ? 4 : 2);
}

}  // namespace

ActiveWeights active_weights(const formats::ModelConfig& config) {
  ActiveWeights count;
  for (const formats::Part& part : formats::parts_of(config)) {
    const formats::WeightShape shape = formats::expected_shape(config, part).value();
    const std::int64_t values = shape.rows * shape.cols;
    if (is_routed(config, part)) {
      // Which ones does not matter: all are of one size.
      if (part.expert < config.experts.used) count.routed += values;
      continue;
    }
    count.used += values;
    if (!is_looked_up(config, part)) count.read += values;
  }
  count.used += count.routed;
  count.read += count.routed;
  return count;
}

ActiveBytes active_bytes(const formats::WeightSource& source, DType dtype, bool on_gpu) {
  const formats::ModelConfig& config = source.config();
  double routed = 0, read = 0, experts = 0;
  for (const formats::Part& part : formats::parts_of(config)) {
    if (is_looked_up(config, part)) continue;
    const auto bytes = static_cast<double>(bytes_of(source, part, dtype, on_gpu));
    if (!is_routed(config, part)) {
      read += bytes;
      continue;
    }
    // Experts may be of several types.
    read += bytes * config.experts.used / experts_of(config, part);
    routed += bytes;
    experts += part.role == formats::Role::kDown;
  }
  return {std::llround(read), experts > 0 ? std::llround(routed / experts) : 0};
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
