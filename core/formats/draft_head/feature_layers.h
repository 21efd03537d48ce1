// Which of the target's states an EAGLE-3 head reads. Files count them in two ways that are one
// apart, under the same key; a wrong guess runs, and only fewer drafts are accepted. Pure. Source:
// sgl-project/sglang PR 25454 (the rule of the first id), SafeAILab/EAGLE modeling_llama_kv.py
// (the default).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/formats/draft_head/head_config.h"

namespace triescope::formats {

struct FeatureLayers {
  std::vector<int> entering;  // as HeadConfig::feature_layers
  LayerConvention convention = LayerConvention::kNone;
};

// `stored`: the file's list, empty: none. `chosen`: the user's, empty: none; entering. `count`:
// states that the head reads. `target_layers`: 0 = not known. A list whose first id is 1 counts
// outputs, every other what enters a layer. Errors, with `who` in front: kCorruption, of the
// file's list; kInvalidArgument, of the user's.
FeatureLayers feature_layers(std::span<const int> stored, std::span<const int> chosen, int count,
                             int target_layers, const std::string& who);

// "2, 15, 27"
std::string layers_text(std::span<const int> layers);

}  // namespace triescope::formats
