// Finds a head's HeadConfig from its tensors, from its config.json where names and shapes cannot
// tell, and from the target where neither does. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/files/draft_head/detect.h"
#include "core/files/draft_head/head_json.h"
#include "core/files/draft_head/named_tensors.h"

namespace triescope::formats {

// The caller fills in feature_layers. `notes`: what the config.json says and the tensors
// contradict. Errors: kCorruption, kNotSupported.
HeadConfig resolve_config(HeadLayout layout, const NamedTensors& tensors, const HeadJson& json,
                          const TargetShape& target, std::vector<std::string>& notes);

}  // namespace triescope::formats
