#include "core/model/heads/eagle_torch.h"

#include <vector>

#include "core/base/error.h"
#include "core/model/heads/eagle_shape.h"
#include "core/model/heads/eagle_weights.h"
#include "core/model/heads/torch_head_model.h"

namespace triescope {
namespace {

using at::Tensor;
using formats::HeadKind;

class EagleTorch final : public TorchHeadModel<EagleWeights<TorchHeadLoader>> {
 public:
  EagleTorch(TorchHeadLoader& loader, const Model& target) : TorchHeadModel(loader, target) {}

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    TorchKv& storage = own_kv(kv);
    const VisibleSlots visible = check_batch(batch, config_, config_.context, storage.capacity());
    check_feature_width(head_, static_cast<std::size_t>(fc_inputs()), batch);
    ForwardOutput output;
    forward_on_device(options_.device(), batch.tokens.size(),
                      [&] { output = run(batch, visible, storage, stop); });
    return output;
  }

 private:
  struct Begin {
    Tensor x;            // the residual stream that enters the first layer
    Tensor first_input;  // input of that layer's q, k and v; undefined: x
  };

  bool is_hydra() const { return head_.kind == HeadKind::kHydra; }
  std::int64_t fc_inputs() const { return weights_.fc ? weights_.fc->matrix.inputs() : 0; }

  // features: [rows, width], in memory of its own.
  Begin begin(const ForwardInputs& in, const Tensor& features) const {
    if (is_hydra()) return {features, {}};
    Tensor e = embedding_.rows(in.tokens);
    if (head_.kind == HeadKind::kEagle)
      return {linear(at::cat({e, features}, 1), *weights_.fc), {}};
    if (head_.kind == HeadKind::kMtp) {
      if (head_.blind_start) e = e.masked_fill(in.positions.eq(0).unsqueeze(1), 0);
      e = layers_.normalise(e, {weights_.embedding_norm, {}});
      const Tensor state = layers_.normalise(features, {weights_.feature_norm, {}});
      return {linear(head_.hidden_first ? at::cat({state, e}, 1) : at::cat({e, state}, 1),
                     *weights_.fc),
              {}};
    }
    const Tensor h = joined_states(features);
    const Tensor normed = layers_.normalise(h, {weights_.feature_norm, {}});
    const Tensor both = at::cat({layers_.normalise(e, {weights_.embedding_norm, {}}), normed}, 1);
    return {head_.norm_before_residual ? normed : h, both};
  }

  // EAGLE-3's h: the target's states go through fc, a drafted state stays as it is.
  Tensor joined_states(const Tensor& features) const {
    if (!weights_.fc || features.size(1) != fc_inputs()) return features;
    Tensor states = layers_.normalise(features, {weights_.input_norm, {}});
    if (const auto parts = static_cast<std::int64_t>(weights_.fc_norms.size()); parts > 0) {
      const std::int64_t part = states.size(1) / parts;
      std::vector<Tensor> normed;
      for (std::int64_t i = 0; i < parts; ++i)
        // This copies: a single row's part would be contiguous where it lies, and aligned only by
        // chance.
        normed.push_back(
            layers_.normalise(states.narrow(1, i * part, part).clone(at::MemoryFormat::Contiguous),
                              {weights_.fc_norms[static_cast<std::size_t>(i)], {}}));
      states = at::cat(normed, 1);
    }
    return linear(states, *weights_.fc);
  }

  ForwardOutput run(const ForwardBatch& batch, const VisibleSlots& visible, TorchKv& kv,
                    const std::stop_token& stop) {
    const ForwardInputs in = layers_.inputs(batch, visible, inputs_);
    const Begin first = begin(in, inputs_.device_copy(batch.input_features, options_.device())
                                      .view({static_cast<std::int64_t>(batch.tokens.size()), -1})
                                      .to(options_.dtype()));
    TorchFeatures features(batch, in.feature_rows);
    const Tensor normed = layers_.run({in, visible, first.first_input}, weights_.layers,
                                      {weights_.final_norm, {}}, first.x, kv, features, stop);

    features.join();
    ForwardOutput output;
    output.vocab_size = config_.vocab_size;
    if (!is_hydra() && !batch.logit_rows.empty()) {
      const Tensor states = normed.index_select(0, in.logit_rows);
      logits_.give(output_.logits(states, head_.logit_scale), batch.best_tokens, output);
    }
    output.features = features.on_host(features_);
    return output;
  }

  StagingBuffer features_;  // of the last forward
};

}  // namespace

std::unique_ptr<Model> make_eagle_torch(TorchHeadLoader& loader, const Model& target) {
  return std::make_unique<EagleTorch>(loader, target);
}

}  // namespace triescope
