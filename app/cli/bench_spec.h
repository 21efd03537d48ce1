// `triescope bench --only spec`: drafting methods by task, as papers report them. Its runs are those of
// a study and stay in its folder.
#pragma once

#include <string>
#include <vector>

#include "app/spec/spec_plan.h"

namespace triescope::app {

struct SpecBench {
  SpecOptions plan;  // its prompts and methods as given
  std::vector<std::string> prompt_files;
  std::string folder, plots;  // plots: "" = none
  bool as_json = false, as_csv = false, quiet = false;
};
// Prints tables; returns the exit code: 130 after Ctrl+C, 4 where a run failed. Errors: those of
// spec_study, study_runs and run_study, and of export_picture.
int run_spec_bench(const SpecBench& bench);

}  // namespace triescope::app
