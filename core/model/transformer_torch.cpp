// The transformer in libtorch's operations: what runs on CUDA, and the reference on a CPU.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "core/model/cuda_attention.h"
#include "core/model/rope_table.h"
#include "core/model/torch_kv.h"
#include "core/model/torch_runtime.h"
#include "core/model/transformer.h"
#include "core/model/visible_slots.h"
#include "core/model/weight_loading.h"

namespace triescope {
namespace {

using at::Tensor;
using formats::Activation;
using formats::LayerConfig;
using formats::ModelConfig;
using formats::Role;

// The hidden states a batch asks for. They stay on the device until the end, so that no layer waits
// for a copy to the host.
class Features {
 public:
  Features(const ForwardBatch& batch, const at::Device& device)
      : layers_(batch.feature_layers), kept_(layers_.size()) {
    if (!layers_.empty()) rows_ = index_tensor(batch.feature_rows, device);
  }
  bool wants(std::int32_t layer) const {
    return std::find(layers_.begin(), layers_.end(), layer) != layers_.end();
  }
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
  std::vector<Tensor> kept_;
  Tensor rows_;
};

std::span<const float> values_of(const Tensor& host) {
  if (!host.defined()) return {};
  return {host.const_data_ptr<float>(), static_cast<std::size_t>(host.numel())};
}

class TorchTransformer final : public Model {
 public:
  TorchTransformer(const formats::WeightSource& source, ModelInfo info, const LoadOptions& options,
                   TorchAttention attention, const ProgressSink& progress, std::stop_token stop)
      : config_(source.config()),
        info_(std::move(info)),
        device_(open_device(options.device)),
        options_(at::TensorOptions().dtype(scalar_type(options.dtype)).device(device_)) {
    info_.device = device_.str();
    if (device_.is_cuda() && !device_.has_index()) info_.device = "cuda:0";
    if (!device_.is_cuda()) at::set_num_threads(options.threads);
    for (const formats::RopeConfig& rope : config_.ropes) ropes_.emplace_back(rope);
    position_end_ = info_.context;
    if (attention == TorchAttention::kKernel) {
      const std::string obstacle = CudaAttention::obstacle(config_);
      use_kernel_ = obstacle.empty();
      if (!use_kernel_)
        info_.warning += (info_.warning.empty() ? "" : "; ") +
                         ("attention runs on libtorch's operations instead of the tree-attention "
                          "kernel, with the same result and more slowly: " +
                          obstacle);
    }
    layers_.resize(config_.layers.size());
    load_weights(source, std::min(options.threads, 8), progress, stop, [&](const WeightTask& task) {
      // New threads: the mode and the device are set for each.
      const c10::InferenceMode inference;
      const c10::OptionalDeviceGuard guard(device_);
      with_torch_errors(device_, [&] {
        Tensor fp32 = at::empty({task.shape.rows, task.shape.cols}, at::kFloat);
        source.read_rows(task.role, task.layer, 0,
                         {fp32.mutable_data_ptr<float>(), static_cast<std::size_t>(fp32.numel())});
        if (config_.norm_plus_one && is_norm(task.role)) fp32.add_(1.0);
        if (task.shape.cols == 1) fp32 = fp32.reshape({task.shape.rows});
        // Norm weights stay fp32: the norm itself is computed in fp32.
        weight(task.role, task.layer) =
            fp32.to(is_norm(task.role) ? options_.dtype(at::kFloat) : options_);
      });
    });
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
      const Tensor rows = get(whole_, Role::kEmbedding).index_select(0, indices(tokens));
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
  using LayerWeights = std::array<Tensor, formats::kRoles>;

  static bool is_norm(Role role) {
    switch (role) {
      case Role::kFinalNorm:
      case Role::kFinalNormBias:
      case Role::kAttentionNorm:
      case Role::kAttentionNormBias:
      case Role::kMlpNorm:
      case Role::kMlpNormBias:
      case Role::kQueryNorm:
      case Role::kKeyNorm:
      case Role::kPostAttentionNorm:
      case Role::kPostMlpNorm:
        return true;
      default:
        return false;
    }
  }

  Tensor& weight(Role role, int layer) {
    LayerWeights& owner =
        formats::is_of_layer(role) ? layers_[static_cast<std::size_t>(layer)] : whole_;
    return owner[static_cast<std::size_t>(role)];
  }

  static const Tensor& get(const LayerWeights& weights, Role role) {
    return weights[static_cast<std::size_t>(role)];
  }

  Tensor indices(std::span<const std::int32_t> values) const {
    return index_tensor(values, device_);
  }

  Tensor linear(const Tensor& x, const LayerWeights& weights, Role matrix, Role bias) const {
    const Tensor& b = get(weights, bias);
    return at::linear(x, get(weights, matrix),
                      b.defined() ? std::optional<Tensor>(b) : std::nullopt);
  }

  Tensor norm(const Tensor& x, const Tensor& w, const Tensor& bias) const {
    const Tensor wide = x.to(at::kFloat);
    if (config_.norm == formats::NormKind::kLayer) {
      return at::layer_norm(wide, {w.size(0)}, w, bias, config_.norm_eps).to(x.scalar_type());
    }
    const Tensor scale = at::rsqrt(wide.pow(2).mean(-1, true).add(config_.norm_eps));
    return (wide * scale * w).to(x.scalar_type());
  }

  // x: [rows, heads, head_dim]; cos, sin: [rows, 1, dims / 2] fp32. The first half of the rotated
  // part pairs with its second half; the dimensions after it stay.
  Tensor rotate(const Tensor& x, const Tensor& cos, const Tensor& sin) const {
    const std::int64_t half = cos.size(-1);
    const Tensor wide = x.to(at::kFloat);
    const Tensor a = wide.narrow(-1, 0, half);
    const Tensor b = wide.narrow(-1, half, half);
    std::vector<Tensor> parts = {a * cos - b * sin, b * cos + a * sin};
    const std::int64_t rest = x.size(-1) - 2 * half;
    if (rest > 0) parts.push_back(wide.narrow(-1, 2 * half, rest));
    return at::cat(parts, -1).to(x.scalar_type());
  }

  Tensor activate(const Tensor& x) const {
    switch (config_.activation) {
      case Activation::kSilu:
        return at::silu(x);
      case Activation::kGeluTanh:
        return at::gelu(x, "tanh");
      case Activation::kGelu:
        return at::gelu(x);
    }
    return x;
  }

  Tensor final_norm(const Tensor& x) const {
    return norm(x, get(whole_, Role::kFinalNorm), get(whole_, Role::kFinalNormBias));
  }

  // Without softcap, fp32.
  Tensor logits_of(const Tensor& normed) const {
    const Role head = config_.tied_embeddings ? Role::kEmbedding : Role::kHead;
    return at::linear(normed, get(whole_, head)).to(at::kFloat);
  }

  // The slots any of rows [begin, end) sees, and for each window the additive mask [rows, slots]
  // over them.
  struct Sight {
    std::int64_t begin = 0, end = 0;
    Tensor slots;
    std::vector<std::pair<int, Tensor>> masks;  // by window
    const Tensor& mask(int window) const {
      for (const auto& [w, mask] : masks) {
        if (w == window) return mask;
      }
      throw Error(ErrorCode::kInvalidArgument, "no mask for this window");
    }
  };

  Sight sight_of(const VisibleSlots& visible, std::int64_t begin, std::int64_t end,
                 int capacity) const {
    Sight sight;
    sight.begin = begin;
    sight.end = end;
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> column_of(static_cast<std::size_t>(capacity), -1);
    const auto add = [&](std::int32_t slot) {
      if (column_of[static_cast<std::size_t>(slot)] >= 0) return;
      column_of[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(columns.size());
      columns.push_back(slot);
    };
    for (const std::int32_t slot : visible.prefix) add(slot);
    for (std::int64_t r = begin; r < end; ++r) {
      for (const std::int32_t slot : visible.of(static_cast<std::size_t>(r))) add(slot);
    }
    const auto width = static_cast<std::int64_t>(columns.size());
    for (const LayerConfig& layer : config_.layers) {
      const bool known =
          std::any_of(sight.masks.begin(), sight.masks.end(),
                      [&](const auto& entry) { return entry.first == layer.window; });
      if (known) continue;
      Tensor mask =
          at::full({end - begin, width}, -std::numeric_limits<float>::infinity(), at::kFloat);
      float* at_row = mask.mutable_data_ptr<float>();
      for (std::int64_t r = begin; r < end; ++r, at_row += width) {
        const auto own = visible.of(static_cast<std::size_t>(r));
        const std::size_t length = visible.prefix.size() + own.size();
        const std::size_t seen =
            layer.window > 0 ? std::min<std::size_t>(length, static_cast<std::size_t>(layer.window))
                             : length;
        for (std::size_t i = length - seen; i < length; ++i) {
          const std::int32_t slot =
              i < visible.prefix.size() ? visible.prefix[i] : own[i - visible.prefix.size()];
          at_row[column_of[static_cast<std::size_t>(slot)]] = 0;
        }
      }
      sight.masks.emplace_back(layer.window, mask.to(device_));
    }
    sight.slots = indices(columns);
    return sight;
  }

  // q: [rows, heads, head_dim] -> [rows, heads * head_dim]
  Tensor attend(const Tensor& q, TorchKv& kv, std::size_t layer,
                const std::vector<Sight>& sights) const {
    const std::int64_t group = config_.heads / config_.kv_heads;
    std::vector<Tensor> parts;
    for (const Sight& sight : sights) {
      const std::int64_t rows = sight.end - sight.begin;
      const Tensor k = kv.k(layer)
                           .index_select(0, sight.slots)
                           .permute({1, 2, 0});  // [kv_heads, head_dim, slots]
      const Tensor v =
          kv.v(layer).index_select(0, sight.slots).transpose(0, 1);  // [kv_heads, slots, head_dim]
      // Query head h reads key/value head h / group.
      const Tensor queries = q.narrow(0, sight.begin, rows)
                                 .reshape({rows, config_.kv_heads, group, config_.head_dim})
                                 .permute({1, 2, 0, 3})
                                 .reshape({config_.kv_heads, group * rows, config_.head_dim});
      Tensor scores = at::matmul(queries, k).to(at::kFloat).mul(config_.attention_scale);
      if (config_.attention_softcap > 0) {
        scores = at::tanh(scores / config_.attention_softcap) * config_.attention_softcap;
      }
      scores = scores.reshape({config_.kv_heads, group, rows, -1}) +
               sight.mask(config_.layers[layer].window);
      const Tensor weights =
          at::softmax(scores, -1).to(q.scalar_type()).reshape({config_.kv_heads, group * rows, -1});
      parts.push_back(at::matmul(weights, v)
                          .reshape({config_.kv_heads, group, rows, config_.head_dim})
                          .permute({2, 0, 1, 3})
                          .reshape({rows, config_.query_dims()}));
    }
    return parts.size() == 1 ? parts[0] : at::cat(parts, 0);
  }

  ForwardOutput run(const ForwardBatch& batch, const VisibleSlots& visible, TorchKv& kv,
                    const std::stop_token& stop) {
    const auto rows = static_cast<std::int64_t>(batch.tokens.size());
    const Tensor slots = indices(batch.slots);
    Tensor x = get(whole_, Role::kEmbedding).index_select(0, indices(batch.tokens));
    if (config_.embedding_scale != 1) {
      // The scale is rounded to the model's dtype first, as in transformers.
      x = x * at::full({}, config_.embedding_scale, options_);
    }
    if (config_.learned_positions)
      x = x + get(whole_, Role::kPositions).index_select(0, indices(batch.positions));

    std::vector<std::pair<Tensor, Tensor>> rotations;  // by rope: cos, sin
    for (const RopeTable& rope : ropes_) {
      const std::int64_t half = rope.dims() / 2;
      Tensor cos = at::empty({rows, 1, half}, at::kFloat);
      Tensor sin = at::empty({rows, 1, half}, at::kFloat);
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto size = static_cast<std::size_t>(half);
        const int position = batch.positions[static_cast<std::size_t>(r)];
        rope.fill(position, std::max(batch.text_length, position + 1),
                  {cos.mutable_data_ptr<float>() + r * half, size},
                  {sin.mutable_data_ptr<float>() + r * half, size});
      }
      rotations.emplace_back(cos.to(device_), sin.to(device_));
    }
    std::optional<CudaAttention> kernel;
    std::vector<Sight> sights;
    if (use_kernel_) {
      kernel.emplace(visible, rows, device_);
    } else {
      // Blocks of rows, so that prefill's scores stay small.
      constexpr std::int64_t kBlock = 256;
      for (std::int64_t begin = 0; begin < rows; begin += kBlock) {
        sights.push_back(sight_of(visible, begin, std::min(begin + kBlock, rows), kv.capacity()));
      }
    }

    Features features(batch, device_);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
      const LayerWeights& w = layers_[i];
      features.keep(x, static_cast<std::int32_t>(i));
      Tensor h = norm(x, get(w, Role::kAttentionNorm), get(w, Role::kAttentionNormBias));
      Tensor q = linear(h, w, Role::kQuery, Role::kQueryBias)
                     .reshape({rows, config_.heads, config_.head_dim});
      Tensor k = linear(h, w, Role::kKey, Role::kKeyBias)
                     .reshape({rows, config_.kv_heads, config_.head_dim});
      const Tensor v = linear(h, w, Role::kValue, Role::kValueBias)
                           .reshape({rows, config_.kv_heads, config_.head_dim});
      if (config_.qk_norm) {
        q = norm(q, get(w, Role::kQueryNorm), {});
        k = norm(k, get(w, Role::kKeyNorm), {});
      }
      if (const int rope = config_.layers[i].rope; rope >= 0) {
        const auto& [cos, sin] = rotations[static_cast<std::size_t>(rope)];
        q = rotate(q, cos, sin);
        k = rotate(k, cos, sin);
      }
      kv.k(i).index_copy_(0, slots, k);
      kv.v(i).index_copy_(0, slots, v);
      const Tensor attended =
          kernel ? kernel->attend(q, kv.k(i), kv.v(i), config_, config_.layers[i].window)
                 : attend(q, kv, i, sights);
      h = linear(attended, w, Role::kOutput, Role::kOutputBias);
      if (config_.sandwich_norms) h = norm(h, get(w, Role::kPostAttentionNorm), {});
      x = x + h;
      h = norm(x, get(w, Role::kMlpNorm), get(w, Role::kMlpNormBias));
      if (config_.gated_mlp) {
        h = activate(linear(h, w, Role::kGate, Role::kGateBias)) *
            linear(h, w, Role::kUp, Role::kUpBias);
      } else {
        h = activate(linear(h, w, Role::kUp, Role::kUpBias));
      }
      h = linear(h, w, Role::kDown, Role::kDownBias);
      if (config_.sandwich_norms) h = norm(h, get(w, Role::kPostMlpNorm), {});
      x = x + h;
    }

    features.keep(x, static_cast<std::int32_t>(layers_.size()));
    if (features.wants(kFinalNorm)) features.keep(final_norm(x), kFinalNorm);

    ForwardOutput output;
    output.vocab_size = config_.vocab_size;
    features_ = features.on_host();
    output.features = values_of(features_);
    if (batch.logit_rows.empty()) return output;
    x = final_norm(x.index_select(0, indices(batch.logit_rows)));
    Tensor logits = logits_of(x);
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
  std::vector<RopeTable> ropes_;
  int position_end_ = 0;
  bool use_kernel_ = false;
  LayerWeights whole_;
  std::vector<LayerWeights> layers_;
  Tensor logits_, features_;  // of the last forward, fp32 on the host
  Tensor head_logits_;        // of output_head(), likewise
};

}  // namespace

std::unique_ptr<Model> make_torch_transformer(const formats::WeightSource& source, ModelInfo info,
                                              const LoadOptions& options, TorchAttention attention,
                                              const ProgressSink& progress, std::stop_token stop) {
  return std::make_unique<TorchTransformer>(source, std::move(info), options, attention, progress,
                                            stop);
}

}  // namespace triescope
