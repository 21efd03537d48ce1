// The block types of GGUF files on CUDA: a file a type in device_blocks/ (what a type has is told
// in block.cuh). The CPU's are in cpu/blocks.h; both have the values of formats::dequantise, bit
// for bit.
#pragma once

#include "core/formats/dequantise.h"
#include "core/kernels/device_blocks/iq4_nl.cuh"
#include "core/kernels/device_blocks/q2_k.cuh"
#include "core/kernels/device_blocks/q3_k.cuh"
#include "core/kernels/device_blocks/q4_0.cuh"
#include "core/kernels/device_blocks/q4_1.cuh"
#include "core/kernels/device_blocks/q4_k.cuh"
#include "core/kernels/device_blocks/q5_0.cuh"
#include "core/kernels/device_blocks/q5_1.cuh"
#include "core/kernels/device_blocks/q5_k.cuh"
#include "core/kernels/device_blocks/q6_k.cuh"
#include "core/kernels/device_blocks/q8_0.cuh"

namespace triescope::kernels::cuda {
namespace {

// Calls f(Type{}) with the block type of a ggml number; `otherwise` where it is not one.
template <class F>
cudaError_t with_device_block(int32_t type, cudaError_t otherwise, F&& f) {
  using formats::GgmlType;
  switch (static_cast<GgmlType>(type)) {
    case GgmlType::kQ4_0:
      return f(DeviceQ4_0{});
    case GgmlType::kQ4_1:
      return f(DeviceQ4_1{});
    case GgmlType::kQ5_0:
      return f(DeviceQ5_0{});
    case GgmlType::kQ5_1:
      return f(DeviceQ5_1{});
    case GgmlType::kQ8_0:
      return f(DeviceQ8_0{});
    case GgmlType::kQ2_K:
      return f(DeviceQ2_K{});
    case GgmlType::kQ3_K:
      return f(DeviceQ3_K{});
    case GgmlType::kQ4_K:
      return f(DeviceQ4_K{});
    case GgmlType::kQ5_K:
      return f(DeviceQ5_K{});
    case GgmlType::kQ6_K:
      return f(DeviceQ6_K{});
    case GgmlType::kIQ4_NL:
      return f(DeviceIq4Nl{});
    default:
      return otherwise;
  }
}

// Whether there are blocks of this type at an address that they may lie at.
template <class Block>
bool has_blocks(const void* at) {
  return at != nullptr && reinterpret_cast<uintptr_t>(at) % Block::kAlign == 0;
}

}  // namespace
}  // namespace triescope::kernels::cuda
