#include "core/model/heads/block_model.h"

#include <algorithm>
#include <new>

#include "core/base/error.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/model/cpu/cpu_kv.h"
#include "core/model/cpu/cpu_layers.h"
#include "core/model/heads/block_shape.h"
#include "core/model/heads/block_weights.h"
#include "core/model/heads/eagle_shape.h"
#include "core/model/visible_slots.h"

namespace triescope {
namespace {

class BlockModel final : public Model {
 public:
  BlockModel(HeadLoader& loader, Model& target, kernels::Precision precision)
      : head_(loader.file().config()),
        config_(eagle_layers(head_, target.info())),
        info_(eagle_info(loader.file(), config_,
                         precision == kernels::Precision::kBF16 ? DType::kBF16 : DType::kF32,
                         "cpu")),
        precision_(precision),
        pool_(loader.pool()),
        layers_(config_, precision, pool_),
        weights_(loader),
        embedding_(loader, target, weights_.embedding),
        output_(loader, target, weights_.output) {
    info_.row_costs = kernels::PackedLinear::row_costs(bytes_per_weight(weights_.layers, {}));
  }

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<CpuKv>(config_, precision_, capacity);
  }

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    auto* storage = dynamic_cast<CpuKv*>(&kv);
    if (storage == nullptr || !storage->fits(config_, precision_, config_.layers.size()))
      throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
    const VisibleSlots visible = check_batch(batch, config_, config_.context, storage->capacity());
    CpuLayers::Rows rows{.positions = batch.positions,
                         .slots = batch.slots,
                         .visible = visible,
                         .text_length = batch.text_length};
    try {
      if (is_context(batch, static_cast<std::size_t>(weights_.fc->inputs())))
        return store_text(batch, rows, *storage, stop);
      return fill_block(batch, rows, *storage, stop);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kOutOfMemory, "no memory for a forward of the draft head over " +
                                               std::to_string(batch.tokens.size()) +
                                               " rows: ask for a shorter prompt");
    }
  }

 private:
  std::size_t hidden() const { return static_cast<std::size_t>(head_.hidden); }

  void norm(std::vector<float>& x, std::size_t rows, const std::vector<float>& weight) {
    const auto d = static_cast<std::int64_t>(hidden());
    kernels::rms_norm(x.data(), d, {static_cast<std::int64_t>(rows), d}, weight.data(),
                      head_.norm_eps, false, x.data(), d, pool_);
  }

  ForwardOutput store_text(const ForwardBatch& batch, const CpuLayers::Rows& rows, CpuKv& kv,
                           const std::stop_token& stop) {
    const std::size_t count = batch.tokens.size();
    context_.resize(count * hidden());
    kernels::linear(*weights_.fc, batch.input_features.data(), weights_.fc->inputs(),
                    static_cast<std::int64_t>(count), context_.data(), head_.hidden, pool_);
    norm(context_, count, weights_.context_norm);
    layers_.store_context(rows, context_, weights_.layers, kv, stop);
    return {.logits = {}, .vocab_size = config_.vocab_size};
  }

  ForwardOutput fill_block(const ForwardBatch& batch, CpuLayers::Rows& rows, CpuKv& kv,
                           const std::stop_token& stop) {
    const BlockSight sight(batch, rows.visible);
    rows.visible = sight.visible();
    const std::span<float> x = layers_.residual(batch.tokens.size());
    embedding_.read(batch.tokens, x.data(), hidden());
    layers_.run(rows, weights_.layers, kv, stop, {});
    ForwardOutput output{.logits = {}, .vocab_size = config_.vocab_size};
    if (batch.logit_rows.empty()) return output;
    const std::span<const float> left = layers_.residual(batch.tokens.size());
    last_.resize(batch.logit_rows.size() * hidden());
    for (std::size_t i = 0; i < batch.logit_rows.size(); ++i)
      std::ranges::copy(
          left.subspan(static_cast<std::size_t>(batch.logit_rows[i]) * hidden(), hidden()),
          last_.begin() + static_cast<std::ptrdiff_t>(i * hidden()));
    norm(last_, batch.logit_rows.size(), weights_.final_norm);
    output.logits = output_.logits(last_, head_.logit_scale);
    return output;
  }

  const formats::HeadConfig head_;
  const formats::ModelConfig config_;
  ModelInfo info_;
  kernels::Precision precision_;
  ThreadPool& pool_;
  CpuLayers layers_;
  BlockWeights<HeadLoader> weights_;
  HeadEmbedding embedding_;
  HeadOutput output_;
  std::vector<float> context_, last_;  // scratch, kept from one forward to the next
};

}  // namespace

std::unique_ptr<Model> make_block_model(HeadLoader& loader, Model& target,
                                        kernels::Precision precision) {
  return std::make_unique<BlockModel>(loader, target, precision);
}

}  // namespace triescope
