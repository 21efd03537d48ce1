// StudyStore: the table of a study's runs, one SQLite file in the study's folder. Each run is one
// row, written whole when the run has ended, so that a kill loses at most the run it hits. Others
// may read while it grows. docs/study.md lists the columns. Not thread-safe.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/study/study_plan.h"

namespace triescope::app {

// A figure of a run: a column of the table, and where `decode --json` has it.
struct StudyMetric {
  const char* name;
  const char* pointer;   // a JSON pointer into result_json()
  bool is_time = false;  // differs between repeats: their median counts
  const char* meaning = "";
};
std::span<const StudyMetric> study_metrics();
// The meaning of a column's figure; "" = its name says it.
std::string study_meaning(const std::string& column);

// A row by column: a text, a number, true, false or null, and the settings in force by their names,
// which no column has.
using StudyRow = nlohmann::json;
// Whether the run has drafts by depth: its capture then has its tree, and the run did not fail.
bool has_tree(const StudyRow& row);
// Where a study's folder has a capture; `capture`: what the column holds.
std::string capture_path(const std::string& folder, const std::string& capture);

class StudyStore {
 public:
  // Opens the table in a folder, and makes it if `writes`. Errors: kNotFound: the folder has none;
  // kNotSupported: a newer program wrote it; kCorruption, kIoError.
  StudyStore(const std::string& folder, bool writes);
  ~StudyStore();

  bool is_done(const std::string& key);
  // `place`: of the run in its plan. `result`: result_json(). `depths`: drafts by depth, see
  // docs/study.md; null = not known. `note`: what the run warned about.
  void put(const StudyRun& run, std::int64_t place, const nlohmann::json& result,
           const nlohmann::json& depths, bool has_capture, const std::string& note);
  void put_failure(const StudyRun& run, std::int64_t place, const std::string& why);
  // Facts about the study: "title", "baseline".
  void set_fact(const std::string& name, const std::string& value);
  std::string fact(const std::string& name);  // "" = none
  std::vector<StudyRow> rows();               // in the order of the plan

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::app
