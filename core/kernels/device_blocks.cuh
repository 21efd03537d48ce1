// The block types of GGUF files on CUDA, in device_blocks/ (block.cuh says what a type
// provides). The CPU's are in cpu/blocks.h; both give the values of formats::dequantise, bit
// for bit.
#pragma once

#include "core/kernels/block_list.h"
#include "core/kernels/device_blocks/iq4_nl.cuh"
#include "core/kernels/device_blocks/nibbles.cuh"
#include "core/kernels/device_blocks/nibbles_k.cuh"
#include "core/kernels/device_blocks/q2_k.cuh"
#include "core/kernels/device_blocks/q3_k.cuh"
#include "core/kernels/device_blocks/q6_k.cuh"
#include "core/kernels/device_blocks/q8_0.cuh"

namespace triescope::kernels::cuda {
namespace {

using DeviceBlocks = BlockList<
    Numbered<formats::GgmlType::kQ4_0, DeviceQ4_0>, Numbered<formats::GgmlType::kQ4_1, DeviceQ4_1>,
    Numbered<formats::GgmlType::kQ5_0, DeviceQ5_0>, Numbered<formats::GgmlType::kQ5_1, DeviceQ5_1>,
    Numbered<formats::GgmlType::kQ8_0, DeviceQ8_0>, Numbered<formats::GgmlType::kQ2_K, DeviceQ2_K>,
    Numbered<formats::GgmlType::kQ3_K, DeviceQ3_K>, Numbered<formats::GgmlType::kQ4_K, DeviceQ4_K>,
    Numbered<formats::GgmlType::kQ5_K, DeviceQ5_K>, Numbered<formats::GgmlType::kQ6_K, DeviceQ6_K>,
    Numbered<formats::GgmlType::kIQ4_NL, DeviceIq4Nl>>;

// Calls f(Type{}) with the block type of a ggml number; returns `otherwise` if there is none.
template <class F>
cudaError_t with_device_block(int32_t type, cudaError_t otherwise, F&& f) {
  cudaError_t result = otherwise;
  DeviceBlocks::with(static_cast<formats::GgmlType>(type),
                     [&]<class Block>(Block block) { result = f(block); });
  return result;
}

// Whether blocks of this type may lie at an address.
template <class Block>
bool has_blocks(const void* at) {
  return at != nullptr && reinterpret_cast<uintptr_t>(at) % Block::kAlign == 0;
}

}  // namespace
}  // namespace triescope::kernels::cuda
