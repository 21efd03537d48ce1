// Needed for every call of a CUDA kernel from the libtorch executor: dtype, stream, errors.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/files/config.h"
#include "core/kernels/aten.h"

namespace triescope {

// A kernel could not be launched: kCuda. The message names kernel and device; the reason is the
// driver's own.
class LaunchError final : public Error {
 public:
  LaunchError(const std::string& where, const std::string& reason)
      : Error(ErrorCode::kCuda, where + ": " + reason), reason_(reason) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

// The TriescopeCudaDType of fp32, fp16 or bf16, and of a tensor.
std::int32_t kernel_dtype(at::ScalarType dtype);
inline std::int32_t kernel_dtype(const at::Tensor& tensor) {
  return kernel_dtype(tensor.scalar_type());
}

// The TriescopeActivation of a model's.
std::int32_t kernel_activation(formats::Activation activation);

// The current stream (a cudaStream_t) of the tensor's device; null on a CPU, where a stand-in for
// the module runs the kernels (tests).
void* kernel_stream(const at::Tensor& tensor);

// Throws LaunchError unless the launcher returned 0; kOutOfMemory where the device had no memory
// for it.
void check_launch(int code, const char* kernel, const at::Device& device);
inline void check_launch(int code, const char* kernel, const at::Tensor& tensor) {
  check_launch(code, kernel, tensor.device());
}

// The tensor's values, [dim] fp32; null where it is undefined.
const float* values_or_null(const at::Tensor& tensor);

}  // namespace triescope
