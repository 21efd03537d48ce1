// A matrix product of the libtorch executor. Every matrix that a step multiplies by goes through
// here, so that another form of the weights has one place.
#pragma once

#include "core/kernels/aten.h"
#include "core/model/torch/torch_matrix.h"

namespace triescope {

struct TorchLinear {
  TorchMatrix matrix;  // [out, in]
  at::Tensor bias;     // [out]; undefined = none
};

// x [rows, in] -> x matrix^T + bias [rows, out], contiguous, of x's dtype.
at::Tensor linear(const at::Tensor& x, const TorchLinear& weights);

}  // namespace triescope
