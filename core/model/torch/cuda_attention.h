// Tree attention of the libtorch executor through the project's own CUDA kernel
// (core/kernels/tree_attention.cuh).
#pragma once

#include <cstdint>
#include <string>

#include "core/files/config.h"
#include "core/model/torch/forward_inputs.h"
#include "core/model/torch/layer_attention.h"
#include "core/model/visible_slots.h"

namespace triescope {

class CudaAttention final : public LayerAttention {
 public:
  // Why the kernel cannot be used for this model (no module, or a head size that it lacks); "" = it
  // can.
  static std::string obstacle(const formats::ModelConfig& config);

  // Borrows config and inputs. The inputs hold the lists of `visible` on the device.
  CudaAttention(const formats::ModelConfig& config, const ForwardInputs& inputs,
                const VisibleSlots& visible);

  // Error{kCuda}: the launch failed.
  at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                    int window, const at::Tensor& sinks) const override;

 private:
  const formats::ModelConfig& config_;
  const ForwardInputs& inputs_;
  std::int64_t longest_ = 0;  // number of slots in the longest list
};

}  // namespace triescope
