#include "core/model/torch/torch_per_layer.h"

#include <cmath>
#include <numbers>

#include "core/model/torch/torch_layer_ops.h"

namespace triescope {
namespace {

using at::Tensor;

Tensor rms_normed(const Tensor& x, const Tensor& weight, double eps) {
  return (rms_scaled(x.to(at::kFloat), eps) * weight).to(x.scalar_type());
}

}  // namespace

Tensor per_layer_inputs(const formats::ModelConfig& config, const TorchWeights& weights,
                        const Tensor& tokens, const Tensor& x, std::int64_t without_token) {
  const std::int64_t dims = config.per_layer.dims;
  if (dims == 0) return {};
  const std::int64_t rows = x.size(0), with_token = rows - without_token;
  const Tensor context = rms_normed(
      (linear(x, weights.per_layer_projection) / std::sqrt(static_cast<double>(config.hidden)))
          .view({rows, -1, dims}),
      weights.per_layer_norm, config.norm_eps);
  if (with_token == 0) return context;
  const Tensor embedded = weights.per_layer_embedding.rows(tokens.narrow(0, 0, with_token))
                              .view({with_token, -1, dims});
  // As in transformers: the scale is rounded to the model's dtype first.
  const Tensor scale = at::full({}, std::sqrt(static_cast<double>(dims)), x.options());
  const Tensor both = (context.narrow(0, 0, with_token) + embedded * scale) / std::numbers::sqrt2;
  return without_token == 0 ? both : at::cat({both, context.narrow(0, with_token, without_token)});
}

Tensor per_layer_branch(const formats::ModelConfig& config, const TorchWeights::Layer& layer,
                        const Tensor& inputs, const Tensor& x) {
  const Tensor gate = activated(linear(x, layer.per_layer_gate), config.activation);
  return rms_normed(linear(gate * inputs, layer.per_layer_output), layer.post_per_layer_norm,
                    config.norm_eps);
}

}  // namespace triescope
