#include "core/kernels/cuda_cases/kernel_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/files/random_blocks.h"
#include "core/kernels/cuda_cases/kernel_inputs.h"
#include "core/kernels/cuda_cases/random_inputs.h"
#include "core/kernels/linear.h"

namespace triescope::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double in_allowed(const Agreement& a) {
  if (!a.unequal.empty()) return kInfinity;
  return a.off == 0 ? 0 : a.allowed > 0 ? a.off / a.allowed : kInfinity;
}

}  // namespace

std::string Agreement::problem() const {
  if (holds()) return "";
  if (!unequal.empty()) return unequal;
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(),
                "a result of the kernel is off by %.1e, and %.1e is allowed", off, allowed);
  return text.data();
}

Agreement agreement(const Floats& found, const Floats& expected, double fraction, double least) {
  Agreement worst;
  worst.allowed = least;
  if (found.size() != expected.size()) worst.unequal = "the kernel's results have another size";
  for (std::size_t i = 0; i < found.size() && i < expected.size(); ++i) {
    const double want = static_cast<double>(expected[i]), magnitude = std::fabs(want);
    // Where both are the same infinity, nothing is apart.
    const double apart =
        found[i] == expected[i] ? 0 : std::fabs(static_cast<double>(found[i]) - want);
    const Agreement one{.off = std::isnan(apart) ? kInfinity : apart,
                        .allowed = std::max(magnitude * fraction, least),
                        .unequal = ""};
    worst.largest = std::max(worst.largest, magnitude);
    if (in_allowed(one) > in_allowed(worst)) {
      worst.off = one.off;
      worst.allowed = one.allowed;
    }
  }
  return worst;
}

Agreement worse(Agreement a, Agreement b) { return in_allowed(b) > in_allowed(a) ? b : a; }

double relative_rounding(int dtype, double fp32) {
  return dtype == kTriescopeF32 ? fp32 : dtype == kTriescopeF16 ? 0x1p-10 : 0x1p-7;
}

std::vector<formats::GgmlType> kernel_block_types() {
  std::vector<formats::GgmlType> types;
  for (const formats::GgmlType type : PackedLinear::types())
    if (formats::block_elements(type) > 1 && type != formats::GgmlType::kMXFP4 &&
        type != formats::GgmlType::kNVFP4)
      types.push_back(type);
  return types;
}

std::vector<KernelCase> layer_cases(const LayerShapes& shapes, int dtype, Rng& rng) {
  using Branch = LayerShapes::Branch;
  std::vector<KernelCase> cases;
  for (const bool layer : shapes.layer_norms)
    for (const Branch branch : shapes.branches) {
      AddNormInputs norm =
          AddNormInputs::random(shapes.rows, shapes.hidden, dtype, layer, branch != Branch::kNone,
                                branch == Branch::kNormedAndAdded, rng);
      norm.eps = shapes.eps;
      cases.push_back(kernel_case(std::move(norm)));
    }
  std::vector<int> tables = {-1};
  for (const formats::GgmlType type : shapes.embeddings)
    if (shapes.hidden % formats::block_elements(type) == 0)
      tables.push_back(static_cast<int>(type));
  for (const int type : tables) {
    EmbedNormInputs embed =
        EmbedNormInputs::random(shapes.hidden, dtype, type, shapes.layer_norms.front(),
                                shapes.learned_positions, shapes.embedding_scale, rng);
    embed.eps = shapes.eps;
    cases.push_back(kernel_case(std::move(embed)));
  }
  for (const int dims : shapes.rope_dims) {
    SplitQkvInputs split =
        SplitQkvInputs::random(shapes.rows, shapes.heads, shapes.kv_heads, shapes.head_dim, dims,
                               shapes.qk_norm, dtype, rng);
    split.eps = shapes.eps;
    cases.push_back(kernel_case(std::move(split)));
  }
  for (const int kind : shapes.activations)
    cases.push_back(kernel_case(ActivationInputs::random(shapes.rows, shapes.intermediate,
                                                         shapes.gated, kind, dtype, rng)));
  for (const int window : shapes.windows)
    for (const int prefix : {shapes.prefix, 0}) {
      if (prefix == 0 && !shapes.prefill) continue;
      AttentionInputs attention = AttentionInputs::random({.heads = shapes.heads,
                                                           .kv_heads = shapes.kv_heads,
                                                           .head_dim = shapes.head_dim,
                                                           .scale = shapes.attention_scale,
                                                           .softcap = shapes.softcap,
                                                           .window = window},
                                                          shapes.rows, prefix, dtype, rng);
      // As in the product for q, k and v.
      attention.apart = 2 * shapes.kv_heads * shapes.head_dim;
      cases.push_back(kernel_case(std::move(attention)));
    }
  return cases;
}

std::vector<KernelCase> matrix_cases(formats::GgmlType type, int outputs, int inputs, int dtype,
                                     int y_dtype, std::span<const int> rows, Rng& rng) {
  const std::vector<std::byte> stored = formats::random_rows(type, outputs, inputs, rng);
  std::vector<KernelCase> cases;
  if (formats::block_elements(type) > 1)
    cases.push_back(kernel_case(BlockRowsInputs{
        .type = type, .rows = outputs, .inputs = inputs, .dtype = dtype, .stored = stored}));
  for (const int count : rows)
    cases.push_back(kernel_case(BlockLinearInputs::random(type, stored, outputs, inputs, count,
                                                          dtype, y_dtype, false, rng)));
  return cases;
}

std::vector<KernelCase> logit_cases(int rows, int vocab, int best, Rng& rng) {
  RowSummaryInputs logits{.rows = rows, .count = vocab, .k = best, .stride = vocab, .x = {}};
  logits.x = in_dtype(random_values(std::int64_t{rows} * vocab, rng, 4.0f), kTriescopeBF16);
  std::vector<KernelCase> cases;
  for (const auto part : {RowSummaryInputs::Part::kLogSum, RowSummaryInputs::Part::kBest}) {
    logits.compared = part;
    cases.push_back(kernel_case(logits));
  }
  return cases;
}

}  // namespace triescope::kernels
