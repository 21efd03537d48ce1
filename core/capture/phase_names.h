// Phases as people write them on the command line, in scripts and in lessons. to_string(Phase) in
// records.h is the inverse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/records.h"

namespace triescope::capture {

// "draft", "forward", "accept", "commit", "observe", in the order of the phases.
const std::vector<std::string>& phase_names();
// nullopt: the text names no phase.
std::optional<Phase> phase_from_string(std::string_view name);

}  // namespace triescope::capture
