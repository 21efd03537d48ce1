// The transformer in libtorch's operations: it runs on CUDA, and is the reference on a CPU.
#include <ATen/Parallel.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/kernels/aten.h"
#include "core/model/active_weights.h"
#include "core/model/device_memory.h"
#include "core/model/layer_route.h"
#include "core/model/mask_rows.h"
#include "core/model/torch/kept_blocks.h"
#include "core/model/torch/kernel_check.h"
#include "core/model/torch/row_bucket.h"
#include "core/model/torch/torch_layers.h"
#include "core/model/torch/torch_logits.h"
#include "core/model/torch/torch_per_layer.h"
#include "core/model/torch/torch_runtime.h"
#include "core/model/torch/torch_shared.h"
#include "core/model/transformer.h"

namespace triescope {
namespace {

using at::Tensor;
using formats::ModelConfig;

// With weights in blocks, these rows are cheap in one pass of the kernel over the blocks
// (block_linear), in which a thread still serves four outputs. An estimate.
constexpr RowCosts kBlockRowCosts{8, 1.0 / 8, 1.0 / 8, 1.0 / 8};

class TorchTransformer final : public Model, public TorchShared {
 public:
  TorchTransformer(const formats::WeightSource& source, ModelInfo info, const LoadOptions& options,
                   LayerSteps steps, const ProgressSink& progress, std::stop_token stop)
      : config_(source.config()),
        info_(std::move(info)),
        device_(open_device(options.device)),
        options_(at::TensorOptions().dtype(scalar_type(options.dtype)).device(device_)),
        steps_(steps),
        layers_(config_, with_threads(options_, options.threads), steps),
        logits_(config_.vocab_size, options_, steps),
        blocks_(blocks_that_fit(source, options, options_, steps)),
        weights_(source, options_, blocks_.types, options.threads, progress, stop) {
    info_.device = device_.str();
    if (device_.is_cuda() && !device_.has_index()) info_.device = "cuda:0";
    position_end_ = info_.context;
    warn(layers_.warning());
    warn(logits_.warning(info_.warning));
    warn(blocks_.warning);
    keep_logits_in_fp32();
    if (weights_.bytes_per_weight() < 1.5) info_.row_costs = kBlockRowCosts;
    info_.row_costs = with_experts(info_.row_costs, config_);
    info_.path_only_rows = layers_.keep_buckets() ? static_cast<int>(kRowBucket) : 1;
    info_.prefill_rows = static_cast<int>(prefill_rows_on(device_.is_cuda()));
  }

  const ModelInfo& info() const override { return info_; }
  DeviceMemory device_memory() const override { return allocator_memory(device_); }
  std::unique_ptr<KvStorage> make_kv(int capacity) override {
    return std::make_unique<TorchKv>(config_, options_, capacity);
  }
  std::unique_ptr<KvStorage> make_kv_of(int capacity,
                                        std::span<const std::int32_t> layers) override {
    return std::make_unique<TorchKv>(config_, options_, capacity, layers.size());
  }

  ForwardOutput forward(const ForwardBatch& batch, KvStorage& kv, std::stop_token stop) override {
    auto* storage = dynamic_cast<TorchKv*>(&kv);
    const auto fits = [&](std::size_t layers) { return storage->fits(config_, options_, layers); };
    if (storage == nullptr || !fits_route(config_, batch.sublayers, fits))
      throw Error(ErrorCode::kInvalidArgument, "forward: the KV storage belongs to another model");
    const VisibleSlots visible = check_batch(batch, config_, position_end_, storage->capacity());
    ForwardOutput output;
    forward_on_device(device_, batch.tokens.size(),
                      [&] { output = run(batch, visible, *storage, stop); });
    return output;
  }

  void embed(std::span<const std::int32_t> tokens, std::span<float> out) override {
    check_shared_embedding(tokens, out.size(), info_);
    on_device(device_, [&] {
      const Tensor rows = embedding_rows(index_tensor(tokens, device_));
      const Tensor host = rows.to(at::kFloat).to(at::kCPU).contiguous();
      const std::span<const float> values = values_of(host);
      std::copy(values.begin(), values.end(), out.begin());
    });
  }

  std::span<const float> output_head(std::span<const float> states) override {
    const auto rows = static_cast<std::int64_t>(check_shared_states(states.size(), info_));
    on_device(device_, [&] {
      head_logits_ = head_logits(rows_tensor(states, rows, options_)).to(at::kCPU).contiguous();
    });
    return values_of(head_logits_);
  }

  const TorchShared* torch_shared() const override { return this; }
  const at::TensorOptions& tensor_options() const override { return options_; }
  LayerSteps layer_steps() const override { return steps_; }
  Tensor embedding_rows(const Tensor& tokens) const override {
    return weights_.embedding.rows(tokens);
  }
  Tensor head_logits(const Tensor& states) const override {
    return weights_.head.matrix.product(states, weights_.head.bias, at::kFloat);
  }

 private:
  static KeptBlocks blocks_that_fit(const formats::WeightSource& source, const LoadOptions& options,
                                    const at::TensorOptions& tensors, LayerSteps steps) {
    KeptBlocks blocks = choose_kept_blocks(source, options, tensors, steps);
    std::int64_t free = free_device_memory(options.device);
    if (free >= 0) free += kept_in_reserve(allocator_memory(tensors.device()));
    check_room_for_expanded(source, blocks, options.dtype, free);
    return blocks;
  }

  // Where the head is dense and has 16 bits, the kernels give logits that are not rounded to 16
  // bits.
  void keep_logits_in_fp32() {
    const bool has_blocks = weights_.head.matrix.stored().blocks.has_value();
    if (steps_ != LayerSteps::kKernels || has_blocks || options_.dtype() == at::kFloat) return;
    const std::string obstacle = check_dense_kernel(config_.hidden, options_);
    if (obstacle.empty()) return weights_.head.matrix.give_fp32();
    if (info_.warning.find(obstacle) == std::string::npos)
      warn("logits are rounded to " + std::string(to_string(info_.dtype)) + ": " + obstacle);
  }

  // Sets libtorch's threads on a CPU, before anything runs there.
  static const at::TensorOptions& with_threads(const at::TensorOptions& options, int threads) {
    if (!options.device().is_cuda()) at::set_num_threads(threads);
    return options;
  }

  void warn(const std::string& what) {
    if (!what.empty()) info_.warning += (info_.warning.empty() ? "" : "; ") + what;
  }

  ForwardOutput run(const ForwardBatch& batch, const VisibleSlots& of_text, TorchKv& kv,
                    const std::stop_token& stop) {
    const MaskRows masks(batch, of_text);
    const VisibleSlots& visible = masks.all();
    const ForwardInputs in = layers_.inputs(batch, visible, inputs_);
    TorchFeatures features(batch, in.feature_rows);
    const RouteStep first = layer_route(config_, batch.sublayers, kv.layers()).front();
    const auto& layer = weights_.layers[first.layer];
    const auto [x, first_input] = layers_.embed(
        in, weights_.embedding, weights_.positions,
        first.stores || config_.shared_norm ? layer.attention_norm : layer.mlp_norm, batch.masks);
    experts_.begin(config_, batch);
    const Tensor normed = layers_.run(
        {in, visible, first_input, batch.sublayers, masks.count() > 0 ? &masks : nullptr,
         config_.has_experts() ? &experts_ : nullptr,
         per_layer_inputs(config_, weights_, in.tokens, x, batch.masks.rows)},
        weights_.layers, weights_.final_norm, x, kv, features, stop);

    features.join();
    ForwardOutput output;
    output.vocab_size = config_.vocab_size;
    if (!batch.logit_rows.empty()) {
      Tensor logits = head_logits(select_bucket_rows(normed, in.logit_rows));
      if (config_.logit_scale != 1) logits = logits * config_.logit_scale;
      if (config_.logit_softcap > 0)
        logits = at::tanh(logits / config_.logit_softcap) * config_.logit_softcap;
      logits_.give(logits, batch.best_tokens, output);
    }
    output.features = features.on_host(features_);
    output.experts = experts_.view();
    return output;
  }

  const ModelConfig config_;
  ModelInfo info_;
  at::Device device_;
  at::TensorOptions options_;
  LayerSteps steps_;
  TorchLayers layers_;  // with the kernels that pass their check, which precedes reading
  TorchLogits logits_;  // likewise
  KeptBlocks blocks_;
  TorchWeights weights_;
  int position_end_ = 0;
  StagingBuffer inputs_, features_;  // of the last forward
  ExpertNotes experts_;              // likewise
  Tensor head_logits_;               // for output_head(), fp32 on the host
};

}  // namespace

std::unique_ptr<Model> make_torch_transformer(const formats::WeightSource& source, ModelInfo info,
                                              const LoadOptions& options, LayerSteps steps,
                                              const ProgressSink& progress, std::stop_token stop) {
  return std::make_unique<TorchTransformer>(source, std::move(info), options, steps, progress,
                                            stop);
}

}  // namespace triescope
