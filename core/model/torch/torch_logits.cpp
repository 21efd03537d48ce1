#include "core/model/torch/torch_logits.h"

#include <algorithm>

#include "core/kernels/row_summary.cuh"
#include "core/model/torch/kernel_check.h"
#include "core/model/torch/row_summary.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

static_assert(kMostBestTokens == kTriescopeRowSummaryBest);

TorchLogits::TorchLogits(std::int64_t vocab, const at::TensorOptions& options, LayerSteps steps)
    : vocab_(vocab), device_(options.device()), steps_(steps) {
  if (steps == LayerSteps::kKernels) obstacle_ = check_row_summary(vocab, options);
}

std::string TorchLogits::warning(const std::string& told) const {
  if (obstacle_.empty() || told.find(obstacle_) != std::string::npos) return "";
  return "whole rows of logits go to the host instead of their best tokens: " + obstacle_;
}

void TorchLogits::give(const at::Tensor& logits, int best_tokens, ForwardOutput& output) {
  logits_ = logits;
  rows_.clear();
  const bool stay = steps_ == LayerSteps::kKernels && obstacle_.empty() && best_tokens > 0 &&
                    best_tokens <= kMostBestTokens;
  if (!stay) {
    output.logits = values_of(staging_.host_copy(logits.contiguous()));
    return;
  }
  rows_.resize(static_cast<std::size_t>(logits.size(0)));
  summarise(static_cast<int>(std::min<std::int64_t>(best_tokens, vocab_)));
  output.on_device = this;
}

void TorchLogits::summarise(int best_tokens) {
  const RowSummaries found = summarise_rows(logits_, best_tokens);
  const at::Tensor all = summary_staging_.host_copy(found.all);
  const auto rows = static_cast<std::size_t>(logits_.size(0));
  width_ = static_cast<std::size_t>(best_tokens);
  const auto* words = all.const_data_ptr<std::int32_t>();
  const auto* numbers = reinterpret_cast<const float*>(words);
  log_sums_.assign(numbers, numbers + rows);
  best_.clear();
  for (std::size_t i = 0; i < rows * width_; ++i)
    best_.emplace_back(numbers[rows + i], words[rows + rows * width_ + i]);
}

float TorchLogits::logit(int row, std::int32_t token) {
  const at::Tensor& fetched = rows_[static_cast<std::size_t>(row)];
  if (fetched.defined()) return fetched.const_data_ptr<float>()[token];
  ++fetched_;
  float value = 0;
  on_device(device_, [&] { value = logits_.select(0, row).select(0, token).item<float>(); });
  return value;
}

// Fetches the first row alone; whoever wants a second one usually wants them all.
std::span<const float> TorchLogits::whole(int row) {
  const auto at = static_cast<std::size_t>(row);
  if (!rows_[at].defined()) {
    const bool second = std::ranges::any_of(rows_, [](const at::Tensor& t) { return t.defined(); });
    on_device(device_, [&] {
      if (second) {
        const at::Tensor all = staging_.host_copy(logits_.contiguous());
        for (std::size_t i = 0; i < rows_.size(); ++i)
          if (!rows_[i].defined()) rows_[i] = all.select(0, static_cast<std::int64_t>(i));
        fetched_ += static_cast<std::int64_t>(rows_.size());
      } else {
        rows_[at] = logits_.select(0, row).to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
        ++fetched_;
      }
    });
  }
  return values_of(rows_[at]);
}

}  // namespace triescope
