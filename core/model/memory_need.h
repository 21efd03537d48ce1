// What a model takes in memory, told before it is loaded: an estimate from its shape and file, good
// to about a tenth. Functions of their arguments, and for a GPU of whether the CUDA module is there.
#pragma once

#include <cstdint>

#include "core/model/model.h"

namespace triescope {

struct MemoryNeed {
  std::int64_t weights = 0;       // bytes, on the device
  std::int64_t kv_per_token = 0;  // bytes of K and V of one slot, all layers
  // bytes: activations of a prefill's chunk, logits of a few rows; on a GPU a dense tile of a
  // quantised matrix and what attention's kernels leave each other.
  std::int64_t scratch = 0;
  std::int64_t to_load() const { return weights + scratch; }
};

// Whether quantised matrices stay in their blocks on the device asked for.
bool keeps_blocks(const LoadOptions& options);

// `info` as inspect_model() gives it. On the CPU matrices stay as they lie in the file, but f32 and
// f16 are rounded for bf16; on a GPU every weight that does not stay in blocks has the dtype asked
// for.
MemoryNeed memory_need(const ModelInfo& info, const LoadOptions& options);

// Bytes of a draft head's weights, `parameters` values that take `file_bytes` in its file, beside a
// target that is loaded with `target`: on its device and in its dtype, but on the CPU kernels as in
// the file, fp32 rounded for bf16.
std::int64_t head_need(std::int64_t parameters, std::int64_t file_bytes, const LoadOptions& target);

}  // namespace triescope
