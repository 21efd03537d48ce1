// What the commands that make a study's runs say of them on stderr.
#pragma once

#include <string>

#include "app/study/run_study.h"

namespace triescope::app {

void say_run_failed(const StudyRun& run, const std::string& why);
// How many runs were made. `interrupted`: what comes of it if they were interrupted, "the same command
// goes on".
void say_outcome(const std::string& folder, const StudyOutcome& outcome, const char* interrupted);

}  // namespace triescope::app
