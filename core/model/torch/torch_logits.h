// TorchLogits: what becomes of a forward's logits in the libtorch executor. Whole rows are copied
// to the host at once, or they stay on the device if the caller asked for that
// (ForwardBatch::best_tokens) and the kernel row_summary suits: then one copy brings each row's
// log-sum-exp and best tokens, and the row itself follows when somebody asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/kernels/aten.h"
#include "core/model/layer_steps.h"
#include "core/model/model.h"
#include "core/model/torch/staging_buffer.h"

namespace triescope {

class TorchLogits final : public DeviceLogits {
 public:
  // For `vocab` tokens, on the device of `options`. With kKernels the kernel is checked there
  // (kernel_check.h). Errors: those of the check.
  TorchLogits(std::int64_t vocab, const at::TensorOptions& options, LayerSteps steps);
  // Why rows never stay on the device, unless `told` already says so; "" = they do.
  std::string warning(const std::string& told) const;

  // logits: [rows, vocab] fp32 on the device. Valid until the next call.
  void give(const at::Tensor& logits, int best_tokens, ForwardOutput& output);
  // How many rows, or single logits, were fetched afterwards.
  std::int64_t fetched() const { return fetched_; }

  std::size_t vocab_size() const override { return static_cast<std::size_t>(vocab_); }
  float log_sum_exp(int row) const override { return log_sums_[static_cast<std::size_t>(row)]; }
  std::span<const std::pair<float, std::int32_t>> best(int row) const override {
    return std::span(best_).subspan(static_cast<std::size_t>(row) * width_, width_);
  }
  float logit(int row, std::int32_t token) override;
  std::span<const float> whole(int row) override;

 private:
  void summarise(int best_tokens);

  std::int64_t vocab_;
  at::Device device_;
  LayerSteps steps_;
  std::string obstacle_;
  at::Tensor logits_;             // on the device
  std::vector<at::Tensor> rows_;  // on the host, those that were fetched
  std::vector<float> log_sums_;
  std::vector<std::pair<float, std::int32_t>> best_;  // [rows, width_]
  std::size_t width_ = 0;
  std::int64_t fetched_ = 0;
  StagingBuffer staging_, summary_staging_;
};

}  // namespace triescope
