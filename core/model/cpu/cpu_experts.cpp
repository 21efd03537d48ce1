#include "core/model/cpu/cpu_experts.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/activation.h"
#include "core/kernels/gated_linear.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/model/cpu/scratch.h"

namespace triescope {
kernels::ActivationKind activation_kind(formats::Activation activation) {
  switch (activation) {
    case formats::Activation::kSilu:
      return kernels::ActivationKind::kSilu;
    case formats::Activation::kGeluTanh:
      return kernels::ActivationKind::kGeluTanh;
    case formats::Activation::kGelu:
      return kernels::ActivationKind::kGelu;
    case formats::Activation::kClampedSwiglu:
      return kernels::ActivationKind::kClampedSwiglu;
  }
  return kernels::ActivationKind::kSilu;
}

void run_mlp_inner(const formats::ModelConfig& config, const CpuWeights::Mlp& mlp, CpuRows x,
                   std::int64_t rows, float* y, std::int64_t stride, ThreadPool& pool) {
  const kernels::ActivationKind activation = activation_kind(config.activation);
  if (config.gated_mlp)
    return kernels::gated_linear(mlp.gate_up, activation, x.values, x.stride, rows, y, stride,
                                 pool);
  kernels::linear(mlp.gate_up, x.values, x.stride, rows, y, stride, pool);
  kernels::activation(activation, y, stride, rows, mlp.gate_up.outputs(), pool);
}

void CpuExperts::normalise(CpuRows x, const std::vector<float>& weight, std::int64_t rows,
                           float* out, std::int64_t stride) {
  kernels::rms_norm(x.values, x.stride, {rows, config_.hidden}, weight.data(), config_.norm_eps,
                    config_.norm_plus_one, out, stride, pool_);
}

CpuRows CpuExperts::normed(CpuRows x, const std::vector<float>& weight, std::int64_t rows) {
  const std::int64_t stride = kernels::linear_stride(config_.hidden);
  at_least(normed_, rows, stride);
  normalise(x, weight, rows, normed_.data(), stride);
  return {normed_.data(), stride};
}

void CpuExperts::choose(const CpuWeights::Layer& layer, CpuRows x, CpuRows stream,
                        std::int64_t rows) {
  const std::int64_t experts = layer.router.outputs();
  if (!layer.router_scale.empty()) {
    x = normed(stream, layer.router_scale, rows);
    kernels::scale_by(normed_.data(), 1 / std::sqrt(static_cast<float>(config_.hidden)),
                      rows * x.stride);
  }
  const auto used = static_cast<std::size_t>(config_.experts.used);
  at_least(logits_, rows, experts);
  kernels::linear(layer.router, x.values, x.stride, rows, logits_.data(), experts, pool_);
  chosen_.resize(static_cast<std::size_t>(rows) * used);
  visits_.resize(static_cast<std::size_t>(experts));
  for (std::vector<Visit>& of_expert : visits_) of_expert.clear();
  const formats::ExpertsConfig& of = config_.experts;
  const kernels::RouterRule rule = {
      .score = of.sigmoid ? kernels::RouterScore::kSigmoid : kernels::RouterScore::kSoftmax,
      .selection_bias = layer.selection_bias,
      .normalise = of.normalise,
      .scale = of.scale,
      .sum_offset = of.sum_offset,
      .expert_scale = layer.expert_scale};
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto of_row = std::span(chosen_).subspan(static_cast<std::size_t>(r) * used, used);
    kernels::choose_experts({logits_.data() + r * experts, static_cast<std::size_t>(experts)}, rule,
                            of_row);
    for (const kernels::ChosenExpert& one : of_row)
      visits_[static_cast<std::size_t>(one.expert)].push_back({r, one.weight});
  }
}

void CpuExperts::run_mlp(const CpuWeights::Mlp& mlp, CpuRows x, std::int64_t rows) {
  const std::int64_t stride = kernels::linear_stride(mlp.down.inputs());
  at_least(inner_, rows, stride);
  at_least(y_, rows, config_.hidden);
  run_mlp_inner(config_, mlp, x, rows, inner_.data(), stride, pool_);
  kernels::linear(mlp.down, inner_.data(), stride, rows, y_.data(), config_.hidden, pool_);
}

void CpuExperts::run(const CpuWeights::Layer& layer, CpuRows x, CpuRows stream, std::int64_t rows,
                     float* out) {
  const std::int64_t hidden = config_.hidden, stride = kernels::linear_stride(hidden);
  choose(layer, x, stream, rows);
  const CpuRows in = layer.experts_norm.empty() ? x : normed(stream, layer.experts_norm, rows);
  std::fill_n(out, rows * hidden, 0.0f);
  for (std::size_t expert = 0; expert < visits_.size(); ++expert) {
    const std::vector<Visit>& visits = visits_[expert];
    const auto count = static_cast<std::int64_t>(visits.size());
    if (count == 0) continue;
    at_least(x_, count, stride);
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(in.values + visits[static_cast<std::size_t>(i)].row * in.stride, hidden,
                  x_.data() + i * stride);
    run_mlp(layer.mlps[expert], {x_.data(), stride}, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const Visit& visit = visits[static_cast<std::size_t>(i)];
      kernels::scale_by(y_.data() + i * hidden, visit.weight, hidden);
      kernels::add_to(out + visit.row * hidden, y_.data() + i * hidden, hidden);
    }
  }
  if (!layer.post_experts_norm.empty())
    normalise({out, hidden}, layer.post_experts_norm, rows, out, hidden);
  if (layer.mlps.size() > visits_.size()) add_shared(layer, x, rows, out);
}

void CpuExperts::add_shared(const CpuWeights::Layer& layer, CpuRows x, std::int64_t rows,
                            float* out) {
  const std::int64_t hidden = config_.hidden;
  run_mlp(layer.mlps.back(), x, rows);
  if (!layer.shared_gate.empty()) {
    at_least(gates_, rows, 1);
    kernels::linear(layer.shared_gate, x.values, x.stride, rows, gates_.data(), 1, pool_);
    for (std::int64_t r = 0; r < rows; ++r)
      kernels::scale_by(y_.data() + r * hidden,
                        kernels::sigmoid(gates_[static_cast<std::size_t>(r)]), hidden);
  }
  if (!layer.post_shared_norm.empty())
    normalise({y_.data(), hidden}, layer.post_shared_norm, rows, y_.data(), hidden);
  kernels::add_to(out, y_.data(), rows * hidden);
}

}  // namespace triescope
