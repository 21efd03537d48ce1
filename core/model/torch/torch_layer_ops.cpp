#include "core/model/torch/torch_layer_ops.h"

#include <utility>
#include <vector>

namespace triescope {
namespace {

using at::Tensor;
using formats::Activation;
using formats::ModelConfig;
using formats::QkNorm;

class LibtorchLayerOps final : public TorchLayerOps {
 public:
  explicit LibtorchLayerOps(const ModelConfig& config) : config_(config) {}

  Embedded embed_norm(const TorchMatrix& table, const Tensor& positions, const ForwardInputs& in,
                      const TorchNorm& weights) const override {
    Tensor x = table.rows(in.tokens);
    // As in transformers: the scale is rounded to the model's dtype first.
    if (config_.embedding_scale != 1) x = x * at::full({}, config_.embedding_scale, x.options());
    if (positions.defined()) x = x + positions.index_select(0, in.positions);
    return {x, weights.weight.defined() ? norm(x, weights.weight, weights.bias) : Tensor()};
  }

  Tensor add_norm(Tensor& x, const Tensor& h, const Tensor& post,
                  const TorchNorm& weights) const override {
    if (h.defined()) x = x + (post.defined() ? norm(h, post, {}) : h);
    return norm(x, weights.weight, weights.bias);
  }

  Tensor split_qkv(const Tensor& qkv, const formats::HeadShape& shape,
                   const TorchWeights::Layer& layer, const ForwardInputs::Rotation* rotation,
                   const Tensor& slots, Tensor& keys, Tensor& values) const override {
    const std::int64_t heads = shape.heads, kv_heads = shape.kv_heads;
    const Tensor all = qkv.view({qkv.size(0), -1, shape.head_dim});
    Tensor q = all.narrow(1, 0, heads), k, v;
    if (shape.owns_kv) {
      k = all.narrow(1, heads, kv_heads);
      v = shape.value_is_key ? k : all.narrow(1, heads + kv_heads, kv_heads);
    }
    q = normalise_heads(q, layer.query_norm);
    if (shape.owns_kv) k = normalise_heads(k, layer.key_norm);
    if (shape.owns_kv && config_.value_norm)
      v = rms_scaled(v.to(at::kFloat), config_.norm_eps).to(v.scalar_type());
    if (const double limit = config_.qkv_clip; limit > 0)
      for (Tensor* part : {&q, &k, &v})
        if (part->defined()) *part = part->clamp(-limit, limit);
    if (rotation != nullptr) {
      const Tensor cos = rotation->cos.unsqueeze(1), sin = rotation->sin.unsqueeze(1);
      q = rotate(q, cos, sin);
      if (shape.owns_kv) k = rotate(k, cos, sin);
    }
    if (!shape.owns_kv) return q;
    const Tensor rows = slots.to(at::kLong);
    keys.index_copy_(0, rows, k);
    values.index_copy_(0, rows, v);
    return q;
  }

  Tensor activate(const Tensor& gate_up) const override {
    if (!config_.gated_mlp) return activated(gate_up, config_.activation);
    const std::int64_t inner = gate_up.size(1) / 2;
    if (config_.activation == Activation::kClampedSwiglu)
      return activated(gate_up.narrow(1, 0, inner), config_.activation) *
             (gate_up.narrow(1, inner, inner).clamp(-7, 7) + 1);
    return activated(gate_up.narrow(1, 0, inner), config_.activation) *
           gate_up.narrow(1, inner, inner);
  }

 private:
  // x: [rows, heads, head_dim].
  Tensor normalise_heads(const Tensor& x, const Tensor& weight) const {
    switch (config_.qk_norm) {
      case QkNorm::kNone:
        return x;
      case QkNorm::kHeads:
        return norm(x, weight, {});
      case QkNorm::kWhole:
        return norm(x.reshape({x.size(0), -1}), weight, {}).view(x.sizes());
      case QkNorm::kOwnHeads: {
        const Tensor normed =
            at::layer_norm(x.to(at::kFloat), {x.size(2)}, {}, {}, config_.norm_eps);
        return (normed * weight).to(x.scalar_type());
      }
    }
    return x;
  }

  Tensor norm(const Tensor& x, const Tensor& w, const Tensor& bias) const {
    const Tensor wide = x.to(at::kFloat);
    if (config_.norm == formats::NormKind::kLayer) {
      return at::layer_norm(wide, {w.size(0)}, w, bias, config_.norm_eps).to(x.scalar_type());
    }
    return (rms_scaled(wide, config_.norm_eps) * w).to(x.scalar_type());
  }

  // x: [rows, heads, head_dim]; cos, sin: [rows, 1, dims / 2] fp32. The first half of the rotated
  // part is paired with its second half; the dimensions after it stay.
  static Tensor rotate(const Tensor& x, const Tensor& cos, const Tensor& sin) {
    const std::int64_t half = cos.size(-1);
    const Tensor wide = x.to(at::kFloat);
    const Tensor a = wide.narrow(-1, 0, half);
    const Tensor b = wide.narrow(-1, half, half);
    std::vector<Tensor> parts = {a * cos - b * sin, b * cos + a * sin};
    const std::int64_t rest = x.size(-1) - 2 * half;
    if (rest > 0) parts.push_back(wide.narrow(-1, 2 * half, rest));
    return at::cat(parts, -1).to(x.scalar_type());
  }

  const ModelConfig config_;
};

}  // namespace

Tensor rms_scaled(const Tensor& x, double eps) {
  return x * at::rsqrt(x.pow(2).mean(-1, true).add(eps));
}

Tensor activated(const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kClampedSwiglu: {
      const Tensor gate = x.clamp_max(7);
      return gate * at::sigmoid(gate * 1.702);
    }
  }
  return x;
}

std::unique_ptr<TorchLayerOps> make_torch_layer_ops(const ModelConfig& config) {
  return std::make_unique<LibtorchLayerOps>(config);
}

}  // namespace triescope
