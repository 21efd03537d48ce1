// StudyPlan: the runs of a study, in the order in which they are made. Methods and settings come in
// turn within a prompt, and repeats come last: a slow minute of the machine hits all of them alike.
#pragma once

#include <string>
#include <vector>

#include "app/session/request.h"
#include "app/study/study_file.h"

namespace triescope::app {

struct StudyRun {
  std::string name;  // of its [[method]]
  RunRequest request;
  std::string category = {};
  int number = 0;             // of its prompt
  int repeat = 1;             // from 1
  std::string key = {};       // equal for the same run of two plans, and for no other run
  std::string capture = {};   // its file's name
  std::string words() const;  // "EAGLE-3, draft_tokens = 8, rag 81, seed 0, repeat 2"
};

// Every combination once. Errors: those of check_request(), with the [[method]]'s name in front.
std::vector<StudyRun> study_runs(const StudyFile& study);

}  // namespace triescope::app
