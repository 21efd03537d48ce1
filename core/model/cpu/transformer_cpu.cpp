// CPU executor: the transformer over core/kernels, with prepacked weights in the types of the file.
// Activations are fp32. Path only: every kernel used here computes a row in one fixed order from
// that row and what it sees, so the whole does too.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "core/kernels/activation.h"
#include "core/kernels/linear.h"
#include "core/model/active_weights.h"
#include "core/model/cpu/cpu_kv.h"
#include "core/model/cpu/cpu_layers.h"
#include "core/model/cpu/cpu_per_layer.h"
#include "core/model/cpu/cpu_weights.h"
#include "core/model/layer_route.h"
#include "core/model/mask_rows.h"
#include "core/model/transformer.h"
#include "core/model/visible_slots.h"

namespace triescope {
namespace {

using formats::ModelConfig;
using kernels::PackedLinear;

class CpuTransformer final : public Model {
 public:
  CpuTransformer(const formats::WeightSource& source, ModelInfo info, const LoadOptions& options,
                 const ProgressSink& progress, std::stop_token stop);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<CpuKv>(config_, precision_, capacity);
  }
  std::unique_ptr<KvStorage> make_kv_of(int capacity,
                                        std::span<const std::int32_t> layers) override {
    return std::make_unique<CpuKv>(config_, precision_, capacity, layers.size());
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override;
  void embed(std::span<const std::int32_t> tokens, std::span<float> out) override;
  std::span<const float> output_head(std::span<const float> states) override;

 private:
  // A part of a batch that goes through the layers at once.
  struct Part {
    std::size_t first = 0, rows = 0;
    VisibleSlots visible;
  };

  const PackedLinear& head() const {
    return config_.tied_embeddings ? weights_.embedding : weights_.head;
  }
  void run_part(const ForwardBatch& batch, const Part& part, CpuKv& kv,
                const std::stop_token& stop);
  void begin(const ForwardBatch& batch, const Part& part, std::span<float> x) const;
  void keep_features(const ForwardBatch& batch, const Part& part, std::int32_t layer);

  const ModelConfig config_;
  ModelInfo info_;
  kernels::Precision precision_;  // for K and V
  ThreadPool pool_;
  int position_end_ = 0;

  CpuWeights weights_;
  CpuPerLayer per_layer_;
  CpuLayers layers_;

  // Scratch of a forward, kept from one to the next.
  std::vector<float> last_, logits_;
  std::vector<float> features_;     // [feature_layers, feature_rows, hidden]
  std::vector<float> head_logits_;  // for output_head()
  std::vector<std::int32_t> prefix_;
  ExpertNotes experts_;
};

CpuTransformer::CpuTransformer(const formats::WeightSource& source, ModelInfo info,
                               const LoadOptions& options, const ProgressSink& progress,
                               std::stop_token stop)
    : config_(source.config()),
      info_(std::move(info)),
      precision_(info_.kv_dtype == DType::kBF16 ? kernels::Precision::kBF16
                                                : kernels::Precision::kF32),
      pool_(options.threads),
      weights_(source, options, progress, stop),
      per_layer_(config_, weights_, pool_),
      layers_(config_, precision_, pool_) {
  position_end_ = info_.context;
  info_.row_costs = with_experts(PackedLinear::row_costs(weights_.bytes_per_weight()), config_);
}

void CpuTransformer::embed(std::span<const std::int32_t> tokens, std::span<float> out) {
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  check_shared_embedding(tokens, out.size(), info_);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    weights_.embedding.read_row(tokens[i], out.data() + i * hidden);
}

std::span<const float> CpuTransformer::output_head(std::span<const float> states) {
  const std::size_t rows = check_shared_states(states.size(), info_);
  head_logits_.resize(rows * static_cast<std::size_t>(config_.vocab_size));
  kernels::linear(head(), states.data(), config_.hidden, static_cast<std::int64_t>(rows),
                  head_logits_.data(), config_.vocab_size, pool_);
  return head_logits_;
}

// The residual stream that enters the first layer.
void CpuTransformer::begin(const ForwardBatch& batch, const Part& part, std::span<float> x) const {
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  for (std::size_t r = 0; r < part.rows; ++r) {
    float* row = x.data() + r * hidden;
    const std::int32_t token = batch.tokens[part.first + r];
    if (part.first + r < batch.tokens.size() - static_cast<std::size_t>(batch.masks.rows)) {
      weights_.embedding.read_row(token, row);
    } else {
      std::memcpy(row, batch.masks.embeddings.data() + static_cast<std::size_t>(token) * hidden,
                  hidden * sizeof(float));
    }
    if (config_.embedding_scale != 1)
      kernels::scale_by(row, config_.embedding_scale, config_.hidden);
    if (config_.learned_positions) {
      const auto position = static_cast<std::size_t>(batch.positions[part.first + r]);
      kernels::add_to(row, weights_.positions.data() + position * hidden, config_.hidden);
    }
  }
}

// Keeps the residual stream of the part's feature rows, if this layer's is asked for.
void CpuTransformer::keep_features(const ForwardBatch& batch, const Part& part,
                                   std::int32_t layer) {
  const auto at = std::find(batch.feature_layers.begin(), batch.feature_layers.end(), layer);
  if (at == batch.feature_layers.end()) return;
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  const std::size_t rows = batch.feature_rows.size();
  const float* x = layers_.residual(part.rows).data();
  float* out = features_.data() +
               static_cast<std::size_t>(at - batch.feature_layers.begin()) * rows * hidden;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(batch.feature_rows[i]);
    if (row < part.first || row >= part.first + part.rows) continue;
    std::memcpy(out + i * hidden, x + (row - part.first) * hidden, hidden * sizeof(float));
  }
}

void CpuTransformer::run_part(const ForwardBatch& batch, const Part& part, CpuKv& kv,
                              const std::stop_token& stop) {
  const std::span<float> x = layers_.residual(part.rows);
  begin(batch, part, x);
  const std::size_t with_token = batch.tokens.size() - static_cast<std::size_t>(batch.masks.rows);
  const std::size_t first = std::min(part.first, with_token);
  std::optional<MaskRows> masks;
  if (batch.masks.rows > 0) masks.emplace(batch, part.visible);
  layers_.run({.positions = batch.positions.subspan(part.first, part.rows),
               .slots = batch.slots.subspan(part.first, part.rows),
               .visible = part.visible,
               .text_length = batch.text_length,
               .sublayers = batch.sublayers,
               .masks = masks ? &*masks : nullptr,
               .experts = &experts_,
               .first_row = part.first,
               .per_layer = per_layer_.inputs(
                   batch.tokens.subspan(first, std::min(part.rows, with_token - first)), x)},
              weights_.layers, kv, stop,
              [&](std::int32_t layer) { keep_features(batch, part, layer); });
  keep_features(batch, part, kFinalNorm);  // forward() applies the norm
}

ForwardOutput CpuTransformer::forward(const ForwardBatch& batch, KvStorage& kv,
                                      std::stop_token stop) {
  auto* storage = dynamic_cast<CpuKv*>(&kv);
  const auto fits = [&](std::size_t layers) { return storage->fits(config_, precision_, layers); };
  if (storage == nullptr || !fits_route(config_, batch.sublayers, fits)) {
    throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
  }
  const VisibleSlots visible = check_batch(batch, config_, position_end_, storage->capacity());
  const std::size_t rows = batch.tokens.size();
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  try {
    experts_.begin(config_, batch);
    last_.resize(batch.logit_rows.size() * hidden);
    features_.resize(batch.feature_layers.size() * batch.feature_rows.size() * hidden);
    // Prefill goes in parts, so that scratch does not grow with the prompt: a part sees the parts
    // before it as prefix. Rows with lists of their own may see each other in any order, so they go
    // together.
    const bool causal = visible.offsets.empty();
    std::size_t next_logit = 0;
    for (const auto [first, count] : pieces_of(rows, causal ? kPrefillChunk : rows)) {
      Part part;
      part.first = first;
      part.rows = count;
      part.visible.prefix = visible.prefix;
      if (causal) {
        if (first > 0) {
          prefix_.assign(visible.prefix.begin(), visible.prefix.end());
          prefix_.insert(prefix_.end(), batch.slots.begin(),
                         batch.slots.begin() + static_cast<std::ptrdiff_t>(first));
          part.visible.prefix = prefix_;
        }
        part.visible.own = batch.slots.subspan(first, part.rows);
      } else {
        part.visible = visible;
      }
      run_part(batch, part, *storage, stop);
      const float* x = layers_.residual(part.rows).data();
      for (; next_logit < batch.logit_rows.size(); ++next_logit) {
        const auto row = static_cast<std::size_t>(batch.logit_rows[next_logit]);
        if (row >= first + part.rows) break;
        std::memcpy(last_.data() + next_logit * hidden, x + (row - first) * hidden,
                    hidden * sizeof(float));
      }
    }

    ForwardOutput output;
    output.vocab_size = config_.vocab_size;
    for (std::size_t i = 0; i < batch.feature_layers.size(); ++i) {
      if (batch.feature_layers[i] != kFinalNorm) continue;
      float* normed = features_.data() + i * batch.feature_rows.size() * hidden;
      layers_.normalise(normed, static_cast<std::int64_t>(batch.feature_rows.size()),
                        weights_.final_norm, weights_.final_norm_bias, normed, config_.hidden);
    }
    output.features = features_;
    output.experts = experts_.view();
    const auto wanted = static_cast<std::int64_t>(batch.logit_rows.size());
    if (wanted == 0) return output;
    layers_.normalise(last_.data(), wanted, weights_.final_norm, weights_.final_norm_bias,
                      last_.data(), config_.hidden);
    logits_.resize(static_cast<std::size_t>(wanted) * static_cast<std::size_t>(config_.vocab_size));
    kernels::linear(head(), last_.data(), config_.hidden, wanted, logits_.data(),
                    config_.vocab_size, pool_);
    if (config_.logit_scale != 1)
      kernels::scale_by(logits_.data(), config_.logit_scale,
                        static_cast<std::int64_t>(logits_.size()));
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
