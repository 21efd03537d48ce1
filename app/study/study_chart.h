// A study's table as a bar chart, and the provenance of every picture of a study.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/study/study_store.h"
#include "viz/panels/bar_picture.h"

namespace triescope::app {

// The means of `column` by one or two columns: groups of bars by the first, bars by the second.
// `runs`: StudyStore::rows(). `filter`: as of the table; "" = all. Errors: kInvalidArgument: no such
// column, one that is no figure, more than two columns, no run is left; those of study_table().
viz::BarChart study_bars(const std::vector<StudyRow>& runs, const std::string& baseline,
                         const std::string& filter, const std::vector<std::string>& group_by,
                         const std::string& column);

// Title, Model, Study, Recorded, Software. `about`: what the picture shows.
struct StudyProvenance {
  std::vector<std::pair<std::string, std::string>> facts;
  std::string created;  // when the newest run ended, in UTC
};
StudyProvenance study_provenance(const std::string& folder, const std::vector<StudyRow>& runs,
                                 const std::string& title, const std::string& about);

}  // namespace triescope::app
