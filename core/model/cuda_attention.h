// Tree attention of the libtorch executor through the project's own CUDA kernel
// (core/kernels/tree_attention.cuh).
#pragma once

#include <ATen/ATen.h>

#include "core/formats/config.h"
#include "core/model/visible_slots.h"

namespace triescope {

// The visible lists of one forward on the device. Made once a forward, used by every layer.
class CudaAttention {
 public:
  // Why the kernel cannot be used for this model (no module, a head size it does not do); "" = it
  // can.
  static std::string obstacle(const formats::ModelConfig& config);

  CudaAttention(const VisibleSlots& visible, std::int64_t rows, const at::Device& device);

  // q: [rows, heads, head_dim]; keys, values: [slots, kv_heads, head_dim]; one dtype. -> [rows,
  // heads * head_dim]. Error{kCuda}: the launch failed.
  at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                    const formats::ModelConfig& config, int window) const;

 private:
  at::Device device_;
  at::Tensor prefix_, own_, offsets_;  // int32; offsets undefined = causal
  std::int64_t longest_ = 0;
};

}  // namespace triescope
