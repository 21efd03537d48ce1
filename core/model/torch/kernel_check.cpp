#include "core/model/torch/kernel_check.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "core/kernels/cuda_cases/kernel_case.h"
#include "core/kernels/cuda_module.h"
#include "core/model/block_types.h"
#include "core/model/torch/cuda_attention.h"
#include "core/model/torch/cuda_launch.h"
#include "core/model/torch/torch_layer_ops.h"
#include "core/model/torch/torch_matrix.h"
#include "core/model/torch/torch_runtime.h"

namespace triescope {
namespace {

using formats::GgmlType;
using formats::ModelConfig;
using kernels::KernelCase;
using kernels::KernelStep;

constexpr int kRows = 3;
constexpr int kPrefix = 140;  // more than one partition of the attention (128 slots)
constexpr int kOutputs = 9;   // of a matrix
// Each number of rows for which a product's kernel exists, in one pass over the weights.
constexpr std::array kProductRows = {1, 3, 6, 16};

// Runs the cases on the current device, which `options` names. "" if every result is right, else
// the first problem: a launch that was refused, with the driver's reason, or a wrong result.
// Error{kOutOfMemory}: the device has no memory for one, which says nothing about the kernel.
std::string first_problem(const std::vector<KernelCase>& cases, const at::TensorOptions& options) {
  const kernels::CudaModule& module = kernels::cuda_module();
  for (const KernelCase& one : cases) {
    kernels::CudaArrays arrays(module);
    const kernels::PlacedCase placed = one.place(arrays, module);
    try {
      check_launch(placed.launch(), one.what.c_str(), options.device());
    } catch (const LaunchError& error) {
      return "the kernel cannot be launched on " + options.device().str() + ": " + error.reason();
    }
    if (const std::string problem = placed.compare().problem(); !problem.empty())
      return "on " + options.device().str() + " " + problem;
  }
  return "";
}

// What the layers of the model run: its own shapes, over a few rows and a short text.
kernels::LayerShapes shapes_of(const ModelConfig& config) {
  using Branch = kernels::LayerShapes::Branch;
  kernels::LayerShapes shapes;
  shapes.rows = kRows;
  shapes.hidden = static_cast<int>(config.hidden);
  const auto mixture = std::ranges::find_if(
      config.layers, [](const formats::LayerConfig& layer) { return layer.experts > 0; });
  shapes.intermediate =
      mixture == config.layers.end()
          ? config.intermediate
          : config.intermediate_of(static_cast<int>(mixture - config.layers.begin()), 0);
  shapes.layer_norms = {config.norm == formats::NormKind::kLayer};
  shapes.branches = {Branch::kNone, Branch::kAdded};
  if (config.post_norms) shapes.branches.push_back(Branch::kNormedAndAdded);
  shapes.eps = config.norm_eps;
  shapes.embeddings = kernels::kernel_block_types();
  shapes.learned_positions = config.learned_positions;
  shapes.embedding_scale = config.embedding_scale;
  shapes.heads = config.heads;
  shapes.kv_heads = config.kv_heads;
  shapes.head_dim = config.widest_head();
  shapes.qk_norm = config.qk_norm != formats::QkNorm::kNone;
  std::set<int> rope_dims, windows;
  for (const formats::LayerConfig& layer : config.layers) {
    rope_dims.insert(layer.rope < 0 ? 0 : config.ropes[static_cast<std::size_t>(layer.rope)].dims);
    windows.insert(std::min(layer.window, kPrefix - 9));
  }
  shapes.rope_dims.assign(rope_dims.begin(), rope_dims.end());
  shapes.windows.assign(windows.begin(), windows.end());
  shapes.attention_scale = config.attention_scale;
  shapes.softcap = config.attention_softcap;
  shapes.prefix = kPrefix;
  shapes.prefill = true;
  shapes.activations = {kernel_activation(config.activation)};
  shapes.gated = config.gated_mlp;
  return shapes;
}

}  // namespace

KernelObstacles check_layer_kernels(const ModelConfig& config, const at::TensorOptions& options) {
  KernelObstacles found;
  found.activation = config.activation == formats::Activation::kClampedSwiglu
                         ? "the kernel does not know this model's activation"
                         : kernels::cuda_module().reason;
  found.embed_norm = found.add_norm = cuda_norm_obstacle(config);
  found.split_qkv = cuda_layer_obstacle(config);
  found.attention = CudaAttention::obstacle(config);
  if (!kernels::cuda_module().available()) return found;
  on_device(options.device(), [&] {
    Rng rng(17);
    const auto all = kernels::layer_cases(
        shapes_of(config), kernel_dtype(c10::typeMetaToScalarType(options.dtype())), rng);
    const auto look = [&](std::string& obstacle, KernelStep step) {
      if (!obstacle.empty()) return;
      std::vector<KernelCase> cases;
      std::ranges::copy_if(all, std::back_inserter(cases),
                           [&](const KernelCase& one) { return one.step == step; });
      obstacle = first_problem(cases, options);
    };
    look(found.embed_norm, KernelStep::kEmbedNorm);
    look(found.add_norm, KernelStep::kAddNorm);
    look(found.split_qkv, KernelStep::kSplitQkv);
    look(found.activation, KernelStep::kActivation);
    look(found.attention, KernelStep::kAttention);
  });
  return found;
}

std::string check_block_kernels(GgmlType type, std::int64_t inputs,
                                const at::TensorOptions& options) {
  if (std::string why = TorchMatrix::block_obstacle(); !why.empty()) return why;
  if (formats::block_elements(type) > 1 && !computes_from_blocks(type, true))
    return "no kernel of a GPU computes from blocks of type " + formats::to_string(type);
  std::string found;
  on_device(options.device(), [&] {
    Rng rng(19);
    found = first_problem(
        kernels::matrix_cases(type, kOutputs, static_cast<int>(inputs),
                              kernel_dtype(c10::typeMetaToScalarType(options.dtype())),
                              kTriescopeF32, kProductRows, rng),
        options);
  });
  return found;
}

std::string check_dense_kernel(std::int64_t inputs, const at::TensorOptions& options) {
  if (std::string why = TorchMatrix::block_obstacle(); !why.empty()) return why;
  if (options.dtype() == at::kFloat) return "fp32 is not rounded";
  if (inputs % 8 != 0)
    return "the kernel takes a multiple of 8 inputs, and this model is " + std::to_string(inputs) +
           " wide";
  return check_block_kernels(options.dtype() == at::kHalf ? GgmlType::kF16 : GgmlType::kBF16,
                             inputs, options);
}

std::string check_row_summary(std::int64_t vocab, const at::TensorOptions& options) {
  if (!kernels::cuda_module().available()) return kernels::cuda_module().reason;
  if (vocab > kTriescopeRowSummaryTokens)
    return "the kernel takes rows of at most " + std::to_string(kTriescopeRowSummaryTokens) +
           " tokens, and this vocabulary has " + std::to_string(vocab);
  std::string found;
  on_device(options.device(), [&] {
    Rng rng(29);
    const auto best = std::min<std::int64_t>(vocab, kTriescopeRowSummaryBest);
    found = first_problem(
        kernels::logit_cases(kRows, static_cast<int>(vocab), static_cast<int>(best), rng), options);
  });
  return found;
}

}  // namespace triescope
