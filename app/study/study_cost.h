// Whether the drafts of a study's methods pay: their runs' facts added up by method, with the costs
// that all forwards of the study tell, and the speed-ups that its table has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/study/study_store.h"
#include "app/study/study_table.h"
#include "viz/panels/cost_chart.h"

namespace triescope::app {

struct StudyCost {
  std::vector<viz::CostSeries> series;  // variants that draft for one text, in the study's order
  std::optional<RowCosts> row_costs;    // as the first capture has them
};

// Reads the runs that are meant and whose capture has its tree; repeats of a run count once, by the first.
// The costs come from the times of all runs of the study, because forwards of methods that draft nothing
// tell what one row costs. With the costs of another machine no speed-ups are given.
// Errors: kInvalidArgument: no method has drafts; those of Capture::open and of StudySelection.
StudyCost study_cost(const std::string& folder, const std::vector<StudyRow>& runs,
                     const StudyFilter& filter, const viz::CostChoice& choice);

// The path of the first run's capture. Error{kInvalidArgument}: no run has one.
std::string first_capture(const std::string& folder, const std::vector<StudyRow>& runs);

}  // namespace triescope::app
