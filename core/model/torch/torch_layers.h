// The decoder layers of the libtorch executor. The transformer (transformer_torch.cpp) puts
// embeddings before them and an output head behind them, a draft head (core/model/heads/eagle_torch.cpp)
// its own. The twin of CpuLayers.
//
//   h = x + o(attention(rope(qkv(norm(x)))))      out = h + down(act(gate(norm(h))) * up(norm(h)))
//
// ModelConfig says which norms there are and which stream the MLP reads. A branch without a norm
// before it reads x itself. Kernels of ours or libtorch's operations run
// the steps between products (TorchLayerOps) and attention (LayerAttention). Keeps nothing from one
// run to the next. Borrows the configuration.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/files/config.h"
#include "core/kernels/aten.h"
#include "core/model/expert_notes.h"
#include "core/model/layer_steps.h"
#include "core/model/mask_rows.h"
#include "core/model/rope_table.h"
#include "core/model/torch/forward_inputs.h"
#include "core/model/torch/layer_attention.h"
#include "core/model/torch/torch_features.h"
#include "core/model/torch/torch_kv.h"
#include "core/model/torch/torch_layer_ops.h"
#include "core/model/torch/torch_weights.h"
#include "core/model/visible_slots.h"

namespace triescope {

class TorchLayers {
 public:
  // options: device, and the dtype of activations. With steps = kKernels, each kernel that suits
  // these layers and passes its check runs (kernel_check.h), else libtorch's operations. Errors:
  // those of the check.
  TorchLayers(const formats::ModelConfig& config, const at::TensorOptions& options,
              LayerSteps steps);

  // Which steps run on libtorch's operations though kernels were asked for, and why; "" = none.
  const std::string& warning() const { return warning_; }
  // Whether every step runs on its kernel and passes on buckets of rows (row_bucket.h).
  bool keep_buckets() const { return attention_kernel_ && warning_.empty(); }

  // A batch on the device, with these layers' rotary tables.
  ForwardInputs inputs(const ForwardBatch& batch, const VisibleSlots& visible,
                       StagingBuffer& staging) const {
    return {batch, visible, ropes_, device_, staging};
  }

  // The residual stream of a batch's tokens and masks before the first layer, and its norm by that
  // layer's `norm`.
  TorchLayerOps::Embedded embed(const ForwardInputs& in, const TorchMatrix& table,
                                const at::Tensor& positions, const TorchNorm& norm,
                                const MaskBatch& masks) const;

  // Rows that go through the layers together.
  struct Rows {
    const ForwardInputs& in;
    const VisibleSlots& visible;
    // [rows, inputs]: what the first part that runs reads. It is norm(x) by that part's norm, or what a draft head gives
    // its first layer's q, k and v (EAGLE-3: 2 * hidden wide). Undefined: computed from x.
    at::Tensor first_input = {};
    // Those of ForwardBatch.
    std::span<const std::int32_t> sublayers = {};
    // Of a batch with masks, whose all() `visible` is; null: it has none.
    const MaskRows* masks = nullptr;
    ExpertNotes* experts = nullptr;  // takes what the rows choose in a mixture
    at::Tensor per_layer = {};       // per_layer_inputs(); undefined: the model has none
  };
  // x [rows, hidden], contiguous: the residual stream that enters the first layer; it may be
  // changed in place. Returns `final_norm` of the stream behind the last layer, or that stream
  // where the norm has no weight. `features` keeps what the batch asks for, both of these included.
  // Error{kCancelled}: stop was requested, which is checked before every layer; kCuda: a launch
  // failed.
  at::Tensor run(const Rows& rows, std::span<const TorchWeights::Layer> weights,
                 const TorchNorm& final_norm, at::Tensor x, TorchKv& kv, TorchFeatures& features,
                 const std::stop_token& stop) const;

  // Writes K and V of rows that have no stream: in every layer those of `context` [rows, hidden], where other rows have
  // those of norm(x). Errors: run's.
  void store_context(const ForwardInputs& in, const at::Tensor& context,
                     std::span<const TorchWeights::Layer> weights, TorchKv& kv,
                     const std::stop_token& stop) const;

  // norm(x) * weight + bias for rows [rows, dim], contiguous; x itself where there is no weight.
  at::Tensor normalise(const at::Tensor& x, const TorchNorm& norm) const;

 private:
  void choose_steps(const at::TensorOptions& options);
  // The queries of `normed` in layer i; its K and V go into layer `stored` of the storage.
  at::Tensor project(const ForwardInputs& in, std::size_t i, std::size_t stored,
                     const TorchWeights::Layer& layer, const at::Tensor& normed, TorchKv& kv) const;
  bool has_windows() const;
  at::Tensor take_up(at::Tensor& x, const at::Tensor& h, const at::Tensor& post,
                     const TorchNorm& norm) const;
  // What a branch ends in, as it is added to the stream: linear(x), times the model's scale.
  at::Tensor branch(const at::Tensor& x, const TorchLinear& weights) const;
  at::Tensor scale_queries(const at::Tensor& q, const ForwardInputs& in) const;
  // mlp(normed), and the weighted sum of the experts that each row chooses.
  at::Tensor run_one(const TorchWeights::Mlp& mlp, const at::Tensor& normed) const;
  // What a mixture's router reads, where it has a scale of its own.
  at::Tensor router_input(const TorchWeights::Layer& layer, const at::Tensor& stream) const;
  // Tells `notes` the choices in layer `index`, where they are not null. `stream` is what `normed` is a norm of.
  at::Tensor run_experts(const TorchWeights::Layer& layer, std::int32_t index,
                         const at::Tensor& normed, const at::Tensor& stream,
                         ExpertNotes* notes) const;
  // MLP(normed) for rows [rows, hidden], before it is added to the stream.
  at::Tensor run_mlp(const TorchWeights::Layer& layer, std::int32_t index, const at::Tensor& normed,
                     const at::Tensor& stream, ExpertNotes* notes) const;
  // What a layer adds or scales behind its MLP, whose result h still waits to be added to x.
  void finish_layer(const Rows& rows, std::size_t i, const TorchWeights::Layer& layer,
                    at::Tensor& x, at::Tensor& h, const at::Tensor& post) const;
  std::unique_ptr<LayerAttention> attention_of(const Rows& rows, int capacity) const;

  const formats::ModelConfig& config_;
  const at::Device device_;
  std::unique_ptr<TorchLayerOps> ops_;
  bool attention_kernel_ = false;
  std::string warning_;
  std::vector<RopeTable> ropes_;
};

}  // namespace triescope
