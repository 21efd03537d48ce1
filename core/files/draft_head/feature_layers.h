// Which of the target's states an EAGLE-3 head reads. Files count them in two ways that differ by
// one, under the same key; a wrong guess runs, but fewer drafts are accepted. Pure. Source:
// sgl-project/sglang PR 25454 (the rule of the first id), SafeAILab/EAGLE modeling_llama_kv.py (the
// default).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/files/draft_head/head_config.h"

namespace triescope::formats {

struct FeatureLayers {
  std::vector<int> entering;  // ids as in HeadConfig::feature_layers
  LayerConvention convention = LayerConvention::kNone;
};

// `stored`: the file's list; empty: none. `chosen`: the user's list of entering states; empty:
// none. `count`: number of states that the head reads. `target_layers`: 0 = unknown. A list whose
// first id is 1 counts outputs; any other counts what enters a layer. Errors begin with `who`:
// kCorruption for the file's list, kInvalidArgument for the user's.
FeatureLayers feature_layers(std::span<const int> stored, std::span<const int> chosen, int count,
                             int target_layers, const std::string& who);
// The same for a DFlash head, whose list always counts outputs.
FeatureLayers output_layers(std::span<const int> stored, std::span<const int> chosen, int count,
                            int target_layers, const std::string& who);

// As in "2, 15, 27".
std::string layers_text(std::span<const int> layers);

}  // namespace triescope::formats
