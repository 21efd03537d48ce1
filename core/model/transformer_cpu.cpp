// CPU executor: the transformer over core/kernels, with prepacked weights as they lie in the file.
// Activations are fp32 in both. Path only: every kernel used here computes a row from that row and
// what it sees alone, in one order; so does the whole.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "core/kernels/activation.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/kernels/rope.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu_kv.h"
#include "core/model/cpu_weights.h"
#include "core/model/rope_table.h"
#include "core/model/transformer.h"
#include "core/model/visible_slots.h"

namespace triescope {
namespace {

using formats::ModelConfig;
using kernels::PackedLinear;

kernels::ActivationKind kind_of(formats::Activation activation) {
  switch (activation) {
    case formats::Activation::kSilu:
      return kernels::ActivationKind::kSilu;
    case formats::Activation::kGeluTanh:
      return kernels::ActivationKind::kGeluTanh;
    case formats::Activation::kGelu:
      return kernels::ActivationKind::kGelu;
  }
  return kernels::ActivationKind::kSilu;
}

class CpuTransformer final : public Model {
 public:
  CpuTransformer(const formats::WeightSource& source, ModelInfo info, const LoadOptions& options,
                 const ProgressSink& progress, std::stop_token stop);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<CpuKv>(config_, precision_, capacity);
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override;

 private:
  // A part of a batch that goes through the layers at once.
  struct Part {
    std::size_t first = 0;
    std::int64_t rows = 0;
    VisibleSlots visible;
  };

  void run_layers(const ForwardBatch& batch, const Part& part, CpuKv& kv,
                  const std::stop_token& stop);
  void normalise(const float* x, std::int64_t rows, const std::vector<float>& weight,
                 const std::vector<float>& bias, float* out);
  void embed(const ForwardBatch& batch, const Part& part);
  void keep_features(const ForwardBatch& batch, const Part& part, std::int32_t layer);

  const ModelConfig config_;
  ModelInfo info_;
  kernels::Precision precision_;
  ThreadPool pool_;
  std::vector<RopeTable> ropes_;
  int position_end_ = 0;

  CpuWeights weights_;

  // Scratch of a forward, kept from one to the next.
  std::vector<float> x_, normed_, qkv_, attention_, inner_, branch_, last_, logits_;
  std::vector<float> features_;                // [feature_layers, feature_rows, hidden]
  std::vector<std::vector<float>> cos_, sin_;  // by rope: [rows, dims / 2]
  std::vector<std::int32_t> prefix_;
};

CpuTransformer::CpuTransformer(const formats::WeightSource& source, ModelInfo info,
                               const LoadOptions& options, const ProgressSink& progress,
                               std::stop_token stop)
    : config_(source.config()),
      info_(std::move(info)),
      precision_(options.dtype == DType::kBF16 ? kernels::Precision::kBF16
                                               : kernels::Precision::kF32),
      pool_(options.threads),
      weights_(source, options, progress, stop) {
  for (const formats::RopeConfig& rope : config_.ropes) ropes_.emplace_back(rope);
  position_end_ = info_.context;
  info_.cheap_rows = kernels::PackedLinear::kCheapRows;
  cos_.resize(ropes_.size());
  sin_.resize(ropes_.size());
}

void CpuTransformer::normalise(const float* x, std::int64_t rows, const std::vector<float>& weight,
                               const std::vector<float>& bias, float* out) {
  const std::int64_t hidden = config_.hidden;
  if (config_.norm == formats::NormKind::kLayer) {
    kernels::layer_norm(x, hidden, {rows, hidden}, weight.data(), bias.data(), config_.norm_eps,
                        out, hidden, pool_);
  } else {
    kernels::rms_norm(x, hidden, {rows, hidden}, weight.data(), config_.norm_eps,
                      config_.norm_plus_one, out, hidden, pool_);
  }
}

void CpuTransformer::embed(const ForwardBatch& batch, const Part& part) {
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  for (std::size_t r = 0; r < static_cast<std::size_t>(part.rows); ++r) {
    float* row = x_.data() + r * hidden;
    weights_.embedding.read_row(batch.tokens[part.first + r], row);
    if (config_.embedding_scale != 1)
      kernels::scale_by(row, config_.embedding_scale, config_.hidden);
    const int position = batch.positions[part.first + r];
    if (config_.learned_positions) {
      kernels::add_to(row, weights_.positions.data() + static_cast<std::size_t>(position) * hidden,
                      config_.hidden);
    }
    for (std::size_t i = 0; i < ropes_.size(); ++i) {
      const auto half = static_cast<std::size_t>(ropes_[i].dims() / 2);
      ropes_[i].fill(position, std::max(batch.text_length, position + 1),
                     std::span(cos_[i]).subspan(r * half, half),
                     std::span(sin_[i]).subspan(r * half, half));
    }
  }
}

// The residual stream of the part's feature rows, where this layer's is asked for.
void CpuTransformer::keep_features(const ForwardBatch& batch, const Part& part,
                                   std::int32_t layer) {
  const auto at = std::find(batch.feature_layers.begin(), batch.feature_layers.end(), layer);
  if (at == batch.feature_layers.end()) return;
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  const std::size_t rows = batch.feature_rows.size();
  float* out = features_.data() +
               static_cast<std::size_t>(at - batch.feature_layers.begin()) * rows * hidden;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(batch.feature_rows[i]);
    if (row < part.first || row >= part.first + static_cast<std::size_t>(part.rows)) continue;
    std::memcpy(out + i * hidden, x_.data() + (row - part.first) * hidden, hidden * sizeof(float));
  }
}

void CpuTransformer::run_layers(const ForwardBatch& batch, const Part& part, CpuKv& kv,
                                const std::stop_token& stop) {
  const std::int64_t rows = part.rows;
  const std::int64_t hidden = config_.hidden;
  const std::int64_t query = config_.query_dims();
  const std::int64_t kv_dims = config_.kv_dims();
  const std::int64_t qkv = query + 2 * kv_dims;
  const std::int64_t inner = config_.intermediate;
  const std::int64_t inner_stride = (config_.gated_mlp ? 2 : 1) * inner;
  const auto at_least = [rows](std::vector<float>& scratch, std::int64_t width) {
    const auto size = static_cast<std::size_t>(rows * width);
    if (scratch.size() < size) scratch.resize(size);
  };
  at_least(x_, hidden);
  at_least(normed_, hidden);
  at_least(qkv_, qkv);
  at_least(attention_, query);
  at_least(inner_, inner_stride);
  if (config_.sandwich_norms) at_least(branch_, hidden);
  for (std::size_t i = 0; i < ropes_.size(); ++i) {
    at_least(cos_[i], ropes_[i].dims() / 2);
    at_least(sin_[i], ropes_[i].dims() / 2);
  }
  embed(batch, part);

  float* x = x_.data();
  float* q = qkv_.data();
  float* k = q + query;
  float* v = k + kv_dims;
  const std::int32_t* slots = batch.slots.data() + part.first;
  const kernels::ActivationKind activation = kind_of(config_.activation);
  kernels::AttentionShape shape;
  shape.heads = config_.heads;
  shape.kv_heads = config_.kv_heads;
  shape.head_dim = config_.head_dim;
  shape.scale = config_.attention_scale;
  shape.softcap = config_.attention_softcap;

  // x += linear(in), with a norm between where the family has one.
  const auto add_branch = [&](const PackedLinear& linear, const float* in, std::int64_t stride,
                              const std::vector<float>& post) {
    if (!config_.sandwich_norms) {
      kernels::linear(linear, in, stride, rows, x, hidden, pool_, kernels::LinearMode::kAdd);
      return;
    }
    kernels::linear(linear, in, stride, rows, branch_.data(), hidden, pool_);
    normalise(branch_.data(), rows, post, {}, branch_.data());
    kernels::add_to(x, branch_.data(), rows * hidden);
  };

  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
    const CpuWeights::Layer& layer = weights_.layers[i];
    keep_features(batch, part, static_cast<std::int32_t>(i));
    normalise(x, rows, layer.attention_norm, layer.attention_norm_bias, normed_.data());
    kernels::linear(layer.qkv, normed_.data(), hidden, rows, q, qkv, pool_);
    if (config_.qk_norm) {
      kernels::rms_norm_heads(q, qkv, rows, config_.heads, config_.head_dim,
                              layer.query_norm.data(), config_.norm_eps, config_.norm_plus_one,
                              pool_);
      kernels::rms_norm_heads(k, qkv, rows, config_.kv_heads, config_.head_dim,
                              layer.key_norm.data(), config_.norm_eps, config_.norm_plus_one,
                              pool_);
    }
    if (const int rope = config_.layers[i].rope; rope >= 0) {
      const auto r = static_cast<std::size_t>(rope);
      const int dims = ropes_[r].dims();
      kernels::rope(q, qkv, rows, config_.heads, config_.head_dim, dims, cos_[r].data(),
                    sin_[r].data());
      kernels::rope(k, qkv, rows, config_.kv_heads, config_.head_dim, dims, cos_[r].data(),
                    sin_[r].data());
    }
    kernels::store_kv(k, qkv, rows, static_cast<int>(kv_dims), slots, precision_, kv.keys(i));
    kernels::store_kv(v, qkv, rows, static_cast<int>(kv_dims), slots, precision_, kv.values(i));
    shape.window = config_.layers[i].window;
    kernels::tree_attention(q, qkv, rows, kv.view(i), shape, part.visible, attention_.data(), query,
                            pool_);
    add_branch(layer.output, attention_.data(), query, layer.post_attention_norm);

    normalise(x, rows, layer.mlp_norm, layer.mlp_norm_bias, normed_.data());
    float* gate = inner_.data();
    kernels::linear(layer.gate_up, normed_.data(), hidden, rows, gate, inner_stride, pool_);
    if (config_.gated_mlp) {
      kernels::gated_activation(activation, gate, gate + inner, inner_stride, rows, inner, gate,
                                inner_stride, pool_);
    } else {
      kernels::activation(activation, gate, inner_stride, rows, inner, pool_);
    }
    add_branch(layer.down, gate, inner_stride, layer.post_mlp_norm);
  }
  keep_features(batch, part, static_cast<std::int32_t>(weights_.layers.size()));
  keep_features(batch, part, kFinalNorm);  // forward() applies the norm
}

ForwardOutput CpuTransformer::forward(const ForwardBatch& batch, KvStorage& kv,
                                      std::stop_token stop) {
  auto* storage = dynamic_cast<CpuKv*>(&kv);
  if (storage == nullptr || !storage->fits(config_, precision_)) {
    throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
  }
  const VisibleSlots visible = check_batch(batch, config_, position_end_, storage->capacity());
  const std::size_t rows = batch.tokens.size();
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  try {
    last_.resize(batch.logit_rows.size() * hidden);
    features_.resize(batch.feature_layers.size() * batch.feature_rows.size() * hidden);
    // Prefill goes in parts, so that scratch does not grow with the prompt: a part sees the parts
    // before it as prefix. Rows with lists of their own may see each other in any order, so they go
    // together.
    const bool causal = visible.offsets.empty();
    std::size_t next_logit = 0;
    for (std::size_t first = 0; first < rows; first += causal ? kPrefillChunk : rows) {
      Part part;
      part.first = first;
      part.rows = static_cast<std::int64_t>(causal ? std::min(kPrefillChunk, rows - first) : rows);
      part.visible.prefix = visible.prefix;
      if (causal) {
        if (first > 0) {
          prefix_.assign(visible.prefix.begin(), visible.prefix.end());
          prefix_.insert(prefix_.end(), batch.slots.begin(),
                         batch.slots.begin() + static_cast<std::ptrdiff_t>(first));
          part.visible.prefix = prefix_;
        }
        part.visible.own = batch.slots.subspan(first, static_cast<std::size_t>(part.rows));
      } else {
        part.visible = visible;
      }
      run_layers(batch, part, *storage, stop);
      for (; next_logit < batch.logit_rows.size(); ++next_logit) {
        const auto row = static_cast<std::size_t>(batch.logit_rows[next_logit]);
        if (row >= first + static_cast<std::size_t>(part.rows)) break;
        std::memcpy(last_.data() + next_logit * hidden, x_.data() + (row - first) * hidden,
                    hidden * sizeof(float));
      }
    }

    ForwardOutput output;
    output.vocab_size = config_.vocab_size;
    for (std::size_t i = 0; i < batch.feature_layers.size(); ++i) {
      if (batch.feature_layers[i] != kFinalNorm) continue;
      float* normed = features_.data() + i * batch.feature_rows.size() * hidden;
      normalise(normed, static_cast<std::int64_t>(batch.feature_rows.size()), weights_.final_norm,
                weights_.final_norm_bias, normed);
    }
    output.features = features_;
    const auto wanted = static_cast<std::int64_t>(batch.logit_rows.size());
    if (wanted == 0) return output;
    normalise(last_.data(), wanted, weights_.final_norm, weights_.final_norm_bias, last_.data());
    const PackedLinear& head = config_.tied_embeddings ? weights_.embedding : weights_.head;
    logits_.resize(static_cast<std::size_t>(wanted) * static_cast<std::size_t>(config_.vocab_size));
    kernels::linear(head, last_.data(), config_.hidden, wanted, logits_.data(), config_.vocab_size,
                    pool_);
    if (config_.logit_softcap > 0) {
      kernels::softcap(logits_.data(), config_.logit_softcap,
                       static_cast<std::int64_t>(logits_.size()));
    }
    output.logits = logits_;
    return output;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory,
                "no memory for a forward over " + std::to_string(rows) + " rows with " +
                    std::to_string(batch.logit_rows.size()) +
                    " rows of logits and hidden states of " +
                    std::to_string(batch.feature_rows.size()) + " rows in " +
                    std::to_string(batch.feature_layers.size()) +
                    " layers: ask for fewer, or a shorter prompt");
  }
}

}  // namespace

std::unique_ptr<Model> make_cpu_transformer(const formats::WeightSource& source, ModelInfo info,
                                            const LoadOptions& options,
                                            const ProgressSink& progress, std::stop_token stop) {
  return std::make_unique<CpuTransformer>(source, std::move(info), options, progress, stop);
}

}  // namespace triescope
