// `triescope info` for a draft head: what was detected in its file, before any target is chosen.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace triescope::app {

// Kind, the states it reads, vocabularies, size, the target it needs, notes (docs/cli.md). Errors:
// those of HeadFile.
nlohmann::json head_json(const std::string& path);

}  // namespace triescope::app
