#include "core/heads/eagle_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "core/base/error.h"
#include "core/kernels/norm.h"
#include "core/model/cpu_kv.h"
#include "core/model/cpu_layers.h"
#include "core/model/visible_slots.h"

namespace triescope {
namespace {

using formats::HeadConfig;
using formats::HeadKind;
using formats::ModelConfig;

// The layers as the CPU layers know them.
ModelConfig layers_of(const HeadConfig& head, const ModelInfo& target) {
  ModelConfig config;
  config.family = formats::to_string(head.kind);
  config.hidden = head.hidden;
  config.heads = head.heads;
  config.kv_heads = head.kv_heads;
  config.head_dim = head.head_dim;
  config.intermediate = head.intermediate;
  config.vocab_size = target.vocab_size;
  // Positions are rotary: they go as far as the target's, whatever length the head was trained on.
  config.context = target.context;
  config.layers.assign(static_cast<std::size_t>(head.layers), {});
  config.ropes = {head.rope};
  config.norm_eps = head.norm_eps;
  config.qk_norm = head.qk_norm;
  config.attention_scale = 1 / std::sqrt(static_cast<float>(head.head_dim));
  return config;
}

std::string layer_prefix(const HeadConfig& head, int layer) {
  if (head.kind == HeadKind::kHydra)
    return "prefix_embeding_layer.layers." + std::to_string(layer) + ".";
  if (head.kind == HeadKind::kEagle3 && layer == 0) return "midlayer.";
  return "layers." + std::to_string(layer) + ".";
}

class EagleModel final : public Model {
 public:
  EagleModel(HeadLoader& loader, Model& target, kernels::Precision precision)
      : head_(loader.file().config()),
        config_(layers_of(head_, target.info())),
        precision_(precision),
        pool_(loader.pool()),
        layers_(config_, precision, pool_),
        embedding_(loader, target, head_.own_embedding && !is_hydra() ? "embed_tokens" : ""),
        output_(loader, target, head_.own_lm_head && !is_hydra() ? "lm_head" : "") {
    info_.name = loader.file().path();
    info_.path = loader.file().path();
    info_.family = config_.family;
    info_.format = "draft head";
    info_.parameters = loader.file().parameters();
    info_.file_bytes = loader.file().file_bytes();
    info_.layers = head_.layers;
    info_.hidden = head_.hidden;
    info_.heads = head_.heads;
    info_.kv_heads = head_.kv_heads;
    info_.head_dim = head_.head_dim;
    info_.intermediate = head_.intermediate;
    info_.vocab_size = config_.vocab_size;
    info_.context = config_.context;
    info_.dtype = precision == kernels::Precision::kBF16 ? DType::kBF16 : DType::kF32;
    info_.device = "cpu";
    info_.cheap_rows = kernels::PackedLinear::cheap_rows(
        precision == kernels::Precision::kBF16 ? sizeof(std::uint16_t) : sizeof(float));
    for (int i = 0; i < head_.layers; ++i) weights_.push_back(loader.layer(layer_prefix(head_, i)));
    if (!is_hydra() && head_.has_fc) fc_ = loader.linear("fc");
    embedding_norm_ = loader.vector("midlayer.input_layernorm.weight");
    // EAGLE-3's first layer norms its two inputs one by one; EAGLE has neither this norm nor a
    // final one, even where a file carries weights by these names (vLLM's: ones that are not read).
    if (!is_hydra()) weights_[0].attention_norm.clear();
    feature_norm_ = loader.vector("midlayer.hidden_norm.weight");
    if (head_.norm_before_fc) input_norm_ = loader.vector("input_norm.weight");
    if (head_.fc_norm)
      for (std::size_t i = 0; i < head_.feature_layers.size(); ++i)
        fc_norms_.push_back(loader.vector("fc_norm." + std::to_string(i) + ".weight"));
    if (head_.kind != HeadKind::kEagle)
      final_norm_ = loader.vector(is_hydra() ? "prefix_embeding_layer.norm.weight" : "norm.weight");
  }

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<CpuKv>(config_, precision_, capacity);
  }

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    auto* storage = dynamic_cast<CpuKv*>(&kv);
    if (storage == nullptr || !storage->fits(config_, precision_))
      throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
    const VisibleSlots visible = check_batch(batch, config_, config_.context, storage->capacity());
    const std::size_t width = check_width(batch);
    try {
      features_.resize(batch.feature_layers.size() * batch.feature_rows.size() * hidden());
      CpuLayers::Rows rows{.positions = batch.positions,
                           .slots = batch.slots,
                           .visible = visible,
                           .text_length = batch.text_length};
      begin(batch, width, rows);
      layers_.run(rows, weights_, *storage, stop,
                  [&](std::int32_t layer) { keep_features(batch, layer); });
      keep_features(batch, kFinalNorm);

      ForwardOutput output{.logits = {}, .features = features_, .vocab_size = config_.vocab_size};
      if (is_hydra() || batch.logit_rows.empty()) return output;
      const std::span<const float> x = layers_.residual(batch.tokens.size());
      last_.resize(batch.logit_rows.size() * hidden());
      for (std::size_t i = 0; i < batch.logit_rows.size(); ++i)
        std::ranges::copy(
            x.subspan(static_cast<std::size_t>(batch.logit_rows[i]) * hidden(), hidden()),
            last_.begin() + static_cast<std::ptrdiff_t>(i * hidden()));
      norm(last_.data(), batch.logit_rows.size(), hidden(), hidden(), final_norm_, last_.data(),
           hidden());
      output.logits = output_.logits(last_, head_.logit_scale);
      return output;
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kOutOfMemory, "no memory for a forward of the draft head over " +
                                               std::to_string(batch.tokens.size()) +
                                               " rows: ask for fewer drafts, or a shorter prompt");
    }
  }

 private:
  bool is_hydra() const { return head_.kind == HeadKind::kHydra; }
  std::size_t hidden() const { return static_cast<std::size_t>(head_.hidden); }

  // The rows' width of input features: a drafted state's or, before fc, the target's.
  std::size_t check_width(const ForwardBatch& batch) const {
    const std::size_t rows = batch.tokens.size();
    const std::size_t width = batch.input_features.size() / rows;
    const bool is_whole = batch.input_features.size() == rows * width;
    const std::size_t of_target =
        head_.kind == HeadKind::kEagle3 && fc_ ? static_cast<std::size_t>(fc_->inputs()) : hidden();
    if (is_whole && (width == of_target || width == hidden())) return width;
    throw Error(ErrorCode::kInvalidArgument,
                "forward: expected input features of " + std::to_string(of_target) + " or " +
                    std::to_string(hidden()) + " values for each of " + std::to_string(rows) +
                    " rows, found " + std::to_string(batch.input_features.size()) + " values");
  }

  // RMS norm of rows; a plain copy where there is no weight.
  void norm(const float* x, std::size_t rows, std::size_t stride, std::size_t dim,
            const std::vector<float>& weight, float* out, std::size_t out_stride) {
    if (weight.empty()) {
      for (std::size_t r = 0; r < rows && x != out; ++r)
        std::memcpy(out + r * out_stride, x + r * stride, dim * sizeof(float));
      return;
    }
    kernels::rms_norm(x, static_cast<std::int64_t>(stride),
                      {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(dim)},
                      weight.data(), head_.norm_eps, false, out,
                      static_cast<std::int64_t>(out_stride), pool_);
  }

  // Fills the residual stream, and what the first layer reads where that is something else.
  void begin(const ForwardBatch& batch, std::size_t width, CpuLayers::Rows& rows) {
    const std::size_t count = batch.tokens.size(), d = hidden();
    const std::span<float> x = layers_.residual(count);
    if (is_hydra()) {
      std::ranges::copy(batch.input_features, x.begin());
      return;
    }
    const bool eagle3 = head_.kind == HeadKind::kEagle3;
    const std::size_t e = embedding_.width(), both = e + d;
    joined_.resize(count * both);
    embedding_.read(batch.tokens, joined_.data(), both);
    if (!eagle3) {
      for (std::size_t r = 0; r < count; ++r)
        std::ranges::copy(batch.input_features.subspan(r * d, d),
                          joined_.begin() + static_cast<std::ptrdiff_t>(r * both + e));
      kernels::linear(*fc_, joined_.data(), fc_->inputs(), static_cast<std::int64_t>(count),
                      x.data(), static_cast<std::int64_t>(d), pool_);
      return;
    }
    join_states(batch, width, x);
    norm(joined_.data(), count, both, e, embedding_norm_, joined_.data(), both);
    norm(x.data(), count, d, d, feature_norm_, joined_.data() + e, both);
    if (head_.norm_before_residual)
      for (std::size_t r = 0; r < count; ++r)
        std::copy_n(joined_.data() + r * both + e, d, x.data() + r * d);
    rows.first_input = joined_;
  }

  // EAGLE-3's h: the target's states through fc, a drafted state as it is.
  void join_states(const ForwardBatch& batch, std::size_t width, std::span<float> h) {
    const std::size_t count = batch.tokens.size();
    if (!fc_ || width != static_cast<std::size_t>(fc_->inputs())) {
      std::ranges::copy(batch.input_features, h.begin());
      return;
    }
    states_.assign(batch.input_features.begin(), batch.input_features.end());
    norm(states_.data(), count, width, width, input_norm_, states_.data(), width);
    const std::size_t part = fc_norms_.empty() ? 0 : width / fc_norms_.size();
    for (std::size_t i = 0; i < fc_norms_.size(); ++i)
      norm(states_.data() + i * part, count, width, part, fc_norms_[i], states_.data() + i * part,
           width);
    kernels::linear(*fc_, states_.data(), fc_->inputs(), static_cast<std::int64_t>(count), h.data(),
                    head_.hidden, pool_);
  }

  void keep_features(const ForwardBatch& batch, std::int32_t layer) {
    const auto at = std::ranges::find(batch.feature_layers, layer);
    if (at == batch.feature_layers.end()) return;
    const std::size_t d = hidden(), rows = batch.feature_rows.size();
    const std::span<const float> x = layers_.residual(batch.tokens.size());
    float* out =
        features_.data() + static_cast<std::size_t>(at - batch.feature_layers.begin()) * rows * d;
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(x.data() + static_cast<std::size_t>(batch.feature_rows[i]) * d, d, out + i * d);
    if (layer == kFinalNorm) norm(out, rows, d, d, final_norm_, out, d);
  }

  const HeadConfig head_;
  const ModelConfig config_;
  ModelInfo info_;
  kernels::Precision precision_;
  ThreadPool& pool_;
  CpuLayers layers_;
  HeadEmbedding embedding_;
  HeadOutput output_;
  std::vector<CpuWeights::Layer> weights_;
  std::shared_ptr<const kernels::PackedLinear> fc_;
  std::vector<float> embedding_norm_, feature_norm_, input_norm_, final_norm_;
  std::vector<std::vector<float>> fc_norms_;

  // Scratch of a forward, kept from one to the next.
  std::vector<float> joined_;  // [rows, embedding and state]
  std::vector<float> states_, last_;
  std::vector<float> features_;  // [feature_layers, feature_rows, hidden]
};

}  // namespace

std::unique_ptr<Model> make_eagle_model(HeadLoader& loader, Model& target,
                                        kernels::Precision precision) {
  return std::make_unique<EagleModel>(loader, target, precision);
}

}  // namespace triescope
