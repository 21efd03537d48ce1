// A short convolution in attention's place (LFM2), through libtorch: the twin of CpuShortConv. It is made for a batch, and every
// layer uses it.
#pragma once

#include <vector>

#include "core/kernels/aten.h"
#include "core/model/torch/torch_weights.h"
#include "core/model/visible_slots.h"

namespace triescope {

class TorchShortConv {
 public:
  // `visible` holds what the rows see, each row's own slot last.
  TorchShortConv(const formats::ModelConfig& config, const VisibleSlots& visible, std::int64_t rows,
                 const at::Device& device);

  // y [rows, hidden] of parts [rows, B C x], the product of the layer's first matrix; the rows' states are written to
  // states [capacity, 1, hidden] at slots [rows] int32.
  at::Tensor run(const TorchWeights::Layer& layer, const at::Tensor& parts, const at::Tensor& slots,
                 at::Tensor& states) const;

 private:
  // For each row the slot of one ancestor. `before` marks rows whose path begins after that ancestor; their slot is 0.
  struct Seen {
    at::Tensor slots, before;  // [rows] int64, [rows, 1] bool
  };
  std::vector<Seen> seen_;  // by rows back, the own slot first
};

}  // namespace triescope
