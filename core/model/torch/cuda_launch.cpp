#include "core/model/torch/cuda_launch.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <string>

#include "core/base/error.h"
#include "core/kernels/cuda_module.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {

std::int32_t kernel_dtype(at::ScalarType dtype) {
  if (dtype == at::kFloat) return kTriescopeF32;
  return dtype == at::kHalf ? kTriescopeF16 : kTriescopeBF16;
}

std::int32_t kernel_activation(formats::Activation activation) {
  switch (activation) {
    case formats::Activation::kSilu:
      return kTriescopeSilu;
    case formats::Activation::kGeluTanh:
      return kTriescopeGeluTanh;
    case formats::Activation::kGelu:
      return kTriescopeGelu;
    case formats::Activation::kClampedSwiglu:
      break;  // check_layer_kernels() leaves it to libtorch's operations
  }
  return kTriescopeSilu;
}

void* kernel_stream(const at::Tensor& tensor) {
  if (!tensor.is_cuda()) return nullptr;
  const c10::impl::VirtualGuardImpl guard(tensor.device().type());
  return guard.getStreamNativeHandle(guard.getStream(tensor.device()));
}

void check_launch(int code, const char* kernel, const at::Device& device) {
  if (code == 0) return;
  constexpr int kMemoryAllocation = 2;  // from cudaError_t
  const std::string reason = kernels::cuda_module().error_string(code),
                    where = std::string(kernel) + " on " + device.str();
  if (code == kMemoryAllocation) throw Error(ErrorCode::kOutOfMemory, where + ": " + reason);
  throw LaunchError(where, reason + cuda_error_advice(reason));
}

const float* values_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

}  // namespace triescope
