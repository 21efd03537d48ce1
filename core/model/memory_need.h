// How much memory a model takes, before it is loaded: an estimate from its shape and file, good to
// about a tenth. The functions depend on their arguments only, and for a GPU on whether the CUDA
// module exists.
#pragma once

#include <cstdint>

#include "core/model/model.h"

namespace triescope {

struct MemoryNeed {
  std::int64_t weights = 0;       // in bytes, on the device
  std::int64_t kv_per_token = 0;  // bytes of K and V of one slot, all layers
  // in bytes: activations of a prefill's chunk and logits of a few rows; on a GPU also a dense tile
  // of a quantised matrix and scratch of attention's kernels
  std::int64_t scratch = 0;
  std::int64_t logits = 0;  // of scratch: the logits
  std::int64_t to_load() const { return weights + scratch; }
};

// Whether quantised matrices stay in blocks on the requested device.
bool keeps_blocks(const LoadOptions& options);

// `info` comes from inspect_model(). On the CPU matrices stay as they are in the file, except that
// f32 and f16 are rounded for bf16. On a GPU every weight that does not stay in blocks has the
// requested dtype.
MemoryNeed memory_need(const ModelInfo& info, const LoadOptions& options);

// Bytes of a draft head's weights beside a target that is loaded with `target`: `parameters`
// values, `file_bytes` in the file. On the target's device they have the target's dtype; on the CPU
// kernels they stay as in the file, and fp32 is rounded for bf16.
std::int64_t head_need(std::int64_t parameters, std::int64_t file_bytes, const LoadOptions& target);

}  // namespace triescope
