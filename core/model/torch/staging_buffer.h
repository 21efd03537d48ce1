// StagingBuffer: host memory through which copies from and to a GPU go. It is page-locked where the
// CUDA module provides such memory, so that the GPU's copy engine reads and writes it itself, and
// ordinary memory elsewhere. It grows and never shrinks. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/kernels/aten.h"

namespace triescope {

class StagingBuffer {
 public:
  // Page-locked memory is taken from everybody, so a larger buffer is ordinary memory.
  static constexpr std::size_t kMostLocked = std::size_t{64} << 20;

  // At least `bytes`, 64-byte aligned; previous contents are lost. Error{kOutOfMemory}.
  std::byte* reserve(std::size_t bytes);
  bool is_locked() const { return data_.get_deleter().locked; }

  // Copies `from` (contiguous, on any device) into this memory; valid until the next call.
  at::Tensor host_copy(const at::Tensor& from);
  // Copies the numbers through this memory into memory of their own on `device`: [values.size()].
  at::Tensor device_copy(std::span<const float> values, const at::Device& device);

 private:
  struct Free {
    bool locked;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace triescope
