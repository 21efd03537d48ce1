// StagingPool: as many staging buffers as are in use at once, for threads that come and go, because
// page-locked memory takes long to get. Thread-safe; must outlive its leases.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/model/torch/staging_buffer.h"

namespace triescope {

class StagingPool {
 public:
  using Lease = std::unique_ptr<StagingBuffer, std::function<void(StagingBuffer*)>>;

  // Lends a buffer that nobody uses; it returns when the lease ends.
  Lease take() {
    std::unique_ptr<StagingBuffer> buffer;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        buffer = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (buffer == nullptr) buffer = std::make_unique<StagingBuffer>();
    return {buffer.release(), [this](StagingBuffer* used) {
              const std::lock_guard lock(mutex_);
              idle_.emplace_back(used);
            }};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<StagingBuffer>> idle_;
};

}  // namespace triescope
