#include "core/model/torch/torch_linear.h"

namespace triescope {

at::Tensor linear(const at::Tensor& x, const TorchLinear& weights) {
  return weights.matrix.product(x, weights.bias, x.scalar_type());
}

}  // namespace triescope
