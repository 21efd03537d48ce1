#include "core/model/cpu/cpu_layers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/activation.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu/scratch.h"

namespace triescope {
namespace {

using kernels::PackedLinear;

// Whether a branch's result needs memory of its own before it is added to the stream.
bool has_own_branch(const formats::ModelConfig& config) {
  return config.post_norms || config.residual_scale != 1;
}

}  // namespace

CpuLayers::CpuLayers(const formats::ModelConfig& config, kernels::Precision precision,
                     ThreadPool& pool)
    : config_(config),
      pool_(pool),
      qkv_(config, precision, pool),
      conv_(config, precision, pool),
      experts_(config, pool),
      per_layer_(config, pool) {}

std::span<float> CpuLayers::residual(std::size_t rows) {
  at_least(x_, static_cast<std::int64_t>(rows), config_.hidden);
  return std::span(x_).first(rows * static_cast<std::size_t>(config_.hidden));
}

void CpuLayers::normalise(const float* x, std::int64_t rows, const std::vector<float>& weight,
                          const std::vector<float>& bias, float* out, std::int64_t out_stride) {
  const std::int64_t hidden = config_.hidden;
  if (config_.norm == formats::NormKind::kLayer) {
    kernels::layer_norm(x, hidden, {rows, hidden}, weight.data(),
                        bias.empty() ? nullptr : bias.data(), config_.norm_eps, out, out_stride,
                        pool_);
  } else {
    kernels::rms_norm(x, hidden, {rows, hidden}, weight.data(), config_.norm_eps,
                      config_.norm_plus_one, out, out_stride, pool_);
  }
}

CpuLayers::Input CpuLayers::normed(std::int64_t rows, const std::vector<float>& weight,
                                   const std::vector<float>& bias) {
  if (weight.empty()) return {x_.data(), config_.hidden};
  const std::int64_t stride = kernels::linear_stride(config_.hidden);
  normalise(x_.data(), rows, weight, bias, normed_.data(), stride);
  return {normed_.data(), stride};
}

void CpuLayers::add_branch(const PackedLinear& linear, Input in, std::int64_t rows,
                           const std::vector<float>& post) {
  const std::int64_t hidden = config_.hidden;
  if (!has_own_branch(config_)) {
    kernels::linear(linear, in.values, in.stride, rows, x_.data(), hidden, pool_,
                    kernels::LinearMode::kAdd);
    return;
  }
  kernels::linear(linear, in.values, in.stride, rows, branch_.data(), hidden, pool_);
  take_up_branch(rows, post);
}

void CpuLayers::take_up_branch(std::int64_t rows, const std::vector<float>& post) {
  const std::int64_t hidden = config_.hidden;
  if (config_.post_norms) {
    normalise(branch_.data(), rows, post, {}, branch_.data(), hidden);
  } else if (config_.residual_scale != 1) {
    kernels::scale_by(branch_.data(), config_.residual_scale, rows * hidden);
  }
  kernels::add_to(x_.data(), branch_.data(), rows * hidden);
}

void CpuLayers::run_mlp(const CpuWeights::Layer& layer, Input in, std::int64_t rows) {
  if (!layer.router.empty()) {
    experts_.run(layer, in, {x_.data(), config_.hidden}, rows, branch_.data());
    return take_up_branch(rows, layer.post_mlp_norm);
  }
  const CpuWeights::Mlp& mlp = layer.mlps.front();
  const std::int64_t stride = kernels::linear_stride(mlp.down.inputs());
  run_mlp_inner(config_, mlp, in, rows, inner_.data(), stride, pool_);
  add_branch(mlp.down, {inner_.data(), stride}, rows, layer.post_mlp_norm);
}

void CpuLayers::attend(const Rows& all, const RouteStep& step, const CpuWeights::Layer& layer,
                       const CpuKv& storage) {
  const formats::HeadShape heads = config_.heads_of(step.layer);
  const kernels::KvView kv = storage.view(step.stored);
  const kernels::AttentionShape shape = {
      .heads = heads.heads,
      .kv_heads = heads.kv_heads,
      .head_dim = heads.head_dim,
      .scale = config_.attention_scale,
      .softcap = config_.attention_softcap,
      .window = config_.layers[step.layer].window,
      .sinks = layer.sinks.empty() ? nullptr : layer.sinks.data()};
  const auto rows = static_cast<std::int64_t>(all.positions.size());
  const std::int64_t stride = kernels::linear_stride(heads.query_dims());
  float* const out = attention_.data();
  const auto run = [&](std::int64_t first, std::int64_t count, const VisibleSlots& visible,
                       const kernels::AttentionShape& of) {
    kernels::tree_attention(qkv_.queries() + first * qkv_.stride(), qkv_.stride(), count, kv, of,
                            visible, out + first * stride, stride, pool_);
  };
  if (all.masks == nullptr) return run(0, rows, all.visible, shape);
  if (shape.window == 0 || !all.masks->has_prefix()) return run(0, rows, all.masks->all(), shape);
  const auto first = static_cast<std::int64_t>(all.masks->first());
  run(0, first, all.masks->before(), shape);
  kernels::AttentionShape cut = shape;  // the lists are the window's
  cut.window = 0;
  run(first, rows - first, all.masks->in_window(shape.window), cut);
}

void CpuLayers::store_context(const Rows& rows, std::span<const float> context,
                              std::span<const CpuWeights::Layer> weights, CpuKv& kv,
                              const std::stop_token& stop) {
  qkv_.begin(rows.positions, rows.slots, rows.text_length);
  for (const RouteStep& step : layer_route(config_, {}, kv.layers())) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
    qkv_.project(step.layer, weights[step.layer], {context.data(), config_.hidden}, kv,
                 step.stored);
  }
}

void CpuLayers::run(const Rows& all, std::span<const CpuWeights::Layer> weights, CpuKv& kv,
                    const std::stop_token& stop, const EnterLayer& enter) {
  const std::size_t count = all.positions.size();
  const auto rows = static_cast<std::int64_t>(count);
  const std::int64_t hidden = config_.hidden;
  at_least(normed_, rows, kernels::linear_stride(hidden));
  at_least(attention_, rows,
           kernels::linear_stride(config_.most_taps() > 0
                                      ? std::max(config_.widest_query(), config_.hidden)
                                      : config_.widest_query()));
  at_least(inner_, rows, kernels::linear_stride(config_.widest_intermediate()));
  if (has_own_branch(config_) || config_.has_experts()) at_least(branch_, rows, hidden);
  qkv_.begin(all.positions, all.slots, all.text_length);

  const std::span<float> x = residual(count);
  bool first = !all.first_input.empty();
  for (const RouteStep& step : layer_route(config_, all.sublayers, kv.layers())) {
    const std::size_t i = step.layer;
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
    const CpuWeights::Layer& layer = weights[i];
    if (enter) enter(static_cast<std::int32_t>(i));
    Input in{all.first_input.data(), layer.qkv.inputs()};
    if (!std::exchange(first, false) && (step.stores || config_.shared_norm))
      in = normed(rows, layer.attention_norm, layer.attention_norm_bias);
    const auto mlp_input = [&] {
      return config_.shared_norm ? in : normed(rows, layer.mlp_norm, layer.mlp_norm_bias);
    };
    std::optional<Input> beside;
    const std::int64_t stride = kernels::linear_stride(layer.output.inputs());
    const bool convolves = config_.layers[i].taps > 0;
    if (convolves && step.stores) {
      conv_.run(layer, in, all.slots, all.masks == nullptr ? all.visible : all.masks->all(), kv,
                step.stored, attention_.data(), stride);
    } else if (step.stores) {
      qkv_.project(i, layer, in, kv, step.stored);
    }
    if (step.attends) {
      // q, k and v are computed, so `normed_` is free.
      if (config_.parallel_residual && step.mlp) beside = mlp_input();
      if (!convolves) attend(all, step, layer, kv);
      add_branch(layer.output, {attention_.data(), stride}, rows, layer.post_attention_norm);
    }
    if (!step.mlp) continue;
    run_mlp(layer, beside ? *beside : mlp_input(), rows);
    if (!all.per_layer.empty()) per_layer_.add(i, layer, all.per_layer, x);
    if (config_.layer_scale) kernels::scale_by(x.data(), layer.scale.front(), rows * hidden);
    if (all.experts != nullptr && !layer.router.empty())
      all.experts->add(static_cast<std::int32_t>(i), all.first_row, experts_.chosen());
  }
  if (enter) enter(static_cast<std::int32_t>(weights.size()));
}

}  // namespace triescope
