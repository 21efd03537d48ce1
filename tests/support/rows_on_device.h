// A model whose logits lie on a "device": what TorchLogits does, with the host's own functions, so that
// everything that reads rows can be held to what it does with whole ones.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/kernels/row_ops.h"
#include "core/model/model.h"

namespace triescope::test {

class RowsOnDevice final : public Model, public DeviceLogits {
 public:
  explicit RowsOnDevice(Model& inside) : inner(inside) {}

  const ModelInfo& info() const override { return inner.info(); }
  std::unique_ptr<KvStorage> make_kv(int capacity) override { return inner.make_kv(capacity); }
  std::unique_ptr<KvStorage> make_kv_of(int capacity,
                                        std::span<const std::int32_t> layers) override {
    return inner.make_kv_of(capacity, layers);
  }
  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    output_ = inner.forward(batch, kv, std::move(stop));
    asked.push_back(batch.best_tokens);
    // A head that takes up the text's states has no logits of them.
    const bool none = output_.logits.empty();
    if (none || batch.best_tokens == 0 || batch.best_tokens > kMostBestTokens) return output_;
    best_.clear();
    for (std::size_t i = 0; i < batch.logit_rows.size(); ++i)
      best_.push_back(
          kernels::top_k(row(static_cast<int>(i)), static_cast<std::size_t>(batch.best_tokens)));
    ForwardOutput given = output_;
    given.logits = {};
    given.on_device = this;
    return given;
  }
  void embed(std::span<const std::int32_t> tokens, std::span<float> out) override {
    inner.embed(tokens, out);
  }
  std::span<const float> output_head(std::span<const float> states) override {
    return inner.output_head(states);
  }

  std::size_t vocab_size() const override {
    return static_cast<std::size_t>(inner.info().vocab_size);
  }
  float log_sum_exp(int row_number) const override { return kernels::log_sum_exp(row(row_number)); }
  std::span<const std::pair<float, std::int32_t>> best(int row_number) const override {
    return best_[static_cast<std::size_t>(row_number)];
  }
  float logit(int row_number, std::int32_t token) override {
    ++single_logits;
    return row(row_number)[static_cast<std::size_t>(token)];
  }
  std::span<const float> whole(int row_number) override {
    ++whole_rows;
    return row(row_number);
  }

  Model& inner;
  std::vector<int> asked;                 // best_tokens of every forward
  int whole_rows = 0, single_logits = 0;  // that somebody fetched

 private:
  std::span<const float> row(int i) const { return output_.row(i).whole(); }

  ForwardOutput output_;
  std::vector<std::vector<std::pair<float, std::int32_t>>> best_;
};

}  // namespace triescope::test
