// Phases as people write them: on the command line, in scripts, in lessons. to_string(Phase) of
// records.h is the other way.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/records.h"

namespace triescope::capture {

// "draft", "forward", "accept", "commit", "observe": in the order of the phases.
const std::vector<std::string>& phase_names();
// nullopt: not one of them.
std::optional<Phase> phase_from_string(std::string_view name);

}  // namespace triescope::capture
