#include "core/model/torch/kernel_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/files/random_blocks.h"
#include "core/kernels/cuda_module.h"
#include "core/kernels/linear.h"
#include "core/model/torch/cuda_attention.h"
#include "core/model/torch/cuda_launch.h"
#include "core/model/torch/row_summary.h"
#include "core/model/torch/torch_attention.h"
#include "core/model/torch/torch_layer_ops.h"
#include "core/model/torch/torch_matrix.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {
namespace {

using at::Tensor;
using formats::GgmlType;
using formats::ModelConfig;

constexpr std::int64_t kRows = 3;
constexpr std::int32_t kPrefix = 140;  // more than one partition of the attention (128 slots)

// A result is right within `part` of the expected value, or within `least`.
struct Tolerance {
  double part = 0, least = 0;
};

// Twice what the kernels' contracts allow, because the reference has an error too. For numbers
// about 1.
Tolerance tolerance_of(at::ScalarType dtype, double least) {
  if (dtype == at::kFloat) return {2e-5, 2e-5};
  return {dtype == at::kHalf ? 0x1p-8 : 0x1p-5, least};
}

Tensor on_host(const Tensor& tensor) { return tensor.to(at::kCPU).to(at::kDouble); }

// "" if every number is right, else how wrong the worst one is. bound: by element.
std::string disagreement(const Tensor& found, const Tensor& expected, const Tensor& bound) {
  const Tensor apart = (on_host(found) - expected).abs();
  const Tensor excess = (apart - bound).flatten();
  if (at::all(excess <= 0).item<bool>()) return "";  // false if one is NaN
  const Tensor worst = at::argmax(at::nan_to_num(excess, HUGE_VAL));
  const auto at_worst = [&](const Tensor& values) {
    return values.expand_as(apart).flatten().index_select(0, worst.flatten()).item<double>();
  };
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(),
                "a result of the kernel is off by %.1e, and %.1e is allowed", at_worst(apart),
                at_worst(bound));
  return text.data();
}

std::string disagreement(const Tensor& found, const Tensor& expected, Tolerance allowed) {
  const Tensor want = on_host(expected);
  return disagreement(found, want, (want.abs() * allowed.part).clamp_min(allowed.least));
}

// The problem that `check` reports; if a launch was refused, the driver's reason.
std::string obstacle_of(const at::TensorOptions& options,
                        const std::function<std::string()>& check) {
  try {
    const std::string found = check();
    return found.empty() ? "" : "on " + options.device().str() + " " + found;
  } catch (const LaunchError& error) {
    return "the kernel cannot be launched on " + options.device().str() + ": " + error.reason();
  }
}

class LayerCheck {
 public:
  LayerCheck(const ModelConfig& config, const at::TensorOptions& options)
      : config_(config),
        options_(options),
        dtype_(c10::typeMetaToScalarType(options.dtype())),
        generator_(at::globalContext().defaultGenerator(at::kCPU).clone()) {
    generator_.set_current_seed(17);
  }

  // Checks a dense embedding, then one in blocks of every type that has such rows.
  std::string embed_norm() {
    constexpr std::int64_t kVocab = 5;
    const std::vector<std::int32_t> tokens = {4, 0, 2}, positions = {1, 0, 2}, none;
    ForwardBatch batch;
    batch.tokens = tokens;
    batch.positions = batch.slots = positions;
    StagingBuffer staging;
    const ForwardInputs in(batch, {none, positions, none}, {}, options_.device(), staging);
    const Tensor added = config_.learned_positions ? random({kRows, config_.hidden}) : Tensor();
    const TorchNorm norm = random_norm();
    TorchMatrix dense(std::array{TorchMatrix::Part{kVocab, std::nullopt}}, config_.hidden,
                      options_);
    const auto check = [&](const TorchMatrix& table) -> std::string {
      const auto found = cuda_->embed_norm(table, added, in, norm);
      const auto expected = torch_->embed_norm(dense, added, in, norm);
      std::string why = disagreement(found.x, expected.x, tolerance_of(dtype_, near_one()));
      if (why.empty())
        why = disagreement(found.normed, expected.normed, tolerance_of(dtype_, near_one()));
      return why;
    };
    dense.set_rows(0, random_fp32({kVocab, config_.hidden}).to(at::kCPU));
    if (std::string why = check(dense); !why.empty()) return why;
    if (!TorchMatrix::block_obstacle().empty()) return "";
    Rng rng(23);
    for (const GgmlType type : kernels::PackedLinear::types()) {
      const std::int64_t values = formats::block_elements(type);
      if (values == 1 || config_.hidden % values != 0) continue;
      TorchMatrix blocks(std::array{TorchMatrix::Part{kVocab, type}}, config_.hidden, options_);
      const auto stored = formats::random_rows(type, kVocab, config_.hidden, rng);
      blocks.set_stored_rows(0, kVocab, stored);
      dense.set_rows(0, at::tensor(formats::dequantised(type, stored)).reshape({kVocab, -1}));
      if (std::string why = check(blocks); !why.empty()) return why;
    }
    return "";
  }

  // norm(x) * weight + bias, alone, after x += h, and after x += norm(h) * post.
  std::string add_norm() {
    const Tensor h = random({kRows, config_.hidden});
    const Tensor post = config_.post_norms ? random_fp32({config_.hidden}) : Tensor();
    const TorchNorm norm = random_norm();
    for (const auto& [branch, after] : {std::pair{Tensor(), Tensor()}, {h, Tensor()}, {h, post}}) {
      Tensor x = random({kRows, config_.hidden});
      Tensor expected_x = x.clone();
      const Tensor found = cuda_->add_norm(x, branch, after, norm);
      torch_->add_norm(expected_x, branch, after, norm);
      // The expected values start from the stream that the kernel left: it may have rounded norm(h)
      // * post the other way.
      Tensor left = x.clone();
      const Tensor expected = torch_->add_norm(left, {}, {}, norm);
      std::string why = disagreement(x, expected_x, tolerance_of(dtype_, near_one()));
      if (why.empty()) why = disagreement(found, expected, tolerance_of(dtype_, near_one()));
      if (!why.empty()) return why;
    }
    return "";
  }

  std::string split_qkv() {
    // A norm that is rounded the other way moves both values of a pair.
    const bool normed = config_.qk_norm != formats::QkNorm::kNone;
    const double least = normed ? 8 * near_one() : 1e-5;
    std::set<int> rope_dims;
    for (const formats::LayerConfig& layer : config_.layers)
      rope_dims.insert(layer.rope < 0 ? 0
                                      : config_.ropes[static_cast<std::size_t>(layer.rope)].dims);
    for (const int dims : rope_dims) {
      TorchWeights::Layer layer = {};
      if (normed) {
        layer.query_norm = random_fp32({config_.head_dim});
        layer.key_norm = random_fp32({config_.head_dim});
      }
      const ForwardInputs::Rotation rotation = {random_fp32({kRows, dims / 2}),
                                                random_fp32({kRows, dims / 2})};
      const Tensor qkv = random({kRows, config_.query_dims() + 2 * config_.kv_dims()});
      const Tensor slots = at::tensor({4, 0, 2}, at::kInt).to(options_.device());
      const Tensor empty = random({kRows + 2, config_.kv_heads, config_.head_dim});
      std::array<Tensor, 3> found, expected;
      for (const bool kernel : {true, false}) {
        auto& [q, k, v] = kernel ? found : expected;
        k = empty.clone();
        v = empty.clone();
        q = (kernel ? cuda_ : torch_)
                ->split_qkv(qkv.clone(), layer, dims > 0 ? &rotation : nullptr, slots, k, v);
      }
      for (std::size_t i = 0; i < found.size(); ++i)
        if (std::string why = disagreement(found[i], expected[i], tolerance_of(dtype_, least));
            !why.empty())
          return why;
    }
    return "";
  }

  std::string activation() {
    const Tensor in = random({kRows, (config_.gated_mlp ? 2 : 1) * config_.intermediate}) * 2;
    return disagreement(cuda_->activate(in), torch_->activate(in),
                        tolerance_of(dtype_, near_one()));
  }

  // Checks rows of a tree after a prefix, then rows of a prefill, with every window of the layers.
  std::string attention() {
    ModelConfig config = config_;
    std::set<int> windows;
    for (formats::LayerConfig& layer : config.layers) {
      layer.window = std::min(layer.window, kPrefix - 9);
      windows.insert(layer.window);
    }
    constexpr std::int32_t kSlots = kPrefix + 4;
    std::vector<std::int32_t> slots(kSlots);
    std::iota(slots.begin(), slots.end(), 0);
    const std::vector<std::int32_t> own = {kPrefix, kPrefix,     kPrefix + 1,
                                           kPrefix, kPrefix + 2, kPrefix + 3},
                                    offsets = {0, 1, 3, 6};
    const VisibleSlots tree{std::span(slots).first(kPrefix), own, offsets};
    const VisibleSlots prefill{{}, std::span(slots).first(kRows), {}};
    const Tensor keys = random({kSlots, config.kv_heads, config.head_dim}),
                 values = random({kSlots, config.kv_heads, config.head_dim});
    for (const VisibleSlots& visible : {tree, prefill}) {
      const ForwardInputs inputs = inputs_of(visible);
      // The rows lie apart, as in the product for q, k and v.
      const Tensor q = random({kRows, config.heads + 2 * config.kv_heads, config.head_dim})
                           .narrow(1, 0, config.heads);
      const CudaAttention kernel(config, inputs, visible);
      const TorchOpsAttention reference(config, visible, kRows, kSlots, options_.device());
      const double largest = values.abs().max().to(at::kFloat).item<float>();
      const double share = dtype_ == at::kFloat ? 4e-5 : dtype_ == at::kHalf ? 2e-3 : 1.6e-2;
      for (const int window : windows) {
        const Tensor found = kernel.attend(q, keys, values, window);
        // The reference is fp32 from the same rounded numbers: libtorch's 16-bit operations would
        // round scores too.
        const Tensor expected =
            reference.attend(q.to(at::kFloat), keys.to(at::kFloat), values.to(at::kFloat), window);
        if (std::string why = disagreement(found, expected, Tolerance{0, share * largest});
            !why.empty())
          return why;
      }
    }
    return "";
  }

 private:
  // The error of sums and products of numbers about 1 after a few roundings.
  double near_one() const { return dtype_ == at::kHalf ? 0x1p-8 : 0x1p-5; }
  Tensor random_fp32(at::IntArrayRef shape) {
    return at::randn(shape, generator_, at::kFloat).to(options_.device());
  }
  Tensor random(at::IntArrayRef shape) { return random_fp32(shape).to(options_.dtype()); }

  TorchNorm random_norm() {
    const bool has_bias = config_.norm == formats::NormKind::kLayer && config_.norm_bias;
    return {random_fp32({config_.hidden}), has_bias ? random_fp32({config_.hidden}) : Tensor()};
  }

  ForwardInputs inputs_of(const VisibleSlots& visible) const {
    static constexpr std::array<std::int32_t, kRows> kNone{};
    ForwardBatch batch;
    batch.tokens = batch.positions = batch.slots = kNone;
    StagingBuffer staging;
    return {batch, visible, {}, options_.device(), staging};
  }

  const ModelConfig& config_;
  const at::TensorOptions options_;
  const at::ScalarType dtype_;
  at::Generator generator_;
  const std::unique_ptr<TorchLayerOps> cuda_ = make_cuda_layer_ops(config_),
                                       torch_ = make_torch_layer_ops(config_);
};

}  // namespace

KernelObstacles check_layer_kernels(const ModelConfig& config, const at::TensorOptions& options) {
  KernelObstacles found;
  found.activation = kernels::cuda_module().reason;
  found.embed_norm = found.add_norm = cuda_norm_obstacle(config);
  found.split_qkv = cuda_layer_obstacle(config);
  found.attention = CudaAttention::obstacle(config);
  on_device(options.device(), [&] {
    LayerCheck check(config, options);
    const auto look = [&](std::string& obstacle, std::string (LayerCheck::*run)()) {
      if (obstacle.empty()) obstacle = obstacle_of(options, [&] { return (check.*run)(); });
    };
    look(found.embed_norm, &LayerCheck::embed_norm);
    look(found.add_norm, &LayerCheck::add_norm);
    look(found.split_qkv, &LayerCheck::split_qkv);
    look(found.activation, &LayerCheck::activation);
    look(found.attention, &LayerCheck::attention);
  });
  return found;
}

namespace {

constexpr std::int64_t kOutputs = 9;

// Checks each number of rows for which a kernel exists, in one pass over the weights [kOutputs,
// inputs].
std::string check_products(const TorchMatrix& matrix, const Tensor& weights, Rng& rng) {
  const Tensor wide = weights.to(at::kDouble);
  for (const std::int64_t rows : {1, 3, 6, 16}) {
    Tensor x = at::empty({rows, matrix.inputs()}, at::kFloat);
    for (float& v : std::span(x.mutable_data_ptr<float>(), static_cast<std::size_t>(x.numel())))
      v = static_cast<float>(2 * rng.uniform() - 1);
    x = x.to(matrix.options().dtype());
    const Tensor rounded = x.to(at::kDouble);
    const Tensor bound = at::matmul(rounded.abs(), wide.abs().t()) * 1e-6;
    if (std::string why =
            disagreement(matrix.product(x.to(matrix.options().device()), {}, at::kFloat),
                         at::matmul(rounded, wide.t()), bound);
        !why.empty())
      return why;
  }
  return "";
}

}  // namespace

std::string check_block_kernels(GgmlType type, std::int64_t inputs,
                                const at::TensorOptions& options) {
  if (std::string why = TorchMatrix::block_obstacle(); !why.empty()) return why;
  std::string found;
  on_device(options.device(), [&] {
    Rng rng(19);
    TorchMatrix matrix(std::array{TorchMatrix::Part{kOutputs, type}}, inputs, options);
    const auto stored = formats::random_rows(type, kOutputs, inputs, rng);
    matrix.set_stored_rows(0, kOutputs, stored);
    const Tensor weights = at::tensor(formats::dequantised(type, stored)).reshape({kOutputs, -1});
    found = obstacle_of(options, [&]() -> std::string {
      const Tensor ids = at::arange(kOutputs, at::kInt).to(options.device());
      if (!at::equal(matrix.rows(ids).to(at::kCPU), weights.to(options.dtype())))
        return "the kernel's weights are not the bits of the file's";
      return check_products(matrix, weights, rng);
    });
  });
  return found;
}

std::string check_dense_kernel(std::int64_t inputs, const at::TensorOptions& options) {
  if (std::string why = TorchMatrix::block_obstacle(); !why.empty()) return why;
  if (options.dtype() == at::kFloat) return "fp32 is not rounded";
  if (inputs % 8 != 0)
    return "the kernel takes a multiple of 8 inputs, and this model is " + std::to_string(inputs) +
           " wide";
  std::string found;
  on_device(options.device(), [&] {
    Rng rng(23);
    TorchMatrix matrix(std::array{TorchMatrix::Part{kOutputs, std::nullopt}}, inputs, options);
    const GgmlType type = options.dtype() == at::kHalf ? GgmlType::kF16 : GgmlType::kBF16;
    const auto stored = formats::random_rows(type, kOutputs, inputs, rng);
    matrix.set_plain_rows(0, kOutputs, type, stored);
    matrix.give_fp32();
    const Tensor weights = at::tensor(formats::dequantised(type, stored)).reshape({kOutputs, -1});
    found = obstacle_of(options, [&] { return check_products(matrix, weights, rng); });
  });
  return found;
}

std::string check_row_summary(std::int64_t vocab, const at::TensorOptions& options) {
  if (!kernels::cuda_module().available()) return kernels::cuda_module().reason;
  if (vocab > kTriescopeRowSummaryTokens)
    return "the kernel takes rows of at most " + std::to_string(kTriescopeRowSummaryTokens) +
           " tokens, and this vocabulary has " + std::to_string(vocab);
  const int best = static_cast<int>(std::min<std::int64_t>(vocab, kTriescopeRowSummaryBest));
  std::string found;
  on_device(options.device(), [&] {
    at::Generator generator = at::globalContext().defaultGenerator(at::kCPU).clone();
    generator.set_current_seed(29);
    // The logits are rounded like a model's in bf16, so that many are equal.
    const Tensor logits = at::randn({kRows, vocab}, generator, at::kFloat)
                              .to(options.device(), at::kBFloat16)
                              .to(at::kFloat);
    found = obstacle_of(options, [&]() -> std::string {
      const RowSummaries rows = summarise_rows(logits, best);
      if (std::string why =
              disagreement(rows.log_sum, at::logsumexp(logits.to(at::kDouble), 1), {1e-5, 1e-5});
          !why.empty())
        return why;
      // topk() does not define the order of equal values.
      const auto [values, tokens] = at::sort(logits, /*stable=*/true, 1, /*descending=*/true);
      if (!at::equal(rows.values, values.narrow(1, 0, best)) ||
          !at::equal(rows.tokens, tokens.narrow(1, 0, best).to(at::kInt)))
        return "the kernel's best tokens are not those that sorting finds";
      return "";
    });
  });
  return found;
}

}  // namespace triescope
