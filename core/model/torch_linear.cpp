#include "core/model/torch_linear.h"

#include <optional>

namespace triescope {

at::Tensor linear(const at::Tensor& x, const TorchLinear& weights) {
  const at::Tensor& bias = weights.bias;
  return at::linear(x, weights.matrix,
                    bias.defined() ? std::optional<at::Tensor>(bias) : std::nullopt);
}

}  // namespace triescope
