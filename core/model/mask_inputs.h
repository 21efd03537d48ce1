// MaskInputs: what a run with mask rows brings beside its tokens (SPACE's masks): a trained vector for
// each mask, in the place of an embedding, and the keys and values of a prefix that the masks alone see.
// Plain values. Source: Yi et al., "Generation Meets Verification" (SPACE), 2024; Lin et al., "BiTA",
// 2024, section 3.1.
#pragma once

#include <cstddef>
#include <vector>

namespace triescope {

struct MaskInputs {
  int count = 0;                  // masks
  int prefix = 0;                 // positions of the prefix; 0 = none
  std::vector<float> embeddings;  // [count, hidden]
  // [layers, prefix, kv_heads, head_dim] each, keys as KvStorage::write() takes them.
  std::vector<float> prefix_keys, prefix_values;
};

}  // namespace triescope
