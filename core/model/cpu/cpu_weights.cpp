#include "core/model/cpu/cpu_weights.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "core/base/error.h"
#include "core/base/thread_pool.h"

namespace triescope {

using formats::GgmlType;
using formats::Role;
using kernels::PackedLinear;

CpuWeights::CpuWeights(const formats::WeightSource& source, const LoadOptions& options,
                       const ProgressSink& progress, std::stop_token stop)
    : config_(source.config()),
      precision_(options.dtype == DType::kBF16 ? kernels::Precision::kBF16
                                               : kernels::Precision::kF32),
      stored_(options.stored_weights) {
  allocate(source);
  load_weights(source, std::min(options.threads, 16), progress, stop,
               [&](const WeightTask& task) { place(source, task); });
}

PackedLinear::Part CpuWeights::part_of(const formats::WeightSource& source,
                                       const formats::Part& part, std::int64_t outputs) const {
  const std::optional<GgmlType> type = source.stored_type(part);
  // A rounded router may choose other experts.
  if (part.role == Role::kRouter || part.role == Role::kSharedGate)
    return PackedLinear::Part::plain(outputs, kernels::Precision::kF32);
  return stored_ && type ? PackedLinear::Part::stored(outputs, *type, precision_)
                         : PackedLinear::Part::plain(outputs, precision_);
}

double CpuWeights::bytes_per_weight() const {
  return triescope::bytes_per_weight(layers, head.empty() ? embedding : head);
}

double bytes_per_weight(std::span<const CpuWeights::Layer> layers, const PackedLinear& other) {
  double bytes = 0, weights = 0;
  const auto count = [&](const PackedLinear& matrix) {
    bytes += static_cast<double>(matrix.bytes());
    weights += static_cast<double>(matrix.outputs()) * static_cast<double>(matrix.inputs());
  };
  if (!other.empty()) count(other);
  for (const CpuWeights::Layer& layer : layers) {
    count(layer.qkv);
    count(layer.output);
    count(layer.per_layer_gate);
    count(layer.per_layer_output);
    for (const CpuWeights::Mlp& mlp : layer.mlps) {
      count(mlp.gate_up);
      count(mlp.down);
    }
  }
  return bytes / weights;
}

void CpuWeights::allocate(const formats::WeightSource& source) {
  const std::int64_t hidden = config_.hidden;
  // The matrices that share an input, in the order of target_of().
  const auto matrix = [&](std::initializer_list<Role> roles, std::int64_t inputs, int layer = 0,
                          int expert = -1) {
    std::vector<PackedLinear::Part> parts;
    for (const Role role : roles) {
      const formats::Part part(role, layer, expert);
      if (const auto shape = source.shape(part))
        parts.push_back(part_of(source, part, shape->rows));
    }
    return PackedLinear(parts, inputs);
  };
  embedding = matrix({Role::kEmbedding}, hidden);
  if (!config_.tied_embeddings) head = matrix({Role::kHead}, hidden);
  const std::int64_t per_layer = config_.per_layer.dims;
  if (per_layer > 0) {
    per_layer_embedding = matrix({Role::kPerLayerEmbedding},
                                 per_layer * static_cast<std::int64_t>(config_.layers.size()));
    per_layer_projection = matrix({Role::kPerLayerProjection}, hidden);
  }
  layers.resize(config_.layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer& layer = layers[i];
    const int index = static_cast<int>(i);
    const bool attends = config_.layers[i].taps == 0;
    layer.qkv = attends ? matrix({Role::kQuery, Role::kKey, Role::kValue}, hidden, index)
                        : matrix({Role::kConvInput}, hidden, index);
    layer.output =
        matrix({Role::kOutput}, attends ? config_.heads_of(i).query_dims() : hidden, index);
    if (per_layer > 0) {
      layer.per_layer_gate = matrix({Role::kPerLayerGate}, hidden, index);
      layer.per_layer_output = matrix({Role::kPerLayerOutput}, per_layer, index);
    }
    // The first set_bias allocates a bias, and several loader threads could race for it.
    const auto reserve_bias = [](PackedLinear& linear, bool wanted) {
      const float zero = 0;
      if (wanted) linear.set_bias(0, 1, &zero);
    };
    reserve_bias(layer.qkv, attends && config_.qkv_bias);
    const bool mixture = config_.layers[i].experts > 0;
    for (int mlp = 0; mlp < config_.mlps_of(index); ++mlp) {
      const int expert = mixture ? mlp : -1;
      layer.mlps.push_back(
          {matrix({Role::kGate, Role::kUp}, hidden, index, expert),
           matrix({Role::kDown}, config_.intermediate_of(index, expert), index, expert)});
      reserve_bias(layer.mlps.back().gate_up, config_.mlp_bias);
    }
    if (mixture) layer.router = matrix({Role::kRouter}, hidden, index);
    reserve_bias(layer.router, mixture && config_.experts.router_bias);
    if (source.shape({Role::kSharedGate, index}))
      layer.shared_gate = matrix({Role::kSharedGate}, hidden, index);
  }
}

CpuWeights::Target CpuWeights::target_of(const formats::Part& part) {
  Layer& layer = layers[static_cast<std::size_t>(part.layer)];
  Mlp& mlp = layer.mlps[static_cast<std::size_t>(std::max(part.expert, 0))];
  const formats::HeadShape heads = config_.heads_of(static_cast<std::size_t>(part.layer));
  const std::int64_t query = heads.query_dims(), kv = heads.kv_dims();
  const std::int64_t up = config_.gated_mlp ? config_.intermediate_of(part.layer, part.expert) : 0;
  const auto matrix = [](PackedLinear& linear, std::int64_t first, bool bias = false) {
    return Target{&linear, first, bias, nullptr};
  };
  const auto vector = [](std::vector<float>& values) { return Target{nullptr, 0, false, &values}; };
  switch (part.role) {
    case Role::kEmbedding:
      return matrix(embedding, 0);
    case Role::kHead:
      return matrix(head, 0);
    case Role::kHeadBias:
      return matrix(config_.tied_embeddings ? embedding : head, 0, true);
    case Role::kPositions:
      return vector(positions);
    case Role::kFinalNorm:
      return vector(final_norm);
    case Role::kFinalNormBias:
      return vector(final_norm_bias);
    case Role::kAttentionNorm:
      return vector(layer.attention_norm);
    case Role::kAttentionNormBias:
      return vector(layer.attention_norm_bias);
    case Role::kQuery:
      return matrix(layer.qkv, 0);
    case Role::kQueryBias:
      return matrix(layer.qkv, 0, true);
    case Role::kKey:
      return matrix(layer.qkv, query);
    case Role::kKeyBias:
      return matrix(layer.qkv, query, true);
    case Role::kValue:
      return matrix(layer.qkv, query + kv);
    case Role::kValueBias:
      return matrix(layer.qkv, query + kv, true);
    case Role::kQueryNorm:
      return vector(layer.query_norm);
    case Role::kKeyNorm:
      return vector(layer.key_norm);
    case Role::kOutput:
      return matrix(layer.output, 0);
    case Role::kOutputBias:
      return matrix(layer.output, 0, true);
    case Role::kPostAttentionNorm:
      return vector(layer.post_attention_norm);
    case Role::kMlpNorm:
      return vector(layer.mlp_norm);
    case Role::kMlpNormBias:
      return vector(layer.mlp_norm_bias);
    case Role::kGate:
      return matrix(mlp.gate_up, 0);
    case Role::kGateBias:
      return matrix(mlp.gate_up, 0, true);
    case Role::kUp:
      return matrix(mlp.gate_up, up);
    case Role::kUpBias:
      return matrix(mlp.gate_up, up, true);
    case Role::kDown:
      return matrix(mlp.down, 0);
    case Role::kDownBias:
      return matrix(mlp.down, 0, true);
    case Role::kPostMlpNorm:
      return vector(layer.post_mlp_norm);
    case Role::kRouter:
      return matrix(layer.router, 0);
    case Role::kSharedGate:
      return matrix(layer.shared_gate, 0);
    case Role::kRouterBias:
      return matrix(layer.router, 0, true);
    case Role::kRouterScale:
      return vector(layer.router_scale);
    case Role::kExpertScale:
      return vector(layer.expert_scale);
    case Role::kExpertsNorm:
      return vector(layer.experts_norm);
    case Role::kPostExpertsNorm:
      return vector(layer.post_experts_norm);
    case Role::kPostSharedNorm:
      return vector(layer.post_shared_norm);
    case Role::kSinks:
      return vector(layer.sinks);
    case Role::kPerLayerEmbedding:
      return matrix(per_layer_embedding, 0);
    case Role::kPerLayerProjection:
      return matrix(per_layer_projection, 0);
    case Role::kPerLayerNorm:
      return vector(per_layer_norm);
    case Role::kPerLayerGate:
      return matrix(layer.per_layer_gate, 0);
    case Role::kPerLayerOutput:
      return matrix(layer.per_layer_output, 0);
    case Role::kPostPerLayerNorm:
      return vector(layer.post_per_layer_norm);
    case Role::kLayerScale:
      return vector(layer.scale);
    case Role::kConvInput:
      return matrix(layer.qkv, 0);
    case Role::kConvInputBias:
      return matrix(layer.qkv, 0, true);
    case Role::kConvTaps:
      return vector(layer.taps);
    case Role::kConvTapsBias:
      return vector(layer.taps_bias);
    case Role::kSelectionBias:
      return vector(layer.selection_bias);
  }
  throw Error(ErrorCode::kInvalidArgument, "no such weight role");
}

namespace {

std::vector<float> by_tap(const std::vector<float>& values, std::int64_t rows, std::int64_t taps) {
  std::vector<float> out;
  out.reserve(values.size());
  for (std::int64_t tap = 0; tap < taps; ++tap)
    for (std::int64_t r = 0; r < rows; ++r)
      out.push_back(values[static_cast<std::size_t>(r * taps + tap)]);
  return out;
}

}  // namespace

void CpuWeights::place(const formats::WeightSource& source, const WeightTask& task) {
  const Target target = target_of(task.part);
  const std::int64_t rows = task.shape.rows;
  const std::int64_t cols = task.shape.cols;
  if (target.vector != nullptr || target.is_bias) {
    std::vector<float> values(static_cast<std::size_t>(rows * cols));
    source.read_rows(task.part, 0, values);
    if (target.is_bias) {
      target.matrix->set_bias(target.first_row, rows, values.data());
    } else if (task.part.role == Role::kConvTaps) {
      *target.vector = by_tap(values, rows, cols);
    } else {
      *target.vector = std::move(values);
    }
    return;
  }
  // Weights are packed in pieces that stay in a cache between being read and being packed; a piece
  // is whole panels where a row is not too long for that. Each piece costs a system call: with
  // pieces of 1 MB an 8B model in Q4_K loaded in about a tenth less time than with 72 KB.
  constexpr std::int64_t kPieceBytes = 1 << 20, kPanel = PackedLinear::kPanel;
  const GgmlType type = part_of(source, task.part, rows).type;
  const bool stored = source.stored_type(task.part) == type;
  const std::int64_t piece_values =
      stored ? kPieceBytes / formats::block_bytes(type) * formats::block_elements(type)
             : kPieceBytes / static_cast<std::int64_t>(sizeof(float));
  const std::int64_t panels = std::max<std::int64_t>(piece_values / cols / kPanel, 1);
  const std::int64_t piece = source.reads_whole(task.part) ? rows : std::min(panels * kPanel, rows);
  source.will_read(task.part);
  ThreadPool alone(1);
  const auto each_piece = [&](auto& buffer, std::int64_t per_row, const auto& body) {
    buffer.resize(static_cast<std::size_t>(piece * per_row));
    for (std::int64_t first = 0; first < rows; first += piece) {
      const std::int64_t count = std::min(piece, rows - first);
      body(first, count, std::span(buffer).first(static_cast<std::size_t>(count * per_row)));
    }
  };
  if (stored) {
    std::vector<std::byte> bytes;
    each_piece(bytes, cols / formats::block_elements(type) * formats::block_bytes(type),
               [&](std::int64_t first, std::int64_t count, std::span<std::byte> part) {
                 source.read_stored_rows(task.part, first, part);
                 target.matrix->set_stored_rows(target.first_row + first, count, part, alone);
               });
    return;
  }
  std::vector<float> values;
  each_piece(values, cols, [&](std::int64_t first, std::int64_t count, std::span<float> part) {
    source.read_rows(task.part, first, part);
    target.matrix->set_rows(target.first_row + first, count, part.data(), alone);
  });
}

}  // namespace triescope
