// HeadConfig of a head from its tensors, its config.json where names and shapes cannot say, and the
// target where neither does. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/formats/draft_head/detect.h"
#include "core/formats/draft_head/head_json.h"
#include "core/formats/draft_head/named_tensors.h"

namespace triescope::formats {

// feature_layers is left to the caller. `notes`: what the config.json says and the tensors do not.
// Errors: kCorruption, kNotSupported.
HeadConfig resolve_config(HeadLayout layout, const NamedTensors& tensors, const HeadJson& json,
                          const TargetShape& target, std::vector<std::string>& notes);

}  // namespace triescope::formats
