#include "core/model/heads/block_model.h"

#include <algorithm>
#include <new>

#include "core/base/error.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/model/heads/block_shape.h"
#include "core/model/heads/block_weights.h"
#include "core/model/heads/cpu_head_model.h"
#include "core/model/visible_slots.h"

namespace triescope {
namespace {

class BlockModel final : public CpuHeadModel<BlockWeights<HeadLoader>> {
 public:
  BlockModel(HeadLoader& loader, Model& target, kernels::Precision precision)
      : CpuHeadModel(loader, target, precision) {}

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    CpuKv& storage = own_kv(kv);
    const VisibleSlots visible = check_batch(batch, config_, config_.context, storage.capacity());
    CpuLayers::Rows rows{.positions = batch.positions,
                         .slots = batch.slots,
                         .visible = visible,
                         .text_length = batch.text_length};
    try {
      if (is_context(batch, static_cast<std::size_t>(weights_.fc->inputs())))
        return store_text(batch, rows, storage, stop);
      return fill_block(batch, rows, storage, stop);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kOutOfMemory, "no memory for a forward of the draft head over " +
                                               std::to_string(batch.tokens.size()) +
                                               " rows: ask for a shorter prompt");
    }
  }

 private:
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
    gather_last(batch);
    norm(last_, batch.logit_rows.size(), weights_.final_norm);
    output.logits = output_.logits(last_, head_.logit_scale);
    return output;
  }

  std::vector<float> context_;  // scratch, kept from one forward to the next
};

}  // namespace

std::unique_ptr<Model> make_block_model(HeadLoader& loader, Model& target,
                                        kernels::Precision precision) {
  return std::make_unique<BlockModel>(loader, target, precision);
}

}  // namespace triescope
