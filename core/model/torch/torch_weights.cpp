#include "core/model/torch/torch_weights.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/model/torch/staging_pool.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

using at::Tensor;
using formats::GgmlType;
using formats::ModelConfig;
using formats::Role;

TorchWeights::TorchWeights(const formats::WeightSource& source, const at::TensorOptions& options,
                           std::set<GgmlType> kept_blocks, int threads,
                           const ProgressSink& progress, std::stop_token stop)
    : layers(source.config().layers.size()), kept_blocks_(std::move(kept_blocks)) {
  on_device(options.device(), [&] { allocate(source, options); });
  StagingPool pool;
  load_weights(source, std::min(threads, 8), progress, std::move(stop),
               [&](const WeightTask& task) {
                 StagingPool::Lease staging = pool.take();
                 // The threads of load_weights are new, so mode and device are set in each.
                 on_device(options.device(), [&] { place(source, task, *staging); });
               });
  if (source.config().tied_embeddings) head.matrix = embedding;
}

double TorchWeights::bytes_per_weight() const {
  double bytes = 0, weights = 0;
  const auto count = [&](const TorchLinear& linear) {
    bytes += static_cast<double>(linear.matrix.bytes());
    weights +=
        static_cast<double>(linear.matrix.outputs()) * static_cast<double>(linear.matrix.inputs());
  };
  count(head);
  for (const Layer& layer : layers) {
    count(layer.qkv);
    count(layer.output);
    count(layer.per_layer_gate);
    count(layer.per_layer_output);
    for (const Mlp& mlp : layer.mlps) {
      count(mlp.gate_up);
      count(mlp.down);
    }
  }
  return bytes / weights;
}

std::optional<GgmlType> TorchWeights::blocks_of(const formats::WeightSource& source,
                                                const formats::Part& part) const {
  const std::optional<GgmlType> type = source.stored_type(part);
  return type && kept_blocks_.contains(*type) ? type : std::nullopt;
}

TorchWeights::Target TorchWeights::target_of(const ModelConfig& config,
                                             const formats::Part& which) {
  const std::int64_t hidden = config.hidden;
  const formats::HeadShape heads = config.heads_of(static_cast<std::size_t>(which.layer));
  const std::int64_t query = heads.query_dims(), kv = heads.kv_dims();
  const std::int64_t qkv = query + (heads.owns_kv ? kv * (heads.value_is_key ? 1 : 2) : 0);
  const std::int64_t inner = config.intermediate_of(which.layer, which.expert);
  const std::int64_t up = config.gated_mlp ? inner : 0;
  const auto norm = [](Tensor& tensor, std::int64_t rows) {
    return Target{.tensor = &tensor, .rows = rows, .is_norm = true};
  };
  const auto part = [](Tensor& tensor, std::int64_t first, std::int64_t rows) {
    return Target{.tensor = &tensor, .first_row = first, .rows = rows};
  };
  const auto matrix = [](TorchMatrix& whole, std::int64_t first) {
    return Target{.matrix = &whole, .first_row = first};
  };
  switch (which.role) {
    case Role::kEmbedding:
      return matrix(embedding, 0);
    case Role::kPositions:
      return part(positions, 0, config.context);
    case Role::kHead:
      return matrix(head.matrix, 0);
    case Role::kHeadBias:
      return part(head.bias, 0, config.vocab_size);
    case Role::kFinalNorm:
      return norm(final_norm.weight, hidden);
    case Role::kFinalNormBias:
      return norm(final_norm.bias, hidden);
    case Role::kPerLayerEmbedding:
      return matrix(per_layer_embedding, 0);
    case Role::kPerLayerProjection:
      return matrix(per_layer_projection.matrix, 0);
    case Role::kPerLayerNorm:
      return norm(per_layer_norm, config.per_layer.dims);
    default:
      break;
  }
  Layer& of = layers[static_cast<std::size_t>(which.layer)];
  Mlp& mlp = of.mlps[static_cast<std::size_t>(std::max(which.expert, 0))];
  switch (which.role) {
    case Role::kAttentionNorm:
      return norm(of.attention_norm.weight, hidden);
    case Role::kAttentionNormBias:
      return norm(of.attention_norm.bias, hidden);
    case Role::kQuery:
      return matrix(of.qkv.matrix, 0);
    case Role::kQueryBias:
      return part(of.qkv.bias, 0, qkv);
    case Role::kKey:
      return matrix(of.qkv.matrix, query);
    case Role::kKeyBias:
      return part(of.qkv.bias, query, qkv);
    case Role::kValue:
      return matrix(of.qkv.matrix, query + kv);
    case Role::kValueBias:
      return part(of.qkv.bias, query + kv, qkv);
    case Role::kQueryNorm:
      return norm(of.query_norm, formats::expected_shape(config, which)->rows);
    case Role::kKeyNorm:
      return norm(of.key_norm, formats::expected_shape(config, which)->rows);
    case Role::kOutput:
      return matrix(of.output.matrix, 0);
    case Role::kOutputBias:
      return part(of.output.bias, 0, hidden);
    case Role::kPostAttentionNorm:
      return norm(of.post_attention_norm, hidden);
    case Role::kMlpNorm:
      return norm(of.mlp_norm.weight, hidden);
    case Role::kMlpNormBias:
      return norm(of.mlp_norm.bias, hidden);
    case Role::kGate:
      return matrix(mlp.gate_up.matrix, 0);
    case Role::kGateBias:
      return part(mlp.gate_up.bias, 0, 2 * inner);
    case Role::kUp:
      return matrix(mlp.gate_up.matrix, up);
    case Role::kUpBias:
      return part(mlp.gate_up.bias, up, up + inner);
    case Role::kDown:
      return matrix(mlp.down.matrix, 0);
    case Role::kDownBias:
      return part(mlp.down.bias, 0, hidden);
    case Role::kPostMlpNorm:
      return norm(of.post_mlp_norm, hidden);
    case Role::kRouter:
      return matrix(of.router.matrix, 0);
    case Role::kSharedGate:
      return matrix(of.shared_gate.matrix, 0);
    case Role::kRouterBias:
      return part(of.router.bias, 0, config.layers[static_cast<std::size_t>(which.layer)].experts);
    case Role::kRouterScale:
      return norm(of.router_scale, hidden);
    case Role::kExpertScale:
      return norm(of.expert_scale, formats::expected_shape(config, which)->rows);
    case Role::kExpertsNorm:
      return norm(of.experts_norm.weight, hidden);
    case Role::kPostExpertsNorm:
      return norm(of.post_experts_norm.weight, hidden);
    case Role::kPostSharedNorm:
      return norm(of.post_shared_norm.weight, hidden);
    case Role::kSinks:
      return {.tensor = &of.sinks, .rows = config.heads, .is_norm = true};
    case Role::kPerLayerGate:
      return matrix(of.per_layer_gate.matrix, 0);
    case Role::kPerLayerOutput:
      return matrix(of.per_layer_output.matrix, 0);
    case Role::kPostPerLayerNorm:
      return norm(of.post_per_layer_norm, hidden);
    case Role::kLayerScale:
      return {.tensor = &of.scale, .rows = 1, .is_norm = true};
    case Role::kConvInput:
      return matrix(of.qkv.matrix, 0);
    case Role::kConvInputBias:
      return part(of.qkv.bias, 0, 3 * hidden);
    case Role::kConvTaps:
      return {.tensor = &of.taps, .rows = hidden, .is_norm = true};
    case Role::kConvTapsBias:
      return {.tensor = &of.taps_bias, .rows = hidden, .is_norm = true};
    case Role::kSelectionBias:
      return {.tensor = &of.selection_bias,
              .rows = config.layers[static_cast<std::size_t>(which.layer)].experts,
              .is_norm = true};
    default:
      throw Error(ErrorCode::kInvalidArgument, "no such weight of a layer");
  }
}

// Allocates before anything is read, because several threads fill one matrix.
void TorchWeights::allocate(const formats::WeightSource& source, const at::TensorOptions& options) {
  struct Parts {  // of a matrix, by their first rows
    std::map<std::int64_t, TorchMatrix::Part> by_row;
    std::int64_t inputs = 0;
  };
  std::map<TorchMatrix*, Parts> matrices;
  for (std::size_t i = 0; i < layers.size(); ++i)
    layers[i].mlps.resize(static_cast<std::size_t>(source.config().mlps_of(static_cast<int>(i))));
  for (const formats::Part& part : formats::parts_of(source.config())) {
    const formats::WeightShape shape = source.shape(part).value();
    const Target target = target_of(source.config(), part);
    if (target.matrix != nullptr) {
      Parts& parts = matrices[target.matrix];
      parts.by_row[target.first_row] = {shape.rows, blocks_of(source, part)};
      parts.inputs = shape.cols;
      continue;
    }
    if (target.tensor->defined()) continue;  // an earlier part of it did this
    const at::TensorOptions of = target.is_norm ? options.dtype(at::kFloat) : options;
    *target.tensor =
        shape.cols == 1 ? at::empty({target.rows}, of) : at::empty({target.rows, shape.cols}, of);
  }
  for (const auto& [matrix, parts] : matrices) {
    std::vector<TorchMatrix::Part> in_order;
    for (const auto& [first, part] : parts.by_row) in_order.push_back(part);
    *matrix = TorchMatrix(in_order, parts.inputs, options);
  }
}

void TorchWeights::place(const formats::WeightSource& source, const WeightTask& task,
                         StagingBuffer& staging) {
  const ModelConfig& config = source.config();
  const Target target = target_of(config, task.part);
  if (target.matrix != nullptr) {
    const std::optional<GgmlType> type = source.stored_type(task.part);
    if (type && (formats::block_elements(*type) == 1 || kept_blocks_.contains(*type))) {
      place_stored(source, task, target, *type, staging);
      return;
    }
  }
  Tensor fp32 = at::empty({task.shape.rows, task.shape.cols}, at::kFloat);
  source.read_rows(task.part, 0,
                   {fp32.mutable_data_ptr<float>(), static_cast<std::size_t>(fp32.numel())});
  if (target.matrix != nullptr) {
    target.matrix->set_rows(target.first_row, fp32);
    return;
  }
  if (task.shape.cols == 1) fp32 = fp32.reshape({task.shape.rows});
  if (config.norm_plus_one && target.is_norm) fp32.add_(1.0);
  target.tensor->narrow(0, target.first_row, task.shape.rows).copy_(fp32);
}

// Loads in pieces, so that a large matrix is never whole on the host. While one thread's piece goes
// to the device, others read theirs from the file.
void TorchWeights::place_stored(const formats::WeightSource& source, const WeightTask& task,
                                const Target& target, GgmlType type, StagingBuffer& staging) {
  constexpr std::int64_t kPieceBytes = 8 << 20;
  const std::int64_t row_bytes =
      task.shape.cols / formats::block_elements(type) * formats::block_bytes(type);
  const std::int64_t piece = std::clamp<std::int64_t>(kPieceBytes / row_bytes, 1, task.shape.rows);
  source.will_read(task.part);
  const std::span bytes(staging.reserve(static_cast<std::size_t>(piece * row_bytes)),
                        static_cast<std::size_t>(piece * row_bytes));
  for (std::int64_t first = 0; first < task.shape.rows; first += piece) {
    const std::int64_t count = std::min(piece, task.shape.rows - first);
    const auto part = bytes.first(static_cast<std::size_t>(count * row_bytes));
    source.read_stored_rows(task.part, first, part);
    if (formats::block_elements(type) == 1) {
      target.matrix->set_plain_rows(target.first_row + first, count, type, part);
    } else {
      target.matrix->set_stored_rows(target.first_row + first, count, part);
    }
  }
}

}  // namespace triescope
