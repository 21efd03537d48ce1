// Where the drafts of a study's runs were accepted, by method: the groups of all its captures.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/study/study_store.h"
#include "app/study/study_table.h"
#include "viz/query/acceptance.h"
#include "viz/query/tree_yield.h"

namespace triescope::app {

// A run behind a group, and the first step there that refused; of causes its first step.
struct WorstRun {
  std::string capture, category;
  std::int64_t prompt = 0;
  std::int64_t n = 0, accepted = 0;
  std::int32_t step = -1;  // -1 = it refused none
};

struct MethodAcceptance {
  std::string name;  // as StudyVariants::of() has it
  int runs = 0;
  viz::Acceptance acceptance;
  std::vector<std::vector<WorstRun>> behind;  // by group: its runs, the smallest share first
};

// Reads the runs whose capture has its tree. Repeats of a run are counted once. Leaves out the runs that
// follow when asked to stop. Errors: those of Capture::open and of StudySelection.
std::vector<MethodAcceptance> study_acceptance(const std::string& folder,
                                               const std::vector<StudyRow>& runs,
                                               viz::AcceptanceBy by, const StudyFilter& filter = {},
                                               std::stop_token stop = {});

// failures_csv() of all runs, behind the columns name and capture.
std::string study_failures_csv(const std::string& folder, const std::vector<StudyRow>& runs,
                               viz::AcceptanceBy by, const StudyFilter& filter = {});

// The yield of each place of a method's drafting tree, over the same runs.
struct MethodTreeYield {
  std::string name;
  int runs = 0;
  viz::TreeYield yield;
};
std::vector<MethodTreeYield> study_tree_yields(const std::string& folder,
                                               const std::vector<StudyRow>& runs,
                                               const StudyFilter& filter = {});

}  // namespace triescope::app
