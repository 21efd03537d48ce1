// All memory that a run took, as far as its capture says: weights, KV of every cache at the tick at
// which they held most together, activations and logits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/draw/scene.h"

namespace triescope::viz {

// The most that all caches held at once.
struct TogetherKv {
  double target = 0, others = 0;  // in bytes
  capture::Tick tick = 0;
  double sum() const { return target + others; }
};
// The most KV of all models together that the cursor has seen within the range; 0 where slots were not recorded.
TogetherKv together_kv(const Scene& scene);

// In bytes. `weights` and `scratch` are estimates, good to about a tenth, as `triescope info` tells
// them before a model is loaded (core/model/memory_need.h).
struct WholeMemory {
  double weights = 0, draft_weights = 0;
  double kv = 0, draft_kv = 0;
  double scratch = 0;           // activations, of target and draft model
  double logits = 0;            // of the target's largest forward after prefill, fp32
  std::int32_t logit_rows = 0;  // of that forward
  capture::Tick tick = 0;       // at which the caches held most together

  double total() const { return weights + draft_weights + kv + draft_kv + scratch + logits; }
};
// The memory that the cursor has seen within the range. nullopt: the capture does not say what weights take.
std::optional<WholeMemory> whole_memory(const Scene& scene, const TogetherKv& together);
// "whole: about 131 MB (step 6): weights 92.1 + 14.2 MB, KV 4.1 + 0.8 MB, logits 2.4 MB, …"
std::string whole_memory_text(const WholeMemory& whole);
// Its parts, a line each.
std::vector<std::string> whole_memory_lines(const WholeMemory& whole);

// "KV of target and draft head together: at most 12.3 MB (step 6)"; "" with one cache.
std::string together_text(const Scene& scene, const TogetherKv& most);
// "weights: target 92.1 MB, draft head 14.2 MB": the size of the files, or the number of parameters
// where the capture does not say the size; "" where it says neither.
std::string weights_text(const Scene& scene);

}  // namespace triescope::viz
