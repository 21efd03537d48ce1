// Whether the drafts of a study's methods pay: their runs' facts added up by method, with the costs
// that all forwards of the study tell, and the speed-ups that its table has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/study/study_store.h"
#include "viz/panels/cost_chart.h"

namespace triescope::app {

struct StudyCost {
  std::vector<viz::CostSeries> series;  // methods that draft for one text, in the study's order
  std::optional<RowCosts> row_costs;    // as the first capture has them
};

// Of the runs whose capture has its tree: of the repeats of a run the first, but the times of all. The
// forwards of methods that draft nothing tell what one row costs. `baseline`: the method over whose rate
// speed-ups are given; with the costs of another machine none are.
// Errors: kInvalidArgument: no method has drafts; those of Capture::open.
StudyCost study_cost(const std::string& folder, const std::vector<StudyRow>& runs,
                     const std::string& baseline, const viz::CostChoice& choice);

// The path of the first run's capture. Error{kInvalidArgument}: no run has one.
std::string first_capture(const std::string& folder, const std::vector<StudyRow>& runs);

}  // namespace triescope::app
