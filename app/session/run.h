// Run: turns a request into text. Everything that can be refused without a model is refused first.
// Then the target and its companion are loaded, the prompt becomes tokens, the capture is opened
// and the session is made. The command line, the recorder of lessons and the session thread all use
// it.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/session/breakpoints.h"
#include "app/session/loaded_model.h"
#include "app/session/request.h"
#include "core/base/log.h"
#include "core/capture/recorder.h"
#include "core/capture/writer.h"
#include "core/session/session.h"

namespace triescope::app {

struct RunModels;

// Overridden by the code that starts a run, to act and report on the way; by default it does
// nothing.
class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  virtual ProgressSink progress() { return {}; }  // for loading and prefill
  virtual std::stop_token stop() { return {}; }   // for a load that is about to begin
  // the target, which is not loaded yet
  virtual void loading(const std::string& path) { (void)path; }
  // Called at the last moment at which the target, or what drafted, still exists for a session over
  // it. `next`: as the request names it; "" = the default.
  virtual void before_target_goes() {}
  virtual void before_draft_goes(const std::string& next) { (void)next; }
  virtual void target_loaded(const Model& target) { (void)target; }
  virtual void draft_loaded(const Model& draft) { (void)draft; }
  virtual void head_loaded(const DraftHead& head) { (void)head; }
  virtual void warn(const std::string& text) { (void)text; }  // about this run
};

// The loaded models; they stay from one run to the next.
struct RunModels {
  LoadedModel target;
  LoadedDraft draft;

  // `model` as for resolve_model(). Does nothing if it is the loaded one. Errors: those of
  // resolve_model() and LoadedModel::load().
  void load_target(const std::string& model, const LoadOptions& options, RunWatcher& watcher);
  // Errors: those of draft_for(). REQUIRES: the target is loaded.
  DraftWith load_draft(const RunRequest& request, RunWatcher& watcher);
};

struct RunSetup {
  std::string capture = {};  // path; "" = nothing is recorded
  capture::WriterOptions writer = {};
  int threads = 0;           // of the CPU; 0 = all cores
  std::string command = {};  // as typed, for the capture's `program`; "" = unknown
  bool breakpoints = false;
  // The prompt is read as a window means it (as_read_by()).
  bool prompt_of_window = false;
};

class Run {
 public:
  // Afterwards the session stands before its first phase. Models and watcher are borrowed. Errors:
  // those of check_request, RunModels, make_run_config, open_recorder and Session. If check_request
  // refuses a run over the same models, they stay as they were.
  Run(const RunRequest& request, RunModels& models, const RunSetup& setup, RunWatcher& watcher);
  // Decodes on from `node` of another run with `token` after it (Session::branch), over that run's
  // models.
  Run(const Run& from, const RunModels& models, NodeId node, std::int32_t token,
      const RunSetup& setup);

  Session& session() { return *session_; }
  BreakRecorder* breaks() { return breaks_.get(); }  // null = no breakpoints
  RunResult result() const;                          // the session's, with the time of loading

 private:
  void open(const RunModels& models, const RunSetup& setup);
  capture::Recorder& recorder() { return breaks_ ? *breaks_ : *file_; }

  double load_ms_ = 0;
  std::unique_ptr<capture::Recorder> file_;
  std::unique_ptr<BreakRecorder> breaks_;  // it precedes the file
  std::unique_ptr<Session> session_;
};

// Decodes the request, headless, to its end into a new capture at `path`, at full detail. Errors: those of
// Run; what was recorded stays.
void record_run(const RunRequest& request, const std::string& path, const ProgressSink& progress,
                std::stop_token stop);

}  // namespace triescope::app
