#include <array>

#include "app/check/check.h"
#include "app/check/difference.h"
#include "core/base/count_up.h"
#include "core/base/rng.h"
#include "core/base/thread_pool.h"
#include "core/files/random_blocks.h"
#include "core/kernels/activation.h"
#include "core/kernels/cpu_variant.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm.h"
#include "core/kernels/reference.h"
#include "core/kernels/rope.h"
#include "core/kernels/row_ops.h"
#include "core/kernels/tree_attention.h"

namespace triescope::app {
namespace {

using Values = std::vector<float>;
using kernels::PackedLinear;

Values random_values(std::int64_t count, Rng& rng) {
  Values values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(2 * rng.uniform() - 1);
  return values;
}

class KernelChecks {
 public:
  explicit KernelChecks(int threads) : pool_(threads) {}

  std::vector<CheckComparison> run() {
    for (const kernels::CpuVariant variant : kernels::available_variants()) {
      const kernels::ScopedVariant use(variant);
      where_ = kernels::to_string(variant);
      for (const formats::GgmlType type : kernels::PackedLinear::types()) linear(type);
      attention();
      rows();
      logits();
    }
    return std::move(found_);
  }

 private:
  void add(const std::string& what, double apart, double allowed) {
    found_.push_back(
        {.where = where_, .what = what, .difference = apart, .allowed = allowed, .error = ""});
  }

  void linear(formats::GgmlType type) {
    constexpr std::int64_t kOutputs = 77, kInputs = 768;
    const auto stored = formats::random_rows(type, kOutputs, kInputs, rng_);
    PackedLinear packed(std::array{PackedLinear::Part{kOutputs, type}}, kInputs);
    packed.set_stored_rows(0, kOutputs, stored, pool_);
    const Values weights = formats::dequantised(type, stored);
    for (const std::int64_t rows : {1, 5, 20}) {
      const Values x = random_values(rows * kInputs, rng_);
      Values y(static_cast<std::size_t>(rows * kOutputs));
      kernels::linear(packed, x.data(), kInputs, rows, y.data(), kOutputs, pool_);
      add("linear, " + std::string(formats::to_string(type)) + ", " + std::to_string(rows) +
              (rows == 1 ? " row" : " rows"),
          relative_difference(
              y, kernels::linear_ref(weights.data(), nullptr, x.data(), rows, kOutputs, kInputs)),
          1e-5);
    }
  }

  // Five rows over a prefix of 150 slots, three of which share one more.
  void attention() {
    constexpr kernels::AttentionShape kShape{
        .heads = 6, .kv_heads = 2, .head_dim = 64, .scale = 0.125f};
    constexpr std::int64_t kRows = 5, kSlots = 160, kDim = kShape.heads * kShape.head_dim,
                           kKvDim = kShape.kv_heads * kShape.head_dim;
    const Values q = random_values(kRows * kDim, rng_), keys = random_values(kSlots * kKvDim, rng_),
                 values = random_values(kSlots * kKvDim, rng_);
    const auto prefix = count_up(150);
    const std::vector<std::int32_t> own = {150, 150, 151, 150, 152, 150, 153, 154};
    const std::vector<std::int32_t> offsets = {0, 1, 3, 5, 7, 8};
    const kernels::VisibleSlots visible{.prefix = prefix, .own = own, .offsets = offsets};
    Values out(q.size());
    kernels::tree_attention(q.data(), kDim, kRows,
                            {keys.data(), values.data(), kernels::Precision::kF32}, kShape, visible,
                            out.data(), kDim, pool_);
    add("tree attention, 150 slots and a tree of 5 rows",
        relative_difference(
            out, kernels::tree_attention_ref(q.data(), kRows, keys.data(), values.data(), kSlots,
                                             kShape, visible)),
        1e-5);
  }

  void rows() {
    constexpr std::int64_t kRows = 3, kDim = 200;
    const Values x = random_values(kRows * kDim, rng_), weight = random_values(kDim, rng_),
                 bias = random_values(kDim, rng_);
    Values out(x.size());
    kernels::rms_norm(x.data(), kDim, {kRows, kDim}, weight.data(), 1e-5f, false, out.data(), kDim,
                      pool_);
    add("RMS norm",
        relative_difference(
            out, kernels::rms_norm_ref(x.data(), kRows, kDim, weight.data(), 1e-5f, false)),
        2e-6);
    kernels::layer_norm(x.data(), kDim, {kRows, kDim}, weight.data(), bias.data(), 1e-5f,
                        out.data(), kDim, pool_);
    add("layer norm",
        relative_difference(
            out, kernels::layer_norm_ref(x.data(), kRows, kDim, weight.data(), bias.data(), 1e-5f)),
        2e-6);
    const Values up = random_values(kRows * kDim, rng_);
    for (const auto& [kind, name] : {std::pair{kernels::ActivationKind::kSilu, "SiLU"},
                                     std::pair{kernels::ActivationKind::kGeluTanh, "GELU (tanh)"},
                                     std::pair{kernels::ActivationKind::kGelu, "GELU"}}) {
      // One row, with gate and up apart.
      kernels::gated_activation(kind, x.data(), up.data(), kRows * kDim, 1, kRows * kDim,
                                out.data(), kRows * kDim, pool_);
      add(std::string("gated ") + name,
          relative_difference(
              out, kernels::gated_activation_ref(kind, x.data(), up.data(), kRows * kDim)),
          2e-6);
    }
    constexpr int kHeads = 2, kHeadDim = 100;
    const Values cos = random_values(kRows * kHeadDim / 2, rng_),
                 sin = random_values(kRows * kHeadDim / 2, rng_);
    out = x;
    kernels::rope(out.data(), kDim, kRows, kHeads, kHeadDim, kHeadDim, cos.data(), sin.data());
    add("rotary position embedding",
        relative_difference(out, kernels::rope_ref(x.data(), kRows, kHeads, kHeadDim, kHeadDim,
                                                   cos.data(), sin.data())),
        1e-6);
  }

  void logits() {
    Values row = random_values(5003, rng_);
    for (float& v : row) v *= 12;
    Values out(row.size());
    kernels::log_softmax(row, out);
    add("log-softmax",
        relative_difference(out, kernels::log_softmax_ref(row.data(), std::ssize(row))), 1e-6);
    const auto best = kernels::top_k(row, 40),
               expected = kernels::top_k_ref(row.data(), std::ssize(row), 40);
    add("top-k", best == expected ? 0.0 : 1.0, 0);
  }

  ThreadPool pool_;
  Rng rng_{11};
  std::string where_;
  std::vector<CheckComparison> found_;
};

}  // namespace

std::vector<CheckComparison> check_kernels(int threads) {
  return KernelChecks(threads > 0 ? threads : ThreadPool::available_cores()).run();
}

}  // namespace triescope::app
