// TorchLogits: what becomes of the logits of a forward in the libtorch executor. Whole rows go to the
// host at once; or they stay on the device, where that was asked for (ForwardBatch::best_tokens) and
// the kernel row_summary suits: then each row's log-sum-exp and best tokens come in one copy, and
// the row when somebody asks for it.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/layer_steps.h"
#include "core/model/model.h"
#include "core/model/staging_buffer.h"

namespace triescope {

class TorchLogits final : public DeviceLogits {
 public:
  // Of `vocab` tokens, on the device of `options`. kKernels: the kernel is tried there
  // (kernel_check.h). Errors: the check's.
  TorchLogits(std::int64_t vocab, const at::TensorOptions& options, LayerSteps steps);
  // Why rows never stay on the device, unless `told` says so already. "" = they do.
  std::string warning(const std::string& told) const;

  // logits: [rows, vocab] fp32 on the device. Valid until the next call.
  void give(const at::Tensor& logits, int best_tokens, ForwardOutput& output);
  // How many rows, or single logits, were fetched later on.
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
  std::vector<at::Tensor> rows_;  // on the host, as far as they were fetched
  std::vector<float> log_sums_;
  std::vector<std::pair<float, std::int32_t>> best_;  // [rows, width_]
  std::size_t width_ = 0;
  std::int64_t fetched_ = 0;
  StagingBuffer staging_, summary_staging_;
};

}  // namespace triescope
