#include "core/model/cpu/cpu_per_layer.h"

#include <cmath>
#include <numbers>

#include "core/kernels/activation.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/model/cpu/cpu_experts.h"
#include "core/model/cpu/scratch.h"

namespace triescope {

std::span<const float> CpuPerLayer::inputs(std::span<const std::int32_t> tokens,
                                           std::span<const float> x) {
  const std::int64_t dims = config_.per_layer.dims;
  if (dims == 0) return {};
  const std::int64_t hidden = config_.hidden;
  const auto layers = static_cast<std::int64_t>(config_.layers.size());
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / hidden, width = layers * dims;
  inputs_.resize(static_cast<std::size_t>(rows * width));
  row_.resize(static_cast<std::size_t>(width));
  kernels::linear(weights_.per_layer_projection, x.data(), hidden, rows, inputs_.data(), width,
                  pool_);
  kernels::scale_by(inputs_.data(), 1 / std::sqrt(static_cast<float>(hidden)), rows * width);
  kernels::rms_norm(inputs_.data(), dims, {rows * layers, dims}, weights_.per_layer_norm.data(),
                    config_.norm_eps, config_.norm_plus_one, inputs_.data(), dims, pool_);
  for (std::size_t r = 0; r < tokens.size(); ++r) {
    float* const out = inputs_.data() + static_cast<std::int64_t>(r) * width;
    weights_.per_layer_embedding.read_row(tokens[r], row_.data());
    kernels::scale_by(row_.data(), std::sqrt(static_cast<float>(dims)), width);
    kernels::add_to(out, row_.data(), width);
    kernels::scale_by(out, 1 / std::numbers::sqrt2_v<float>, width);
  }
  return inputs_;
}

void CpuPerLayerBranch::add(std::size_t index, const CpuWeights::Layer& layer,
                            std::span<const float> inputs, std::span<float> x) {
  const std::int64_t hidden = config_.hidden, dims = config_.per_layer.dims;
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / hidden;
  const std::int64_t width = static_cast<std::int64_t>(config_.layers.size()) * dims;
  const std::int64_t stride = kernels::linear_stride(dims);
  at_least(inner_, rows, stride);
  at_least(branch_, rows, hidden);
  kernels::linear(layer.per_layer_gate, x.data(), hidden, rows, inner_.data(), stride, pool_);
  const kernels::RowActivation act = kernels::row_activation(activation_kind(config_.activation));
  for (std::int64_t r = 0; r < rows; ++r) {
    float* const gate = inner_.data() + r * stride;
    act(gate, inputs.data() + r * width + static_cast<std::int64_t>(index) * dims, dims, gate);
  }
  kernels::linear(layer.per_layer_output, inner_.data(), stride, rows, branch_.data(), hidden,
                  pool_);
  kernels::rms_norm(branch_.data(), hidden, {rows, hidden}, layer.post_per_layer_norm.data(),
                    config_.norm_eps, config_.norm_plus_one, branch_.data(), hidden, pool_);
  kernels::add_to(x.data(), branch_.data(), rows * hidden);
}

}  // namespace triescope
