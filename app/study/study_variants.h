// What a study compares: its methods, each once for every combination of the settings that a sweep
// varies and for every model. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/study/study_store.h"

namespace triescope::app {

// The settings in which rows of one name differ, by that name.
std::map<std::string, std::set<std::string>> swept_settings(const std::vector<StudyRow>& rows);

class StudyVariants {
 public:
  explicit StudyVariants(const std::vector<StudyRow>& rows);
  // "lookup, num_draft = 4": the method's name, then what tells the row from others of that name.
  std::string of(const StudyRow& row) const;

 private:
  std::map<std::string, std::set<std::string>> settings_;  // by name
  bool several_models_ = false;
};

}  // namespace triescope::app
