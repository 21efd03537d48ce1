#include "core/model/torch/torch_layers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/model/layer_route.h"
#include "core/model/torch/checked_layer_ops.h"
#include "core/model/torch/cuda_attention.h"
#include "core/model/torch/kernel_check.h"
#include "core/model/torch/row_bucket.h"
#include "core/model/torch/torch_attention.h"
#include "core/model/torch/torch_per_layer.h"
#include "core/model/torch/torch_runtime.h"
#include "core/model/torch/torch_short_conv.h"

namespace triescope {

using at::Tensor;

TorchLayers::TorchLayers(const formats::ModelConfig& config, const at::TensorOptions& options,
                         LayerSteps steps)
    : config_(config), device_(options.device()), ops_(make_torch_layer_ops(config)) {
  for (const formats::RopeConfig& rope : config.ropes) ropes_.emplace_back(rope);
  if (steps == LayerSteps::kKernels) choose_steps(options);
}

void TorchLayers::choose_steps(const at::TensorOptions& options) {
  const KernelObstacles obstacles = check_layer_kernels(config_, options);
  ops_ = make_checked_layer_ops(config_, obstacles);
  attention_kernel_ = obstacles.attention.empty();
  warning_ = warning_of(obstacles);
}

bool TorchLayers::has_windows() const {
  return std::any_of(config_.layers.begin(), config_.layers.end(),
                     [](const formats::LayerConfig& layer) { return layer.window > 0; });
}

TorchLayerOps::Embedded TorchLayers::embed(const ForwardInputs& in, const TorchMatrix& table,
                                           const Tensor& positions, const TorchNorm& norm,
                                           const MaskBatch& masks) const {
  TorchLayerOps::Embedded all = ops_->embed_norm(table, positions, in, norm);
  if (masks.rows == 0) return all;
  const std::int64_t first = in.tokens.size(0) - masks.rows;
  const std::int64_t vectors = static_cast<std::int64_t>(masks.embeddings.size()) / config_.hidden;
  Tensor x = rows_tensor(masks.embeddings, vectors, all.x.options())
                 .index_select(0, in.tokens.narrow(0, first, masks.rows));
  if (config_.embedding_scale != 1) x = x * at::full({}, config_.embedding_scale, x.options());
  if (positions.defined())
    x = x + positions.index_select(0, in.positions.narrow(0, first, masks.rows));
  all.x.narrow(0, first, masks.rows).copy_(x);
  all.normed = Tensor();  // the first layer takes its norm of the whole stream
  return all;
}

std::unique_ptr<LayerAttention> TorchLayers::attention_of(const Rows& rows, int capacity) const {
  // The kernel has one rule of windows for all rows.
  const bool by_kernel = rows.masks == nullptr || !rows.masks->has_prefix() || !has_windows();
  if (attention_kernel_ && by_kernel)
    return std::make_unique<CudaAttention>(config_, rows.in, rows.visible);
  return std::make_unique<TorchOpsAttention>(config_, rows.visible, rows.in.slots.size(0), capacity,
                                             device_, rows.masks);
}

// Like TorchLayerOps::add_norm; without a norm it returns the stream itself.
Tensor TorchLayers::take_up(Tensor& x, const Tensor& h, const Tensor& post,
                            const TorchNorm& norm) const {
  if (norm.weight.defined()) return ops_->add_norm(x, h, post, norm);
  if (h.defined()) x = x + (post.defined() ? normalise(h, {post, {}}) : h);
  return x;
}

Tensor TorchLayers::branch(const Tensor& x, const TorchLinear& weights) const {
  const Tensor h = linear(x, weights);
  return config_.residual_scale == 1 ? h : h * config_.residual_scale;
}

// In fp32 as query_scale(), then rounded to q's dtype as in transformers.
Tensor TorchLayers::scale_queries(const Tensor& q, const ForwardInputs& in) const {
  const formats::QueryScale& scale = config_.query_scale;
  if (scale.beta == 0) return q;
  const Tensor times = at::floor(in.positions.to(at::kFloat) / scale.every);
  const Tensor factors = at::log(times + 1) * scale.beta + 1;
  return q * factors.view({-1, 1, 1}).to(q.scalar_type());
}

Tensor TorchLayers::run_one(const TorchWeights::Mlp& mlp, const Tensor& normed) const {
  return linear(ops_->activate(linear(normed, mlp.gate_up)), mlp.down);
}

namespace {

// ids and weights: [rows, used] on the host, by weight.
void note_experts(std::int32_t layer, const Tensor& ids, const Tensor& weights,
                  ExpertNotes& notes) {
  const auto [sorted, order] = ids.sort(-1);
  const Tensor of_sorted = weights.gather(1, order).contiguous(), numbers = sorted.contiguous();
  std::vector<kernels::ChosenExpert> chosen(static_cast<std::size_t>(ids.numel()));
  for (std::size_t i = 0; i < chosen.size(); ++i)
    chosen[i] = {static_cast<std::int32_t>(numbers.const_data_ptr<std::int64_t>()[i]),
                 of_sorted.const_data_ptr<float>()[i]};
  notes.add(layer, 0, chosen);
}

}  // namespace

Tensor TorchLayers::router_input(const TorchWeights::Layer& layer, const Tensor& stream) const {
  const Tensor scaled = rms_scaled(stream.to(at::kFloat), config_.norm_eps).to(stream.dtype());
  return scaled * layer.router_scale.to(stream.dtype()) /
         std::sqrt(static_cast<double>(config_.hidden));
}

// As CpuExperts: rows that chose an expert go through it together, experts by ascending index.
Tensor TorchLayers::run_experts(const TorchWeights::Layer& layer, std::int32_t index,
                                const Tensor& normed, const Tensor& stream,
                                ExpertNotes* notes) const {
  const formats::ExpertsConfig& experts = config_.experts;
  const Tensor ranked = layer.router_scale.defined() ? router_input(layer, stream) : normed;
  const Tensor in =
      layer.experts_norm.weight.defined() ? normalise(stream, layer.experts_norm) : normed;
  const Tensor logits = linear(ranked, layer.router).to(at::kFloat);
  const Tensor scores = experts.sigmoid ? at::sigmoid(logits) : at::softmax(logits, -1);
  const Tensor& bias = layer.selection_bias;
  auto [weights, ids] = at::topk(bias.defined() ? scores + bias : scores, experts.used, -1);
  if (bias.defined()) weights = scores.gather(1, ids);
  if (experts.normalise) weights = weights / (weights.sum(-1, true) + experts.sum_offset);
  weights = weights * experts.scale;
  if (layer.expert_scale.defined()) weights = weights * layer.expert_scale.index({ids});
  weights = weights.to(normed.scalar_type());
  // One copy from the device: a number of an expert is exact as a float.
  const Tensor both = at::cat({ids.to(at::kFloat), weights.to(at::kFloat)}, 1).to(at::kCPU);
  const Tensor host = both.narrow(1, 0, experts.used).to(at::kLong);
  if (notes != nullptr)
    note_experts(index, host, both.narrow(1, experts.used, experts.used), *notes);
  Tensor sum = at::zeros(normed.sizes(), normed.options());
  for (std::int64_t expert = 0; expert < scores.size(1); ++expert) {
    const Tensor places = host.eq(expert).nonzero();  // [visits, 2]: row, rank
    if (places.size(0) == 0) continue;
    const Tensor rows = places.select(1, 0).to(normed.device());
    const Tensor ranks = places.select(1, 1).to(normed.device());
    const Tensor weight = weights.index({rows, ranks}).unsqueeze(1);
    const TorchWeights::Mlp& mlp = layer.mlps[static_cast<std::size_t>(expert)];
    sum.index_add_(0, rows, run_one(mlp, select_bucket_rows(in, rows)) * weight);
  }
  sum = normalise(sum, layer.post_experts_norm);
  if (static_cast<std::int64_t>(layer.mlps.size()) == scores.size(1)) return sum;
  const Tensor shared = normalise(run_one(layer.mlps.back(), normed), layer.post_shared_norm);
  if (!layer.shared_gate.matrix.defined()) return sum + shared;
  return sum + at::sigmoid(linear(normed, layer.shared_gate)) * shared;
}

Tensor TorchLayers::run_mlp(const TorchWeights::Layer& layer, std::int32_t index,
                            const Tensor& normed, const Tensor& stream, ExpertNotes* notes) const {
  const Tensor h = layer.router.matrix.defined() ? run_experts(layer, index, normed, stream, notes)
                                                 : run_one(layer.mlps.front(), normed);
  return config_.residual_scale == 1 ? h : h * config_.residual_scale;
}

Tensor TorchLayers::normalise(const Tensor& x, const TorchNorm& norm) const {
  Tensor stream = x;
  return take_up(stream, {}, {}, norm);
}

Tensor TorchLayers::project(const ForwardInputs& in, std::size_t i, std::size_t stored,
                            const TorchWeights::Layer& layer, const Tensor& normed,
                            TorchKv& kv) const {
  const int rope = config_.layers[i].rope;
  const auto* rotation = rope >= 0 ? &in.rotations[static_cast<std::size_t>(rope)] : nullptr;
  return scale_queries(ops_->split_qkv(linear(normed, layer.qkv), config_.heads_of(i), layer,
                                       rotation, in.slots, kv.k(stored), kv.v(stored)),
                       in);
}

void TorchLayers::store_context(const ForwardInputs& in, const Tensor& context,
                                std::span<const TorchWeights::Layer> weights, TorchKv& kv,
                                const std::stop_token& stop) const {
  for (const RouteStep& step : layer_route(config_, {}, kv.layers())) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
    project(in, step.layer, step.stored, weights[step.layer], context, kv);
  }
}

void TorchLayers::finish_layer(const Rows& rows, std::size_t i, const TorchWeights::Layer& layer,
                               Tensor& x, Tensor& h, const Tensor& post) const {
  if (!rows.per_layer.defined() && !layer.scale.defined()) return;
  take_up(x, h, post, {});
  h = Tensor();
  if (rows.per_layer.defined())
    x = x +
        per_layer_branch(config_, layer, rows.per_layer.select(1, static_cast<std::int64_t>(i)), x);
  if (layer.scale.defined()) x = x * layer.scale.to(x.scalar_type());
}

Tensor TorchLayers::run(const Rows& rows, std::span<const TorchWeights::Layer> weights,
                        const TorchNorm& final_norm, Tensor x, TorchKv& kv, TorchFeatures& features,
                        const std::stop_token& stop) const {
  const ForwardInputs& in = rows.in;
  const std::unique_ptr<LayerAttention> attention = attention_of(rows, kv.capacity());
  const std::optional<TorchShortConv> conv =
      config_.most_taps() > 0
          ? std::optional(TorchShortConv(config_, rows.visible, in.slots.size(0), device_))
          : std::nullopt;
  // The previous branch's result, and the norm through which it goes before it is added.
  Tensor h, post;
  Tensor first_input = rows.first_input;
  for (const RouteStep& step : layer_route(config_, rows.sublayers, kv.layers())) {
    const std::size_t i = step.layer;
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "forward was cancelled");
    const TorchWeights::Layer& w = weights[i];
    // The norm of the stream with the previous branch; at the first part that runs, both are done.
    const auto next_input = [&](const TorchNorm& norm) {
      if (first_input.defined()) return std::exchange(first_input, {});
      const Tensor normed = take_up(x, h, post, norm);
      h = post = Tensor();
      return normed;
    };
    Tensor normed;
    if (step.stores || config_.shared_norm) normed = next_input(w.attention_norm);
    features.keep(x, static_cast<std::int32_t>(i));
    const int window = config_.layers[i].window;
    const bool convolves = config_.layers[i].taps > 0;
    Tensor mixed;  // q, then what attention gives; or what the convolution gives
    if (step.stores)
      mixed = convolves ? conv->run(w, linear(normed, w.qkv), in.slots, kv.k(step.stored))
                        : project(in, i, step.stored, w, normed, kv);
    if (step.attends) {
      if (!convolves)
        mixed = attention->attend(mixed, kv.k(step.stored), kv.v(step.stored), window, w.sinks);
      h = branch(mixed, w.output);
      post = w.post_attention_norm;
    }
    if (!step.mlp) continue;
    if (config_.parallel_residual && step.attends) {
      h = h + run_mlp(w, static_cast<std::int32_t>(i),
                      config_.shared_norm ? normed : normalise(x, w.mlp_norm), x, rows.experts);
      continue;
    }
    if (!normed.defined() || !config_.shared_norm) normed = next_input(w.mlp_norm);
    h = run_mlp(w, static_cast<std::int32_t>(i), normed, x, rows.experts);
    post = w.post_mlp_norm;
    finish_layer(rows, i, w, x, h, post);
  }
  Tensor normed = take_up(x, h, post, final_norm);
  features.keep(x, static_cast<std::int32_t>(weights.size()));
  features.keep(normed, kFinalNorm);
  return normed;
}

}  // namespace triescope
