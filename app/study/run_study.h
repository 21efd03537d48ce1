// A study's runs, made one after another into its folder: captures and the table. Runs that the
// table has are left out, so that the same call resumes. Nothing draws meanwhile.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/study/study_plan.h"
#include "app/study/study_store.h"
#include "core/base/log.h"

namespace triescope::app {

// Overridden by who starts a study, to report on the way.
class StudyWatcher {
 public:
  virtual ~StudyWatcher() = default;
  virtual ProgressSink progress() { return {}; }  // of loading and prefill
  // A run begins: how many have ended in this call, of how many, and the seconds that the rest will
  // take, by those that have ended; nullopt = unknown.
  virtual void begins(const StudyRun& run, int done, int of, std::optional<double> seconds_left) {
    (void)run, (void)done, (void)of, (void)seconds_left;
  }
  virtual void ended(const StudyRun& run, const nlohmann::json& result) { (void)run, (void)result; }
  virtual void failed(const StudyRun& run, const std::string& why) { (void)run, (void)why; }
};

struct StudyOutcome {
  int done = 0, failed = 0;
  int there = 0;             // were in the table already
  bool interrupted = false;  // the run that was hit left nothing
};

// The runs of the plan that the table lacks, as indices. Failed ones are tried again.
std::vector<std::size_t> missing_runs(const std::vector<StudyRun>& runs, StudyStore& store);

// Makes `folder` where it is missing. A run that fails gets a row that says why, and the next
// follows. Errors: kIoError (disk full, folder cannot be made), those of StudyStore.
StudyOutcome run_study(const StudyFile& study, const std::vector<StudyRun>& runs,
                       const std::string& folder, StudyWatcher& watcher, std::stop_token stop,
                       const std::string& command);

}  // namespace triescope::app
