// WaitingLogits: rows of logits on a device whose copy to the host waits for memory. A fetch that
// is refused memory calls the wait function (memory_wait.h) and is tried again. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/base/memory_wait.h"
#include "core/model/logits_row.h"

namespace triescope {

class WaitingLogits final : public DeviceLogits {
 public:
  // Borrows the rows. An empty `wait` passes a refusal on.
  void stand_before(DeviceLogits& rows, const MemoryWait& wait) {
    rows_ = &rows;
    wait_ = wait;
  }

  std::size_t vocab_size() const override { return rows_->vocab_size(); }
  float log_sum_exp(int row) const override { return rows_->log_sum_exp(row); }
  std::span<const std::pair<float, std::int32_t>> best(int row) const override {
    return rows_->best(row);
  }
  float logit(int row, std::int32_t token) override {
    return with_memory(wait_, [&] { return rows_->logit(row, token); });
  }
  std::span<const float> whole(int row) override {
    return with_memory(wait_, [&] { return rows_->whole(row); });
  }

 private:
  DeviceLogits* rows_ = nullptr;
  MemoryWait wait_;
};

}  // namespace triescope
