// Reads the prompts of a study's file. A header of its own, because it includes toml++, which takes seconds to compile.
#pragma once

#include <string>
#include <vector>

#include "app/study/study_prompts.h"
#include "app/study/toml_reader.h"

namespace triescope::app {

// Those of one [[prompts]] table of the study `file`. Files are looked for in its folder. A number
// that the table does not give is -1. Error{kCorruption}: "FILE:3:9: …".
std::vector<StudyPrompt> read_study_prompts(const std::string& file, const toml::table& table);

}  // namespace triescope::app
