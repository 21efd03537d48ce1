#include "core/model/cpu_weights.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/thread_pool.h"

namespace triescope {

using formats::Role;
using kernels::PackedLinear;

CpuWeights::CpuWeights(const formats::WeightSource& source, kernels::Precision precision,
                       int threads, const ProgressSink& progress, std::stop_token stop)
    : config_(source.config()), precision_(precision) {
  allocate();
  load_weights(source, threads, progress, stop,
               [&](const WeightTask& task) { place(source, task); });
}

void CpuWeights::allocate() {
  const std::int64_t hidden = config_.hidden;
  const std::int64_t query = config_.query_dims();
  embedding = PackedLinear(config_.vocab_size, hidden, precision_);
  if (!config_.tied_embeddings) head = PackedLinear(config_.vocab_size, hidden, precision_);
  layers.resize(config_.layers.size());
  for (Layer& layer : layers) {
    layer.qkv = PackedLinear(query + 2 * config_.kv_dims(), hidden, precision_);
    layer.output = PackedLinear(hidden, query, precision_);
    layer.gate_up = PackedLinear((config_.gated_mlp ? 2 : 1) * std::int64_t{config_.intermediate},
                                 hidden, precision_);
    layer.down = PackedLinear(hidden, config_.intermediate, precision_);
    // A bias is allocated by its first set_bias, which several loader threads could race for.
    const auto reserve_bias = [](PackedLinear& linear, bool wanted) {
      const float zero = 0;
      if (wanted) linear.set_bias(0, 1, &zero);
    };
    reserve_bias(layer.qkv, config_.qkv_bias);
    reserve_bias(layer.gate_up, config_.mlp_bias);
  }
}

CpuWeights::Target CpuWeights::target_of(Role role, int index) {
  Layer& layer = layers[static_cast<std::size_t>(index)];
  const std::int64_t query = config_.query_dims();
  const std::int64_t kv = config_.kv_dims();
  const std::int64_t up = config_.gated_mlp ? config_.intermediate : 0;
  const auto matrix = [](PackedLinear& linear, std::int64_t first, bool bias = false) {
    return Target{&linear, first, bias, nullptr};
  };
  const auto vector = [](std::vector<float>& values) { return Target{nullptr, 0, false, &values}; };
  switch (role) {
    case Role::kEmbedding:
      return matrix(embedding, 0);
    case Role::kHead:
      return matrix(head, 0);
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
      return matrix(layer.gate_up, 0);
    case Role::kGateBias:
      return matrix(layer.gate_up, 0, true);
    case Role::kUp:
      return matrix(layer.gate_up, up);
    case Role::kUpBias:
      return matrix(layer.gate_up, up, true);
    case Role::kDown:
      return matrix(layer.down, 0);
    case Role::kDownBias:
      return matrix(layer.down, 0, true);
    case Role::kPostMlpNorm:
      return vector(layer.post_mlp_norm);
  }
  throw Error(ErrorCode::kInvalidArgument, "no such weight role");
}

void CpuWeights::place(const formats::WeightSource& source, const WeightTask& task) {
  const Target target = target_of(task.role, task.layer);
  const std::int64_t rows = task.shape.rows;
  const std::int64_t cols = task.shape.cols;
  if (target.vector != nullptr || target.is_bias) {
    std::vector<float> values(static_cast<std::size_t>(rows * cols));
    source.read_rows(task.role, task.layer, 0, values);
    if (target.is_bias) {
      target.matrix->set_bias(target.first_row, rows, values.data());
    } else {
      *target.vector = std::move(values);
    }
    return;
  }
  // In pieces that stay in the second-level cache between being read and being packed, of whole
  // panels where a row is not too long for that.
  constexpr std::int64_t kPieceValues = 128 << 10, kPanel = PackedLinear::kPanel;
  const std::int64_t panels = std::max<std::int64_t>(kPieceValues / cols / kPanel, 1);
  const std::int64_t piece = source.reads_whole(task.role) ? rows : std::min(panels * kPanel, rows);
  source.will_read(task.role, task.layer);
  ThreadPool alone(1);
  if (precision_ == kernels::Precision::kBF16 && source.is_bf16(task.role, task.layer)) {
    std::vector<std::uint16_t> stored(static_cast<std::size_t>(piece * cols));
    for (std::int64_t first = 0; first < rows; first += piece) {
      const std::int64_t count = std::min(piece, rows - first);
      const auto part = std::span(stored).first(static_cast<std::size_t>(count * cols));
      source.read_rows_bf16(task.role, task.layer, first, part);
      target.matrix->set_rows_bf16(target.first_row + first, count, part.data(), alone);
    }
    return;
  }
  std::vector<float> values(static_cast<std::size_t>(piece * cols));
  for (std::int64_t first = 0; first < rows; first += piece) {
    const std::int64_t count = std::min(piece, rows - first);
    const std::span<float> part = std::span(values).first(static_cast<std::size_t>(count * cols));
    source.read_rows(task.role, task.layer, first, part);
    target.matrix->set_rows(target.first_row + first, count, part.data(), alone);
  }
}

}  // namespace triescope
