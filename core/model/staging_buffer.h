// StagingBuffer: host memory that copies from and to a GPU go through, page-locked where the CUDA
// module gives such memory, so that the GPU's copy engine reads and writes it itself; else ordinary
// memory. Grows, never shrinks. Not thread-safe.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <memory>
#include <span>

namespace triescope {

class StagingBuffer {
 public:
  // Page-locked memory is taken from everybody: more than this is ordinary.
  static constexpr std::size_t kMostLocked = std::size_t{64} << 20;

  // At least `bytes`, 64-byte aligned; what lay there before is lost. Error{kOutOfMemory}.
  std::byte* reserve(std::size_t bytes);
  bool is_locked() const { return data_.get_deleter().locked; }

  // A copy of `from` (contiguous, on any device) in this memory; valid until the next call.
  at::Tensor host_copy(const at::Tensor& from);
  // The numbers in memory of their own on `device`, by way of this memory: [values.size()].
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
