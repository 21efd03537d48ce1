// The inputs of one launch of each CUDA kernel. A struct has
//
//   random(…)          inputs in a shape; tests change them afterwards
//   put(arrays)        the call, with its inputs and room for its results on a device
//   kLauncher          of the module
//   compare(…)         the results beside the CPU twin's, with the tolerance of the contract
//   what(), bytes()    its name; what a launch reads and writes at least
//
// Lists of floats that are empty stand for arguments that are not given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/files/dequantise.h"
#include "core/kernels/cuda_cases/cuda_arrays.h"
#include "core/kernels/cuda_cases/kernel_case.h"
#include "core/kernels/tree_attention.h"

namespace triescope::kernels {

// One rounding of the dtype, relative; in fp32 the tolerance of the contracts.
double relative_rounding(int dtype, double fp32);

struct AddNormInputs {
  using Call = TriescopeAddNorm;
  static constexpr KernelStep kStep = KernelStep::kAddNorm;
  static constexpr auto kLauncher = &CudaModule::add_norm;

  int rows = 1, dim = 1, dtype = kTriescopeF32;
  bool layer = false;
  float eps = 1e-5f;
  Floats x, h, post, weight, bias;  // h, post, bias: empty = none

  static AddNormInputs random(int rows, int dim, int dtype, bool layer, bool h, bool post,
                              Rng& rng);
  Call put(CudaArrays& on, const CudaModule& module) const;
  Agreement compare(const CudaArrays& on, const Call& call) const;
  std::string what() const;
  double bytes() const;
};

struct EmbedNormInputs {
  using Call = TriescopeEmbedNorm;
  static constexpr KernelStep kStep = KernelStep::kEmbedNorm;
  static constexpr auto kLauncher = &CudaModule::embed_norm;
  static constexpr int kVocab = 11, kContext = 9;

  int dim = 1, dtype = kTriescopeF32;
  int type = -1;  // ggml's number; -1: dense
  bool layer = false;
  float scale = 1, eps = 1e-5f;
  std::vector<std::int32_t> ids, positions;
  Floats table, position_table, weight, bias;  // the last but one: always given
  std::vector<std::byte> blocks;               // the table's, with a type

  static EmbedNormInputs random(int dim, int dtype, int type, bool layer, bool positions,
                                float scale, Rng& rng);
  Call put(CudaArrays& on, const CudaModule& module) const;
  Floats stream() const;  // x by the definition, each step rounded
  Agreement compare(const CudaArrays& on, const Call& call) const;
  std::string what() const;
  double bytes() const;
};

struct SplitQkvInputs {
  using Call = TriescopeSplitQkv;
  static constexpr KernelStep kStep = KernelStep::kSplitQkv;
  static constexpr auto kLauncher = &CudaModule::split_qkv;

  int rows = 1, heads = 1, kv_heads = 1, head_dim = 8, rope_dims = 0, dtype = kTriescopeF32;
  float eps = 1e-6f;
  Floats qkv, query_norm, key_norm, cos, sin;
  std::vector<std::int32_t> slots;
  int capacity = 1;  // slots of the storage

  static SplitQkvInputs random(int rows, int heads, int kv_heads, int head_dim, int rope_dims,
                               bool norms, int dtype, Rng& rng);
  int parts() const { return heads + 2 * kv_heads; }
  int width() const { return parts() * head_dim; }
  std::size_t storage() const { return static_cast<std::size_t>(capacity * kv_heads * head_dim); }
  Call put(CudaArrays& on, const CudaModule& module) const;
  Agreement compare(const CudaArrays& on, const Call& call) const;
  std::string what() const;
  double bytes() const;
};

struct ActivationInputs {
  using Call = TriescopeGatedActivation;
  static constexpr KernelStep kStep = KernelStep::kActivation;
  static constexpr auto kLauncher = &CudaModule::gated_activation;

  int rows = 1, dim = 1, kind = kTriescopeSilu, dtype = kTriescopeF32;
  bool gated = true;
  Floats in;  // [rows, gate then up]

  static ActivationInputs random(int rows, int dim, bool gated, int kind, int dtype, Rng& rng);
  Call put(CudaArrays& on, const CudaModule& module) const;
  Agreement compare(const CudaArrays& on, const Call& call) const;
  std::string what() const;
  double bytes() const;
};

struct AttentionInputs {
  using Call = TriescopeTreeAttention;
  static constexpr KernelStep kStep = KernelStep::kAttention;
  static constexpr auto kLauncher = &CudaModule::tree_attention;

  AttentionShape shape;
  int dtype = kTriescopeF32, rows = 1;
  int apart = 0;  // elements between one row of q and the next
  Floats q, keys, values;
  std::vector<std::int32_t> prefix, own, offsets;  // offsets empty: causal, own = the rows' slots
  std::int32_t longest = 0;
  std::size_t scratch = 0;  // bytes; 0: what the contract says

  // Rows of a small tree behind a prefix; or, with prefix 0, rows of a prefill.
  static AttentionInputs random(const AttentionShape& shape, int rows, int prefix, int dtype,
                                Rng& rng);
  int width() const { return shape.heads * shape.head_dim; }
  Call put(CudaArrays& on, const CudaModule& module) const;
  Floats twin() const;  // [rows, heads, head_dim]
  Agreement compare(const CudaArrays& on, const Call& call) const;
  static double tolerance(int dtype);  // for values of random_values
  std::string what() const;
  double bytes() const;
};

struct BlockRowsInputs {
  using Call = TriescopeBlockRows;
  static constexpr KernelStep kStep = KernelStep::kBlockRows;
  static constexpr auto kLauncher = &CudaModule::block_rows;

  formats::GgmlType type;
  int rows = 1, inputs = 1, dtype = kTriescopeF32;
  std::vector<std::byte> stored;

  Call put(CudaArrays& on, const CudaModule& module) const;
  Agreement compare(const CudaArrays& on, const Call& call) const;
  std::string what() const;
  double bytes() const;
};

struct BlockLinearInputs {
  using Call = TriescopeBlockLinear;
  static constexpr KernelStep kStep = KernelStep::kBlockLinear;
  static constexpr auto kLauncher = &CudaModule::block_linear;

  formats::GgmlType type;
  int outputs = 1, inputs = 1, rows = 1, x_dtype = kTriescopeF32, y_dtype = kTriescopeF32;
  std::vector<std::byte> stored;
  Floats x, bias;  // bias empty: none

  static BlockLinearInputs random(formats::GgmlType type, std::vector<std::byte> stored,
                                  int outputs, int inputs, int rows, int x_dtype, int y_dtype,
                                  bool bias, Rng& rng);
  Call put(CudaArrays& on, const CudaModule& module) const;
  Agreement compare(const CudaArrays& on, const Call& call) const;
  std::string what() const;
  double bytes() const;
};

struct RowSummaryInputs {
  using Call = TriescopeRowSummary;
  static constexpr KernelStep kStep = KernelStep::kRowSummary;
  static constexpr auto kLauncher = &CudaModule::row_summary;
  enum class Part { kLogSum, kBest };

  int rows = 1, count = 1, k = 1;
  std::int64_t stride = 1;  // from one row to the next
  Floats x;
  Part compared = Part::kLogSum;

  Call put(CudaArrays& on, const CudaModule& module) const;
  Agreement compare(const CudaArrays& on, const Call& call) const;
  std::string what() const;
  double bytes() const;
};

}  // namespace triescope::kernels
