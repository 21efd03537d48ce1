// The steps of core/model/torch_layer_ops.h, each as a kernel.
#include "core/kernels/cuda_module.h"
#include "core/model/torch/cuda_launch.h"
#include "core/model/torch/row_bucket.h"
#include "core/model/torch/torch_layer_ops.h"

namespace triescope {
namespace {

using at::Tensor;
using formats::ModelConfig;

std::int32_t size_of(const Tensor& tensor, std::int64_t dimension) {
  return static_cast<std::int32_t>(tensor.size(dimension));
}

class CudaLayerOps final : public TorchLayerOps {
 public:
  explicit CudaLayerOps(const ModelConfig& config)
      : config_(config), module_(kernels::cuda_module()) {}

  Embedded embed_norm(const TorchMatrix& table, const Tensor& positions, const ForwardInputs& in,
                      const TorchNorm& norm) const override {
    const TorchMatrix::Stored stored = table.stored();
    const Tensor x = bucket_rows(in.tokens.size(0), table.inputs(), table.options());
    const Embedded out = {x, bucket_rows_like(x)};
    TriescopeEmbedNorm call = {};
    call.table = stored.values.const_data_ptr();
    call.type = stored.blocks ? static_cast<std::int32_t>(*stored.blocks) : -1;
    call.ids = in.tokens.const_data_ptr<std::int32_t>();
    call.position_table = positions.defined() ? positions.const_data_ptr() : nullptr;
    call.positions = in.positions.const_data_ptr<std::int32_t>();
    call.scale = config_.embedding_scale;
    call.weight = values_or_null(norm.weight);
    call.bias = values_or_null(norm.bias);
    call.x = out.x.mutable_data_ptr();
    call.out = out.normed.mutable_data_ptr();
    call.rows = size_of(out.x, 0);
    call.dim = size_of(out.x, 1);
    call.eps = config_.norm_eps;
    call.layer_norm = config_.norm == formats::NormKind::kLayer;
    call.dtype = kernel_dtype(out.x);
    check_launch(module_.embed_norm(&call, kernel_stream(out.x)), "embedding and norm", out.x);
    return out;
  }

  Tensor add_norm(Tensor& x, const Tensor& h, const Tensor& post,
                  const TorchNorm& norm) const override {
    Tensor out = bucket_rows_like(x);
    TriescopeAddNorm call = {};
    call.x = x.mutable_data_ptr();
    call.h = h.defined() ? h.const_data_ptr() : nullptr;
    call.post = values_or_null(post);
    call.weight = values_or_null(norm.weight);
    call.bias = values_or_null(norm.bias);
    call.out = out.mutable_data_ptr();
    call.rows = size_of(x, 0);
    call.dim = size_of(x, 1);
    call.eps = config_.norm_eps;
    call.layer_norm = config_.norm == formats::NormKind::kLayer;
    call.dtype = kernel_dtype(x);
    check_launch(module_.add_norm(&call, kernel_stream(x)), "add and norm", x);
    return out;
  }

  Tensor split_qkv(const Tensor& qkv, const formats::HeadShape& heads,
                   const TorchWeights::Layer& layer, const ForwardInputs::Rotation* rotation,
                   const Tensor& slots, Tensor& keys, Tensor& values) const override {
    TriescopeSplitQkv call = {};
    call.qkv = qkv.mutable_data_ptr();
    call.keys = keys.mutable_data_ptr();
    call.values = values.mutable_data_ptr();
    call.slots = slots.const_data_ptr<std::int32_t>();
    call.query_norm = values_or_null(layer.query_norm);
    call.key_norm = values_or_null(layer.key_norm);
    if (rotation != nullptr) {
      call.cos = values_or_null(rotation->cos);
      call.sin = values_or_null(rotation->sin);
      call.rope_dims = 2 * size_of(rotation->cos, 1);
    }
    call.eps = config_.norm_eps;
    call.rows = size_of(qkv, 0);
    call.heads = heads.heads;
    call.kv_heads = heads.kv_heads;
    call.head_dim = heads.head_dim;
    call.dtype = kernel_dtype(qkv);
    check_launch(module_.split_qkv(&call, kernel_stream(qkv)), "split of q, k and v", qkv);
    return qkv.view({qkv.size(0), heads.heads + 2 * heads.kv_heads, heads.head_dim})
        .narrow(1, 0, heads.heads);
  }

  Tensor activate(const Tensor& gate_up) const override {
    const std::int64_t width = gate_up.size(1) / (config_.gated_mlp ? 2 : 1);
    Tensor out = bucket_rows(gate_up.size(0), width, gate_up.options());
    TriescopeGatedActivation call = {};
    call.in = gate_up.const_data_ptr();
    call.out = out.mutable_data_ptr();
    call.rows = size_of(gate_up, 0);
    call.dim = static_cast<std::int32_t>(width);
    call.gated = config_.gated_mlp;
    call.kind = kernel_activation(config_.activation);
    call.dtype = kernel_dtype(gate_up);
    check_launch(module_.gated_activation(&call, kernel_stream(gate_up)), "activation", gate_up);
    return out;
  }

 private:
  const ModelConfig config_;
  const kernels::CudaModule& module_;
};

}  // namespace

std::unique_ptr<TorchLayerOps> make_cuda_layer_ops(const ModelConfig& config) {
  return std::make_unique<CudaLayerOps>(config);
}

std::string cuda_layer_obstacle(const ModelConfig& config) {
  using formats::QkNorm;
  if (config.qk_norm == QkNorm::kOwnHeads ||
      (config.qk_norm == QkNorm::kHeads && config.norm == formats::NormKind::kLayer))
    return "the kernel normalises q and k by RMS, and this model by layer norm";
  if (config.qk_norm == QkNorm::kWhole)
    return "the kernel normalises q and k head by head, and this model over all heads";
  if (config.most_taps() > 0) return "the kernel does not know this model's convolutions";
  if (config.value_norm) return "the kernel does not normalise v, as this model does";
  for (std::size_t i = 0; i < config.layers.size(); ++i)
    if (const formats::HeadShape heads = config.heads_of(i); !heads.owns_kv || heads.value_is_key)
      return "the kernel expects q, k and v of every layer, and layers of this model share some";
  if (config.qkv_clip > 0)
    return "the kernel does not cut q, k and v to a limit, as this model does";
  return kernels::cuda_module().reason;
}

std::string cuda_norm_obstacle(const ModelConfig& config) {
  if (!config.pre_norms)
    return "the kernel normalises what enters a branch, and this model what leaves it";
  return kernels::cuda_module().reason;
}

}  // namespace triescope
