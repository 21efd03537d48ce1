#include "core/model/heads/eagle_model.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/error.h"
#include "core/kernels/norm.h"
#include "core/model/heads/cpu_head_model.h"
#include "core/model/heads/eagle_shape.h"
#include "core/model/heads/eagle_weights.h"
#include "core/model/visible_slots.h"

namespace triescope {
namespace {

using formats::HeadKind;

class EagleModel final : public CpuHeadModel<EagleWeights<HeadLoader>> {
 public:
  EagleModel(HeadLoader& loader, Model& target, kernels::Precision precision)
      : CpuHeadModel(loader, target, precision) {}

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    CpuKv& storage = own_kv(kv);
    const VisibleSlots visible = check_batch(batch, config_, config_.context, storage.capacity());
    const std::size_t width = check_feature_width(
        head_, weights_.fc ? static_cast<std::size_t>(weights_.fc->inputs()) : 0, batch);
    try {
      features_.resize(batch.feature_layers.size() * batch.feature_rows.size() * hidden());
      CpuLayers::Rows rows{.positions = batch.positions,
                           .slots = batch.slots,
                           .visible = visible,
                           .text_length = batch.text_length};
      begin(batch, width, rows);
      layers_.run(rows, weights_.layers, storage, stop,
                  [&](std::int32_t layer) { keep_features(batch, layer); });
      keep_features(batch, kFinalNorm);

      ForwardOutput output{.logits = {}, .features = features_, .vocab_size = config_.vocab_size};
      if (is_hydra() || batch.logit_rows.empty()) return output;
      gather_last(batch);
      norm(last_.data(), batch.logit_rows.size(), hidden(), hidden(), weights_.final_norm,
           last_.data(), hidden());
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

  // RMS norm of rows; copies them where there is no weight.
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

  // Fills the residual stream, and the first layer's input where that is something else.
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
    float* const token_part = joined_.data() + (head_.hidden_first ? d : 0);
    float* const state_part = joined_.data() + (head_.hidden_first ? 0 : e);
    embedding_.read(batch.tokens, token_part, both);
    if (!eagle3) {
      for (std::size_t r = 0; r < count; ++r) {
        std::ranges::copy(batch.input_features.subspan(r * d, d), state_part + r * both);
        if (head_.blind_start && batch.positions[r] == 0)
          std::fill_n(token_part + r * both, e, 0.0f);
      }
      norm(token_part, count, both, e, weights_.embedding_norm, token_part, both);
      norm(state_part, count, both, d, weights_.feature_norm, state_part, both);
      kernels::linear(*weights_.fc, joined_.data(), weights_.fc->inputs(),
                      static_cast<std::int64_t>(count), x.data(), static_cast<std::int64_t>(d),
                      pool_);
      return;
    }
    join_states(batch, width, x);
    norm(joined_.data(), count, both, e, weights_.embedding_norm, joined_.data(), both);
    norm(x.data(), count, d, d, weights_.feature_norm, joined_.data() + e, both);
    if (head_.norm_before_residual)
      for (std::size_t r = 0; r < count; ++r)
        std::copy_n(joined_.data() + r * both + e, d, x.data() + r * d);
    rows.first_input = joined_;
  }

  // EAGLE-3's h: the target's states go through fc, a drafted state stays as it is.
  void join_states(const ForwardBatch& batch, std::size_t width, std::span<float> h) {
    const std::size_t count = batch.tokens.size();
    if (!weights_.fc || width != static_cast<std::size_t>(weights_.fc->inputs())) {
      std::ranges::copy(batch.input_features, h.begin());
      return;
    }
    states_.assign(batch.input_features.begin(), batch.input_features.end());
    norm(states_.data(), count, width, width, weights_.input_norm, states_.data(), width);
    const std::size_t part = weights_.fc_norms.empty() ? 0 : width / weights_.fc_norms.size();
    for (std::size_t i = 0; i < weights_.fc_norms.size(); ++i)
      norm(states_.data() + i * part, count, width, part, weights_.fc_norms[i],
           states_.data() + i * part, width);
    kernels::linear(*weights_.fc, states_.data(), weights_.fc->inputs(),
                    static_cast<std::int64_t>(count), h.data(), head_.hidden, pool_);
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
    if (layer == kFinalNorm) norm(out, rows, d, d, weights_.final_norm, out, d);
  }

  // Scratch of a forward, kept from one to the next.
  std::vector<float> joined_;  // [rows, embedding and state]
  std::vector<float> states_;
  std::vector<float> features_;  // [feature_layers, feature_rows, hidden]
};

}  // namespace

std::unique_ptr<Model> make_eagle_model(HeadLoader& loader, Model& target,
                                        kernels::Precision precision) {
  return std::make_unique<EagleModel>(loader, target, precision);
}

}  // namespace triescope
