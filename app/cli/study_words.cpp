#include "app/cli/study_words.h"

#include <cstdio>

#include "app/cli/terminal.h"
#include "core/base/error.h"

namespace triescope::app {

void say_run_failed(const StudyRun& run, const std::string& why) {
  clear_progress();
  std::fprintf(stderr, "triescope: %s: %s\n", run.words().c_str(), why.c_str());
}

void say_outcome(const std::string& folder, const StudyOutcome& outcome, const char* interrupted) {
  std::fprintf(stderr, "%s: %d done, %d there already, %d failed%s%s\n", folder.c_str(),
               outcome.done, outcome.there, outcome.failed,
               outcome.interrupted ? "; interrupted: " : "",
               outcome.interrupted ? interrupted : "");
}

void check_is_of_study(const std::string& filter) {
  if (!filter.empty())
    throw Error(ErrorCode::kInvalidArgument, "--filter: goes with a study, not with one capture");
}

}  // namespace triescope::app
