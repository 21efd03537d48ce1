// What a model takes in memory, told before it is loaded: an estimate from its shape and file, good
// to about a tenth. Pure functions.
#pragma once

#include <cstdint>

#include "core/model/model.h"

namespace triescope {

struct MemoryNeed {
  std::int64_t weights = 0;       // bytes, on the device
  std::int64_t kv_per_token = 0;  // bytes of K and V of one slot, all layers
  std::int64_t scratch = 0;       // bytes: activations of a prefill's chunk, logits of a few rows
  std::int64_t to_load() const { return weights + scratch; }
};

// `info` as inspect_model() gives it. On the CPU matrices stay as they lie in the file, but f32 and
// f16 are rounded for bf16; on a GPU every weight has the dtype asked for.
MemoryNeed memory_need(const ModelInfo& info, const LoadOptions& options);

}  // namespace triescope
