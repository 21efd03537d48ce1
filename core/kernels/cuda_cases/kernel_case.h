// Start here. A kernel case: one launch of a CUDA kernel over random numbers, beside what its CPU
// twin computes of the same rounded numbers, and how far the two may lie apart (the contract of the
// kernel's .cuh file).
//
//   kernel_inputs.h   a struct for each kernel: its inputs, its call, its twin and tolerance
//   kernel_case.h     the same without the kernel's type; the cases of a layer, a matrix, logits
//   cuda_arrays.h     memory of the device
//
// Four places walk the cases: loading a model over its own shapes
// (core/model/torch/kernel_check.h), `triescope check`, the kernels' tests over odd sizes, and
// bench_cuda_kernels, which times the launches. No torch.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/files/dequantise.h"
#include "core/kernels/cuda_cases/cuda_arrays.h"
#include "core/kernels/cuda_module.h"

namespace triescope::kernels {

enum class KernelStep {
  kEmbedNorm,
  kAddNorm,
  kSplitQkv,
  kActivation,
  kAttention,
  kBlockRows,
  kBlockLinear,
  kRowSummary
};

// How far a kernel's result lies from its twin's.
struct Agreement {
  double off = 0, allowed = 0;  // of the worst number, by off / allowed; off is inf for a NaN
  double largest = 0;           // of the magnitudes expected
  std::string unequal;          // where bits have to be equal and are not: what is not equal

  bool holds() const { return unequal.empty() && off <= allowed; }
  // "a result of the kernel is off by 1.0e+00, and 2.0e-05 is allowed"; "" = it holds.
  std::string problem() const;
};
// Numbers are right within `fraction` of the expected one, or within `least`.
Agreement agreement(const Floats& found, const Floats& expected, double fraction, double least);
// The one that holds less.
Agreement worse(Agreement a, Agreement b);

// A case whose inputs lie on a device. Refers to the arrays.
struct PlacedCase {
  std::function<int()> launch;         // a cudaError_t, 0 = launched
  std::function<Agreement()> compare;  // after a launch
};

struct KernelCase {
  KernelStep step;
  std::string what;  // "add and RMS norm"
  double bytes = 0;  // that a launch reads and writes at least
  std::function<PlacedCase(CudaArrays&, const CudaModule&)> place;
};

// Makes a case of the inputs of one kernel (kernel_inputs.h).
template <class Inputs>
KernelCase kernel_case(Inputs inputs) {
  const auto shared = std::make_shared<const Inputs>(std::move(inputs));
  return {.step = Inputs::kStep,
          .what = shared->what(),
          .bytes = shared->bytes(),
          .place = [shared](CudaArrays& on, const CudaModule& module) -> PlacedCase {
            const auto call = shared->put(on, module);
            return {
                .launch = [call, &module] { return (module.*Inputs::kLauncher)(&call, nullptr); },
                .compare = [shared, call, &on] { return shared->compare(on, call); }};
          }};
}

// The shapes over which a layer's kernels run.
struct LayerShapes {
  enum class Branch { kNone, kAdded, kNormedAndAdded };  // to the stream, before its norm

  int rows = 5;
  int hidden = 768, intermediate = 200;
  std::vector<bool> layer_norms = {false, true};  // false: RMS; the embedding takes the first
  std::vector<Branch> branches = {Branch::kAdded};
  float eps = 1e-5f;
  std::vector<formats::GgmlType> embeddings = {};  // types of blocks beside the dense one
  bool learned_positions = false;
  float embedding_scale = 1;
  int heads = 6, kv_heads = 2, head_dim = 64;
  bool qk_norm = false;
  std::vector<int> rope_dims = {64};  // 0 = no rotary positions
  float attention_scale = 0.125f, softcap = 0;
  int prefix = 150;  // slots that all rows see; more than one partition of 128
  std::vector<int> windows = {0};
  bool prefill = false;  // rows of a prefill too, not of a tree alone
  std::vector<int> activations = {kTriescopeSilu, kTriescopeGeluTanh, kTriescopeGelu};
  bool gated = true;
};
std::vector<KernelCase> layer_cases(const LayerShapes& shapes, int dtype, Rng& rng);

// A random matrix of a type [outputs, inputs]: rows of its blocks, if it has blocks, and linear
// layers of each number of rows, x in a dtype.
std::vector<KernelCase> matrix_cases(formats::GgmlType type, int outputs, int inputs, int dtype,
                                     int y_dtype, std::span<const int> rows, Rng& rng);

// The log of the sum of exponentials, and the `best` tokens, of rows of `vocab` logits that are
// rounded like a model's in bf16, so that many are equal.
std::vector<KernelCase> logit_cases(int rows, int vocab, int best, Rng& rng);

// The block types that the kernels read: the CPU's without MXFP4 and NVFP4, for which CUDA has none.
std::vector<formats::GgmlType> kernel_block_types();

}  // namespace triescope::kernels
