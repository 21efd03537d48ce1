// Tells what kind of draft head a set of tensors is, by names and shapes alone: configurations are
// often wrong (Medusa v1.3 says 2 heads and holds 5). Also maps the names, whatever program wrote
// them, to those that HeadFile gives the tensors. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/files/draft_head/head_config.h"
#include "core/files/safetensors.h"

namespace triescope::formats {

enum class HeadLayout {
  kUnknown,     // nothing known: a model, or something else
  kRefused,     // a draft head that cannot be decoded
  kEagle,       // EAGLE-1/2, also vLLM's first form and speculators' eagle
  kEagle3,      // and its aliases
  kMedusa,      // also inside a whole model
  kMedusaVllm,  // blocks and lm_heads
  kHydra,
  kSpace,
  kSpaceModel,  // a model whose embedding has rows for the masks: by its config.json alone
  kMtp,         // Qwen's and Mellum's, DeepSeek's and GLM's, or MiMo's names, often inside a model
  kDFlash,      // published names, or transformers'
};

struct Detected {
  HeadLayout layout = HeadLayout::kUnknown;
  std::string refused;       // kRefused: what kind of head it is
  bool whole_model = false;  // the tensors of a whole model are there too
};

Detected detect_head(std::span<const SafeTensor> stored);

// The name without what programs put in front ("model.", "module.").
std::string bare_name(const std::string& stored);

// HeadFile's name -> index of the stored tensor, for every tensor of the head; a model's own
// tensors are left out. Error{kCorruption}: two tensors with one name. `block_count`: Medusa's and
// Hydra's layers per head according to the configuration, 0 = unknown. Blocks that are shared and
// therefore not stored get the names that are missing.
std::map<std::string, std::size_t> name_tensors(HeadLayout layout,
                                                std::span<const SafeTensor> stored, int block_count,
                                                const std::string& path);

}  // namespace triescope::formats
