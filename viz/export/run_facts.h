// How a run was made, for every file that is made of it: names and values, in order.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

using Facts = std::vector<std::pair<std::string, std::string>>;

// Model, Method, Settings, KV policy, Seed, Recorded, Software. Values that the capture lacks are
// "?".
Facts run_facts(const capture::Capture& capture);

}  // namespace triescope::viz
