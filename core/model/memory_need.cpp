#include "core/model/memory_need.h"

#include <algorithm>

#include "core/kernels/cuda_module.h"
#include "core/kernels/tree_attention.cuh"

namespace triescope {
namespace {

std::int64_t bytes_of(DType dtype) { return dtype == DType::kF32 ? 4 : 2; }

std::int64_t prefill_rows(const LoadOptions& options) {
  return static_cast<std::int64_t>(prefill_rows_on(options.device != "cpu"));
}

std::int64_t weight_bytes(const ModelInfo& info, const LoadOptions& options) {
  const bool on_cpu = options.device == "cpu";
  const bool as_stored = on_cpu && options.stored_weights && !options.reference_kernels;
  const bool rounded = options.dtype == DType::kBF16 && info.quantisation == "F32";
  // Weights in F64 are rounded while they are read.
  const bool narrowed = info.quantisation.find("F64") != std::string::npos;
  if (as_stored && !rounded && !narrowed)
    return info.file_bytes - info.widened_bytes + info.widened_parameters * bytes_of(options.dtype);
  if (!on_cpu && keeps_blocks(options))
    return info.block_bytes + (info.parameters - info.block_parameters) * bytes_of(options.dtype);
  return info.parameters * bytes_of(options.dtype);
}

// GPU: the largest dense tile of a matrix that stays in blocks.
std::int64_t tile_bytes(const ModelInfo& info, const LoadOptions& options) {
  if (options.device == "cpu" || info.block_bytes == 0 || !keeps_blocks(options)) return 0;
  const std::int64_t outputs = std::max(info.vocab_size, info.intermediate);
  return std::min(kBlockTileBytes, outputs * info.hidden * bytes_of(options.dtype));
}

std::int64_t widest_head(const ModelInfo& info) {
  return info.widest_head > 0 ? info.widest_head : info.head_dim;
}

// GPU: scratch between the two kernels of attention, for a prefill's chunk over the whole context
// or at most what these kernels take.
std::int64_t attention_bytes(const ModelInfo& info, const LoadOptions& options) {
  if (options.device == "cpu" || options.reference_kernels) return 0;
  const std::int64_t partition = 4 * prefill_rows(options) * info.heads * (widest_head(info) + 2);
  return std::min<std::int64_t>(TRIESCOPE_ATTENTION_SCRATCH,
                                partition * ((info.context + 127) / 128));
}

}  // namespace

bool keeps_blocks(const LoadOptions& options) {
  if (!options.stored_weights || options.reference_kernels) return false;
  return options.device == "cpu" || kernels::cuda_module().available();
}

MemoryNeed memory_need(const ModelInfo& info, const LoadOptions& options) {
  constexpr std::int64_t kLogitRows = 16;
  MemoryNeed need;
  need.weights = weight_bytes(info, options);
  const std::int64_t head_dim = widest_head(info);
  const std::int64_t kv_values =
      info.kv_values > 0 ? info.kv_values
                         : 2 * std::int64_t{info.layers} * info.kv_heads * info.head_dim;
  need.kv_per_token = kv_values * bytes_of(options.kv_dtype.value_or(options.dtype));
  // A row has its residual, its norm and the sum to which it is added; q, k, v and attention's
  // result; gate, up and their product. All are fp32.
  const std::int64_t row = 3 * std::int64_t{info.hidden} +
                           2 * (info.heads + info.kv_heads) * head_dim +
                           3 * std::int64_t{info.intermediate};
  need.logits = 4 * kLogitRows * std::int64_t{info.vocab_size};
  need.scratch = 4 * prefill_rows(options) * row + need.logits + tile_bytes(info, options) +
                 attention_bytes(info, options);
  return need;
}

std::int64_t head_need(std::int64_t parameters, std::int64_t file_bytes,
                       const LoadOptions& target) {
  const std::int64_t in_dtype = parameters * bytes_of(target.dtype);
  const bool as_stored = target.device == "cpu" && !target.reference_kernels;
  return as_stored ? std::min(in_dtype, file_bytes) : in_dtype;
}

}  // namespace triescope
