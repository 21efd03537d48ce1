#include "core/model/cpu/cpu_layers.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/kernels/activation.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/kernels/rope.h"
#include "core/kernels/tree_attention.h"
#include "core/model/sublayers.h"

namespace triescope {
namespace {

using kernels::PackedLinear;

// Whether a branch's result needs memory of its own before it is added to the stream.
bool has_own_branch(const formats::ModelConfig& config) {
  return config.post_norms || config.residual_scale != 1;
}

void at_least(std::vector<float>& scratch, std::size_t rows, std::int64_t width) {
  const std::size_t size = rows * static_cast<std::size_t>(width);
  if (scratch.size() < size) scratch.resize(size);
}

}  // namespace

CpuLayers::CpuLayers(const formats::ModelConfig& config, kernels::Precision precision,
                     ThreadPool& pool)
    : config_(config), precision_(precision), pool_(pool), experts_(config, pool) {
  for (const formats::RopeConfig& rope : config_.ropes) ropes_.emplace_back(rope);
  cos_.resize(ropes_.size());
  sin_.resize(ropes_.size());
}

std::span<float> CpuLayers::residual(std::size_t rows) {
  at_least(x_, rows, config_.hidden);
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

void CpuLayers::fill_ropes(const Rows& rows) {
  for (std::size_t i = 0; i < ropes_.size(); ++i) {
    const auto half = static_cast<std::size_t>(ropes_[i].dims() / 2);
    at_least(cos_[i], rows.positions.size(), ropes_[i].dims() / 2);
    at_least(sin_[i], rows.positions.size(), ropes_[i].dims() / 2);
    for (std::size_t r = 0; r < rows.positions.size(); ++r)
      ropes_[i].fill(rows.positions[r], std::max(rows.text_length, rows.positions[r] + 1),
                     std::span(cos_[i]).subspan(r * half, half),
                     std::span(sin_[i]).subspan(r * half, half));
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
    experts_.run(layer, in, rows, branch_.data());
    return take_up_branch(rows, layer.post_mlp_norm);
  }
  const CpuWeights::Mlp& mlp = layer.mlps.front();
  const std::int64_t stride = kernels::linear_stride(mlp.down.inputs());
  run_mlp_inner(config_, mlp, in, rows, inner_.data(), stride, pool_);
  add_branch(mlp.down, {inner_.data(), stride}, rows, layer.post_mlp_norm);
}

void CpuLayers::normalise_qk(const CpuWeights::Layer& layer, float* q, float* k,
                             std::int64_t stride, std::int64_t rows) {
  const std::int64_t dim = config_.head_dim;
  const auto normalise_heads = [&](float* x, int heads, const std::vector<float>& weight) {
    switch (config_.qk_norm) {
      case formats::QkNorm::kNone:
        return;
      case formats::QkNorm::kHeads:
        kernels::rms_norm_heads(x, stride, rows, heads, config_.head_dim, weight.data(),
                                config_.norm_eps, config_.norm_plus_one, pool_);
        return;
      case formats::QkNorm::kWhole:
        kernels::rms_norm_heads(x, stride, rows, 1, heads * config_.head_dim, weight.data(),
                                config_.norm_eps, config_.norm_plus_one, pool_);
        return;
      case formats::QkNorm::kOwnHeads:
        for (std::int64_t head = 0; head < heads; ++head)
          kernels::layer_norm(x + head * dim, stride, {rows, dim}, weight.data() + head * dim,
                              nullptr, config_.norm_eps, x + head * dim, stride, pool_);
        return;
    }
  };
  normalise_heads(q, config_.heads, layer.query_norm);
  normalise_heads(k, config_.kv_heads, layer.key_norm);
}

void CpuLayers::scale_queries(const Rows& rows, float* q, std::int64_t stride) const {
  if (config_.query_scale.beta == 0) return;
  for (std::size_t r = 0; r < rows.positions.size(); ++r)
    kernels::scale_by(q + static_cast<std::int64_t>(r) * stride,
                      query_scale(config_.query_scale, rows.positions[r]), config_.query_dims());
}

void CpuLayers::attend(const Rows& all, const float* q, std::int64_t q_stride,
                       const kernels::KvView& kv, const kernels::AttentionShape& shape) {
  const auto rows = static_cast<std::int64_t>(all.positions.size());
  const std::int64_t stride = kernels::linear_stride(config_.query_dims());
  float* const out = attention_.data();
  const auto run = [&](std::int64_t first, std::int64_t count, const VisibleSlots& visible,
                       const kernels::AttentionShape& of) {
    kernels::tree_attention(q + first * q_stride, q_stride, count, kv, of, visible,
                            out + first * stride, stride, pool_);
  };
  if (all.masks == nullptr) return run(0, rows, all.visible, shape);
  if (shape.window == 0 || !all.masks->has_prefix()) return run(0, rows, all.masks->all(), shape);
  const auto first = static_cast<std::int64_t>(all.masks->first());
  run(0, first, all.masks->before(), shape);
  kernels::AttentionShape cut = shape;  // the lists are the window's
  cut.window = 0;
  run(first, rows - first, all.masks->in_window(shape.window), cut);
}

void CpuLayers::project(const Rows& all, std::size_t i, std::size_t step,
                        const CpuWeights::Layer& layer, Input in, CpuKv& kv) {
  const auto rows = static_cast<std::int64_t>(all.positions.size());
  const std::int64_t kv_dims = config_.kv_dims();
  const std::int64_t qkv = config_.query_dims() + 2 * kv_dims;
  float* const q = qkv_.data();
  float* const k = q + config_.query_dims();
  kernels::linear(layer.qkv, in.values, in.stride, rows, q, qkv, pool_);
  normalise_qk(layer, q, k, qkv, rows);
  if (config_.qkv_clip > 0) kernels::clip(q, config_.qkv_clip, rows * qkv);
  if (const int rope = config_.layers[i].rope; rope >= 0) {
    const auto r = static_cast<std::size_t>(rope);
    const int dims = ropes_[r].dims();
    kernels::rope(q, qkv, rows, config_.heads, config_.head_dim, dims, cos_[r].data(),
                  sin_[r].data());
    kernels::rope(k, qkv, rows, config_.kv_heads, config_.head_dim, dims, cos_[r].data(),
                  sin_[r].data());
  }
  scale_queries(all, q, qkv);
  const std::int32_t* slots = all.slots.data();
  kernels::store_kv(k, qkv, rows, static_cast<int>(kv_dims), slots, precision_, kv.keys(step));
  kernels::store_kv(k + kv_dims, qkv, rows, static_cast<int>(kv_dims), slots, precision_,
                    kv.values(step));
}

void CpuLayers::store_context(const Rows& rows, std::span<const float> context,
                              std::span<const CpuWeights::Layer> weights, CpuKv& kv,
                              const std::stop_token& stop) {
  at_least(qkv_, rows.positions.size(), config_.query_dims() + 2 * config_.kv_dims());
  fill_ropes(rows);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
    project(rows, i, i, weights[i], {context.data(), config_.hidden}, kv);
  }
}

void CpuLayers::run(const Rows& all, std::span<const CpuWeights::Layer> weights, CpuKv& kv,
                    const std::stop_token& stop, const EnterLayer& enter) {
  const std::size_t count = all.positions.size();
  const auto rows = static_cast<std::int64_t>(count);
  const std::int64_t hidden = config_.hidden;
  const std::int64_t qkv = config_.query_dims() + 2 * config_.kv_dims();
  const std::int64_t attention_stride = kernels::linear_stride(config_.query_dims());
  at_least(normed_, count, kernels::linear_stride(hidden));
  at_least(qkv_, count, qkv);
  at_least(attention_, count, attention_stride);
  at_least(inner_, count, kernels::linear_stride(config_.intermediate));
  if (has_own_branch(config_) || config_.has_experts()) at_least(branch_, count, hidden);
  fill_ropes(all);

  residual(count);
  kernels::AttentionShape shape;
  shape.heads = config_.heads;
  shape.kv_heads = config_.kv_heads;
  shape.head_dim = config_.head_dim;
  shape.scale = config_.attention_scale;
  shape.softcap = config_.attention_softcap;

  for (const LayerPass& pass : layer_passes(all.sublayers, weights.size(), kv.layers())) {
    const std::size_t i = pass.layer;
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
    const CpuWeights::Layer& layer = weights[i];
    if (enter) enter(static_cast<std::int32_t>(i));
    Input in{all.first_input.data(), layer.qkv.inputs()};
    if ((i > 0 || all.first_input.empty()) && (pass.attention || config_.shared_norm))
      in = normed(rows, layer.attention_norm, layer.attention_norm_bias);
    const auto mlp_input = [&] {
      return config_.shared_norm ? in : normed(rows, layer.mlp_norm, layer.mlp_norm_bias);
    };
    std::optional<Input> beside;
    if (pass.attention) {
      project(all, i, pass.kv, layer, in, kv);
      // q, k and v are computed, so `normed_` is free.
      if (config_.parallel_residual && pass.mlp) beside = mlp_input();
      shape.window = config_.layers[i].window;
      shape.sinks = layer.sinks.empty() ? nullptr : layer.sinks.data();
      attend(all, qkv_.data(), qkv, kv.view(pass.kv), shape);
      const Input attended{attention_.data(), attention_stride};
      add_branch(layer.output, attended, rows, layer.post_attention_norm);
    }
    if (!pass.mlp) continue;
    run_mlp(layer, beside ? *beside : mlp_input(), rows);
    if (all.experts != nullptr && !layer.router.empty())
      all.experts->add(static_cast<std::int32_t>(i), all.first_row, experts_.chosen());
  }
  if (enter) enter(static_cast<std::int32_t>(weights.size()));
}

}  // namespace triescope
