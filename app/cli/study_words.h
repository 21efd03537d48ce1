// What several commands say of a study and its runs.
#pragma once

#include <string>

#include "app/study/run_study.h"

namespace triescope::app {

void say_run_failed(const StudyRun& run, const std::string& why);
// How many runs were made. `interrupted`: what comes of it if they were interrupted, "the same command
// goes on".
void say_outcome(const std::string& folder, const StudyOutcome& outcome, const char* interrupted);

// Error{kInvalidArgument}: a --filter was given with one capture.
void check_is_of_study(const std::string& filter);

}  // namespace triescope::app
