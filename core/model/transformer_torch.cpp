// The transformer in libtorch's operations: what runs on CUDA, and the reference on a CPU.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/model/cuda_attention.h"
#include "core/model/forward_inputs.h"
#include "core/model/rope_table.h"
#include "core/model/torch_attention.h"
#include "core/model/torch_kv.h"
#include "core/model/torch_layer_ops.h"
#include "core/model/torch_runtime.h"
#include "core/model/torch_weights.h"
#include "core/model/transformer.h"
#include "core/model/visible_slots.h"

namespace triescope {
namespace {

using at::Tensor;
using formats::ModelConfig;

// The hidden states a batch asks for. They stay on the device until the end, so that no layer waits
// for a copy to the host.
class Features {
 public:
  // rows: int32, on the device.
  Features(const ForwardBatch& batch, const Tensor& rows)
      : layers_(batch.feature_layers), rows_(rows), kept_(layers_.size()) {}
  // x: [rows of the batch, hidden] of this layer.
  void keep(const Tensor& x, std::int32_t layer) {
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (layers_[i] == layer) kept_[i] = x.index_select(0, rows_);
  }
  // [layers, rows, hidden] fp32; undefined where nothing is asked for.
  Tensor on_host() const {
    if (kept_.empty()) return {};
    return at::stack(kept_).to(at::kFloat).to(at::kCPU).contiguous();
  }

 private:
  std::span<const std::int32_t> layers_;
  Tensor rows_;
  std::vector<Tensor> kept_;
};

std::span<const float> values_of(const Tensor& host) {
  if (!host.defined()) return {};
  return {host.const_data_ptr<float>(), static_cast<std::size_t>(host.numel())};
}

// Rows that are cheap with weights in blocks: those of one pass of the kernel over them (block_linear)
// for which a thread still serves four outputs. Not measured on a GPU yet.
constexpr int kCheapBlockRows = 8;

class TorchTransformer final : public Model {
 public:
  TorchTransformer(const formats::WeightSource& source, ModelInfo info, const LoadOptions& options,
                   LayerSteps steps, const ProgressSink& progress, std::stop_token stop)
      : config_(source.config()),
        info_(std::move(info)),
        device_(open_device(options.device)),
        options_(at::TensorOptions().dtype(scalar_type(options.dtype)).device(device_)),
        keeps_blocks_(steps == LayerSteps::kKernels && options.stored_weights &&
                      TorchMatrix::block_obstacle().empty()),
        weights_(source, with_threads(options_, options.threads), keeps_blocks_, options.threads,
                 progress, stop) {
    info_.device = device_.str();
    if (device_.is_cuda() && !device_.has_index()) info_.device = "cuda:0";
    for (const formats::RopeConfig& rope : config_.ropes) ropes_.emplace_back(rope);
    position_end_ = info_.context;
    choose_steps(steps);
    if (steps == LayerSteps::kKernels && options.stored_weights) tell_of_blocks();
    if (weights_.bytes_per_weight() < 1.5) info_.cheap_rows = kCheapBlockRows;
  }

  const ModelInfo& info() const override { return info_; }
  DeviceMemory device_memory() const override { return allocator_memory(device_); }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<TorchKv>(config_, options_, capacity);
  }

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    auto* storage = dynamic_cast<TorchKv*>(&kv);
    if (storage == nullptr)
      throw Error(ErrorCode::kInvalidArgument,
                  "forward: the KV storage belongs to another kind of model");
    const VisibleSlots visible = check_batch(batch, config_, position_end_, storage->capacity());
    const c10::InferenceMode inference;
    const c10::OptionalDeviceGuard guard(device_);
    ForwardOutput output;
    with_torch_errors(device_, [&] { output = run(batch, visible, *storage, stop); });
    return output;
  }

  void embed(std::span<const std::int32_t> tokens, std::span<float> out) override {
    check_shared_embedding(tokens, out.size(), info_);
    const c10::InferenceMode inference;
    const c10::OptionalDeviceGuard guard(device_);
    with_torch_errors(device_, [&] {
      const Tensor rows = weights_.embedding.rows(index_tensor(tokens, device_));
      const Tensor host = rows.to(at::kFloat).to(at::kCPU).contiguous();
      const std::span<const float> values = values_of(host);
      std::copy(values.begin(), values.end(), out.begin());
    });
  }

  std::span<const float> output_head(std::span<const float> states) override {
    const auto rows = static_cast<std::int64_t>(check_shared_states(states.size(), info_));
    const c10::InferenceMode inference;
    const c10::OptionalDeviceGuard guard(device_);
    with_torch_errors(device_, [&] {
      Tensor x = at::empty({rows, config_.hidden}, at::kFloat);
      std::copy(states.begin(), states.end(), x.mutable_data_ptr<float>());
      head_logits_ = logits_of(x.to(options_)).to(at::kCPU).contiguous();
    });
    return values_of(head_logits_);
  }

 private:
  // libtorch's threads on a CPU, before anything runs there.
  static const at::TensorOptions& with_threads(const at::TensorOptions& options, int threads) {
    if (!options.device().is_cuda()) at::set_num_threads(threads);
    return options;
  }

  // A kernel where it suits, else libtorch's operations, and why.
  void choose_steps(LayerSteps steps) {
    ops_ = make_torch_layer_ops(config_);
    if (steps == LayerSteps::kOperations) return;
    const std::string layers = cuda_layer_obstacle(config_);
    const std::string attention = CudaAttention::obstacle(config_);
    if (layers.empty()) ops_ = make_cuda_layer_ops(config_);
    attention_kernel_ = attention.empty();
    const auto warn = [&](const std::string& what, const std::string& why) {
      if (why.empty()) return;
      info_.warning += (info_.warning.empty() ? "" : "; ") + what +
                       ", with the same result and more slowly: " + why;
    };
    if (layers == attention) {
      warn("layers run on libtorch's operations instead of the CUDA kernels", layers);
      return;
    }
    warn("norms, rotary positions and activations run on libtorch's operations instead of a kernel",
         layers);
    warn("attention runs on libtorch's operations instead of the tree-attention kernel", attention);
  }

  // Blocks that could not stay, and why.
  void tell_of_blocks() {
    if (keeps_blocks_ || info_.block_bytes == 0) return;
    info_.warning +=
        (info_.warning.empty() ? "" : "; ") +
        ("the file's quantised matrices are expanded to " + std::string(to_string(info_.dtype)) +
         " on loading: " + TorchMatrix::block_obstacle());
  }

  // Without softcap, fp32.
  Tensor logits_of(const Tensor& normed) const {
    return weights_.head.matrix.product(normed, {}, at::kFloat);
  }

  Tensor embedded(const ForwardInputs& in) const {
    Tensor x = weights_.embedding.rows(in.tokens);
    if (config_.embedding_scale != 1) {
      // The scale is rounded to the model's dtype first, as in transformers.
      x = x * at::full({}, config_.embedding_scale, options_);
    }
    if (config_.learned_positions) x = x + weights_.positions.index_select(0, in.positions);
    return x;
  }

  std::unique_ptr<LayerAttention> attention_of(const ForwardInputs& in, const VisibleSlots& visible,
                                               int capacity) const {
    if (attention_kernel_) return std::make_unique<CudaAttention>(config_, in, visible);
    return std::make_unique<TorchOpsAttention>(config_, visible, in.slots.size(0), capacity,
                                               device_);
  }

  ForwardOutput run(const ForwardBatch& batch, const VisibleSlots& visible, TorchKv& kv,
                    const std::stop_token& stop) {
    const ForwardInputs in(batch, visible, ropes_, device_);
    const std::unique_ptr<LayerAttention> attention = attention_of(in, visible, kv.capacity());
    Features features(batch, in.feature_rows);
    Tensor x = embedded(in);
    // What the branch before left, and the norm it goes through before it is added.
    Tensor h, post;
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
      if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
      const TorchWeights::Layer& w = weights_.layers[i];
      const formats::LayerConfig& layer = config_.layers[i];
      const auto* rotation =
          layer.rope >= 0 ? &in.rotations[static_cast<std::size_t>(layer.rope)] : nullptr;
      Tensor normed = ops_->add_norm(x, h, post, w.attention_norm);
      features.keep(x, static_cast<std::int32_t>(i));
      const Tensor q =
          ops_->split_qkv(linear(normed, w.qkv), w, rotation, in.slots, kv.k(i), kv.v(i));
      h = linear(attention->attend(q, kv.k(i), kv.v(i), layer.window), w.output);
      normed = ops_->add_norm(x, h, w.post_attention_norm, w.mlp_norm);
      h = linear(ops_->activate(linear(normed, w.gate_up)), w.down);
      post = w.post_mlp_norm;
    }
    const Tensor normed = ops_->add_norm(x, h, post, weights_.final_norm);
    features.keep(x, static_cast<std::int32_t>(weights_.layers.size()));
    features.keep(normed, kFinalNorm);

    ForwardOutput output;
    output.vocab_size = config_.vocab_size;
    features_ = features.on_host();
    output.features = values_of(features_);
    if (batch.logit_rows.empty()) return output;
    Tensor logits = logits_of(normed.index_select(0, in.logit_rows));
    if (config_.logit_softcap > 0)
      logits = at::tanh(logits / config_.logit_softcap) * config_.logit_softcap;
    logits_ = logits.to(at::kCPU).contiguous();
    output.logits = values_of(logits_);
    return output;
  }

  const ModelConfig config_;
  ModelInfo info_;
  at::Device device_;
  at::TensorOptions options_;
  bool keeps_blocks_;
  TorchWeights weights_;
  std::unique_ptr<TorchLayerOps> ops_;
  bool attention_kernel_ = false;
  std::vector<RopeTable> ropes_;
  int position_end_ = 0;
  Tensor logits_, features_;  // of the last forward, fp32 on the host
  Tensor head_logits_;        // of output_head(), likewise
};

}  // namespace

std::unique_ptr<Model> make_torch_transformer(const formats::WeightSource& source, ModelInfo info,
                                              const LoadOptions& options, LayerSteps steps,
                                              const ProgressSink& progress, std::stop_token stop) {
  return std::make_unique<TorchTransformer>(source, std::move(info), options, steps, progress,
                                            stop);
}

}  // namespace triescope
