#include "core/model/torch_weights.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>
#include <span>

#include "core/base/error.h"
#include "core/model/torch_runtime.h"

namespace triescope {

using at::Tensor;
using formats::ModelConfig;
using formats::Role;

TorchWeights::TorchWeights(const formats::WeightSource& source, const at::TensorOptions& options,
                           int threads, const ProgressSink& progress, std::stop_token stop)
    : layers(source.config().layers.size()) {
  // Threads of load_weights are new ones: the mode and the device are set for each.
  const auto with_torch = [&](const auto& work) {
    const c10::InferenceMode inference;
    const c10::OptionalDeviceGuard guard(options.device());
    with_torch_errors(options.device(), work);
  };
  with_torch([&] { allocate(source, options); });
  load_weights(source, std::min(threads, 8), progress, std::move(stop),
               [&](const WeightTask& task) { with_torch([&] { place(source, task); }); });
  if (source.config().tied_embeddings) head.matrix = embedding;
}

TorchWeights::Target TorchWeights::target_of(const ModelConfig& config, Role role, int layer) {
  const std::int64_t hidden = config.hidden, query = config.query_dims(), kv = config.kv_dims();
  const std::int64_t inner = config.intermediate, up = config.gated_mlp ? inner : 0;
  const auto norm = [](Tensor& tensor, std::int64_t rows) {
    return Target{.tensor = &tensor, .rows = rows, .is_norm = true};
  };
  const auto part = [](Tensor& tensor, std::int64_t first, std::int64_t rows) {
    return Target{.tensor = &tensor, .first_row = first, .rows = rows};
  };
  switch (role) {
    case Role::kEmbedding:
      return part(embedding, 0, config.vocab_size);
    case Role::kPositions:
      return part(positions, 0, config.context);
    case Role::kHead:
      return part(head.matrix, 0, config.vocab_size);
    case Role::kFinalNorm:
      return norm(final_norm.weight, hidden);
    case Role::kFinalNormBias:
      return norm(final_norm.bias, hidden);
    default:
      break;
  }
  Layer& of = layers[static_cast<std::size_t>(layer)];
  switch (role) {
    case Role::kAttentionNorm:
      return norm(of.attention_norm.weight, hidden);
    case Role::kAttentionNormBias:
      return norm(of.attention_norm.bias, hidden);
    case Role::kQuery:
      return part(of.qkv.matrix, 0, query + 2 * kv);
    case Role::kQueryBias:
      return part(of.qkv.bias, 0, query + 2 * kv);
    case Role::kKey:
      return part(of.qkv.matrix, query, query + 2 * kv);
    case Role::kKeyBias:
      return part(of.qkv.bias, query, query + 2 * kv);
    case Role::kValue:
      return part(of.qkv.matrix, query + kv, query + 2 * kv);
    case Role::kValueBias:
      return part(of.qkv.bias, query + kv, query + 2 * kv);
    case Role::kQueryNorm:
      return norm(of.query_norm, config.head_dim);
    case Role::kKeyNorm:
      return norm(of.key_norm, config.head_dim);
    case Role::kOutput:
      return part(of.output.matrix, 0, hidden);
    case Role::kOutputBias:
      return part(of.output.bias, 0, hidden);
    case Role::kPostAttentionNorm:
      return norm(of.post_attention_norm, hidden);
    case Role::kMlpNorm:
      return norm(of.mlp_norm.weight, hidden);
    case Role::kMlpNormBias:
      return norm(of.mlp_norm.bias, hidden);
    case Role::kGate:
      return part(of.gate_up.matrix, 0, 2 * inner);
    case Role::kGateBias:
      return part(of.gate_up.bias, 0, 2 * inner);
    case Role::kUp:
      return part(of.gate_up.matrix, up, up + inner);
    case Role::kUpBias:
      return part(of.gate_up.bias, up, up + inner);
    case Role::kDown:
      return part(of.down.matrix, 0, hidden);
    case Role::kDownBias:
      return part(of.down.bias, 0, hidden);
    case Role::kPostMlpNorm:
      return norm(of.post_mlp_norm, hidden);
    default:
      throw Error(ErrorCode::kInvalidArgument, "no such weight of a layer");
  }
}

// Before anything is read: several threads fill one tensor.
void TorchWeights::allocate(const formats::WeightSource& source, const at::TensorOptions& options) {
  for (int r = 0; r < formats::kRoles; ++r) {
    const auto role = static_cast<Role>(r);
    const std::optional<formats::WeightShape> shape = source.shape(role);
    if (!shape) continue;
    const int count = formats::is_of_layer(role) ? static_cast<int>(layers.size()) : 1;
    for (int layer = 0; layer < count; ++layer) {
      const Target target = target_of(source.config(), role, layer);
      if (target.tensor->defined()) continue;  // another part of it came before
      const at::TensorOptions of = target.is_norm ? options.dtype(at::kFloat) : options;
      *target.tensor = shape->cols == 1 ? at::empty({target.rows}, of)
                                        : at::empty({target.rows, shape->cols}, of);
    }
  }
}

void TorchWeights::place(const formats::WeightSource& source, const WeightTask& task) {
  const ModelConfig& config = source.config();
  Tensor fp32 = at::empty({task.shape.rows, task.shape.cols}, at::kFloat);
  source.read_rows(task.role, task.layer, 0,
                   {fp32.mutable_data_ptr<float>(), static_cast<std::size_t>(fp32.numel())});
  if (task.shape.cols == 1) fp32 = fp32.reshape({task.shape.rows});
  const Target target = target_of(config, task.role, task.layer);
  if (config.norm_plus_one && target.is_norm) fp32.add_(1.0);
  target.tensor->narrow(0, target.first_row, task.shape.rows).copy_(fp32);
}

}  // namespace triescope
