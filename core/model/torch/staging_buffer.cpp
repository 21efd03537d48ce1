#include "core/model/torch/staging_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"

namespace triescope {

void StagingBuffer::Free::operator()(std::byte* data) const {
  if (locked) {
    kernels::cuda_module().host_free(data);
  } else {
    std::free(data);
  }
}

std::byte* StagingBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return data_.get();
  constexpr std::size_t kLine = 64;
  const std::size_t size = (std::max(bytes, bytes_ + bytes_ / 2) + kLine - 1) / kLine * kLine;
  data_.reset();
  bytes_ = 0;
  const kernels::CudaModule& module = kernels::cuda_module();
  void* data = nullptr;
  const bool locked =
      module.available() && size <= kMostLocked && module.host_allocate(&data, size) == 0;
  if (!locked) data = std::aligned_alloc(kLine, size);
  if (data == nullptr)
    throw Error(ErrorCode::kOutOfMemory,
                "no memory for a copy of " + std::to_string(size) + " bytes from or to a device");
  data_ = {static_cast<std::byte*>(data), Free{locked}};
  bytes_ = size;
  return data_.get();
}

at::Tensor StagingBuffer::host_copy(const at::Tensor& from) {
  at::Tensor host =
      at::from_blob(reserve(from.nbytes()), from.sizes(), at::TensorOptions().dtype(from.dtype()));
  host.copy_(from);
  return host;
}

at::Tensor StagingBuffer::device_copy(std::span<const float> values, const at::Device& device) {
  const auto count = static_cast<std::int64_t>(values.size());
  at::Tensor copy = at::empty({count}, at::TensorOptions().dtype(at::kFloat).device(device));
  std::byte* const host = reserve(values.size_bytes());
  if (!values.empty()) std::memcpy(host, values.data(), values.size_bytes());
  copy.copy_(at::from_blob(host, {count}, at::kFloat));
  return copy;
}

}  // namespace triescope
