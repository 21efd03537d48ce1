#include "core/model/cpu/cpu_qkv.h"

#include <algorithm>

#include "core/kernels/activation.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/kernels/rope.h"
#include "core/kernels/tree_attention.h"
#include "core/model/cpu/scratch.h"

namespace triescope {
CpuQkv::CpuQkv(const formats::ModelConfig& config, kernels::Precision precision, ThreadPool& pool)
    : config_(config), precision_(precision), pool_(pool) {
  for (const formats::RopeConfig& rope : config_.ropes) ropes_.emplace_back(rope);
  cos_.resize(ropes_.size());
  sin_.resize(ropes_.size());
  if (config_.value_norm) ones_.assign(static_cast<std::size_t>(config_.widest_head()), 1.0f);
}

void CpuQkv::begin(std::span<const std::int32_t> positions, std::span<const std::int32_t> slots,
                   std::int32_t text_length) {
  positions_ = positions;
  slots_ = slots;
  rows_ = static_cast<std::int64_t>(positions.size());
  std::int64_t widest = 0;
  for (std::size_t i = 0; i < config_.layers.size(); ++i)
    widest = std::max<std::int64_t>(widest, config_.heads_of(i).qkv_dims());
  at_least(qkv_, rows_, widest);
  for (std::size_t i = 0; i < ropes_.size(); ++i) {
    const auto half = static_cast<std::size_t>(ropes_[i].dims() / 2);
    at_least(cos_[i], rows_, ropes_[i].dims() / 2);
    at_least(sin_[i], rows_, ropes_[i].dims() / 2);
    for (std::size_t r = 0; r < positions.size(); ++r)
      ropes_[i].fill(positions[r], std::max(text_length, positions[r] + 1),
                     std::span(cos_[i]).subspan(r * half, half),
                     std::span(sin_[i]).subspan(r * half, half));
  }
}

void CpuQkv::normalise_heads(float* x, const formats::HeadShape& shape, int heads,
                             const std::vector<float>& weight) {
  const std::int64_t dim = shape.head_dim;
  switch (config_.qk_norm) {
    case formats::QkNorm::kNone:
      return;
    case formats::QkNorm::kHeads:
      kernels::rms_norm_heads(x, stride_, rows_, heads, shape.head_dim, weight.data(),
                              config_.norm_eps, config_.norm_plus_one, pool_);
      return;
    case formats::QkNorm::kWhole:
      kernels::rms_norm_heads(x, stride_, rows_, 1, heads * shape.head_dim, weight.data(),
                              config_.norm_eps, config_.norm_plus_one, pool_);
      return;
    case formats::QkNorm::kOwnHeads:
      for (std::int64_t head = 0; head < heads; ++head)
        kernels::layer_norm(x + head * dim, stride_, {rows_, dim}, weight.data() + head * dim,
                            nullptr, config_.norm_eps, x + head * dim, stride_, pool_);
      return;
  }
}

void CpuQkv::rotate(float* x, const formats::HeadShape& shape, int heads, int rope) {
  if (rope < 0) return;
  const auto r = static_cast<std::size_t>(rope);
  kernels::rope(x, stride_, rows_, heads, shape.head_dim, ropes_[r].dims(), cos_[r].data(),
                sin_[r].data());
}

void CpuQkv::project(std::size_t index, const CpuWeights::Layer& layer, CpuRows in, CpuKv& kv,
                     std::size_t kv_layer) {
  const formats::HeadShape shape = config_.heads_of(index);
  const int kv_dims = shape.kv_dims(), rope = config_.layers[index].rope;
  stride_ = shape.qkv_dims();
  float* const q = qkv_.data();
  float* const k = q + shape.query_dims();
  float* const v = k + kv_dims;
  kernels::linear(layer.qkv, in.values, in.stride, rows_, q, stride_, pool_);
  if (shape.owns_kv && shape.value_is_key)
    for (std::int64_t r = 0; r < rows_; ++r) std::copy_n(k + r * stride_, kv_dims, v + r * stride_);
  normalise_heads(q, shape, shape.heads, layer.query_norm);
  if (shape.owns_kv) normalise_heads(k, shape, shape.kv_heads, layer.key_norm);
  if (shape.owns_kv && config_.value_norm)
    kernels::rms_norm_heads(v, stride_, rows_, shape.kv_heads, shape.head_dim, ones_.data(),
                            config_.norm_eps, false, pool_);
  if (config_.qkv_clip > 0) kernels::clip(q, config_.qkv_clip, rows_ * stride_);
  rotate(q, shape, shape.heads, rope);
  if (config_.query_scale.beta != 0)
    for (std::size_t r = 0; r < positions_.size(); ++r)
      kernels::scale_by(q + static_cast<std::int64_t>(r) * stride_,
                        query_scale(config_.query_scale, positions_[r]), shape.query_dims());
  if (!shape.owns_kv) return;
  rotate(k, shape, shape.kv_heads, rope);
  kernels::store_kv(k, stride_, rows_, kv_dims, slots_.data(), precision_, kv.keys(kv_layer));
  kernels::store_kv(v, stride_, rows_, kv_dims, slots_.data(), precision_, kv.values(kv_layer));
}

}  // namespace triescope
