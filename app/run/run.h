// Run: a request on its way to text. What can be refused without a model is refused first; then the
// target is loaded, what drafts, the prompt becomes tokens, the capture is opened and the session made.
// The command line, the recorder of lessons and the session thread all go this way.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "app/run/breakpoints.h"
#include "app/run/loaded_model.h"
#include "app/run/request.h"
#include "core/base/log.h"
#include "core/capture/recorder.h"
#include "core/capture/writer.h"
#include "core/decode/session.h"

namespace triescope::app {

struct RunModels;

// What whoever starts a run does and says on the way; does and says nothing by itself.
class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  virtual ProgressSink progress() { return {}; }                 // of loading and of prefill
  virtual std::stop_token stop() { return {}; }                  // of a load that is about to begin
  virtual void loading(const std::string& path) { (void)path; }  // the target, which is not there
  // The last moment at which the target, or what drafted, is still there for a session over it.
  // `next`: as the request names it; "" = the default.
  virtual void before_target_goes() {}
  virtual void before_draft_goes(const std::string& next) { (void)next; }
  virtual void target_loaded(const Model& target) { (void)target; }
  virtual void draft_loaded(const Model& draft) { (void)draft; }
  virtual void head_loaded(const DraftHead& head) { (void)head; }
  virtual void warn(const std::string& text) { (void)text; }  // of this run
};

// What is loaded; stays from one run to the next.
struct RunModels {
  LoadedModel target;
  LoadedDraft draft;

  // `model` as resolve_model() takes it. Does nothing where it is the loaded one. Errors:
  // resolve_model()'s and LoadedModel::load()'s.
  void load_target(const std::string& model, const LoadOptions& options, RunWatcher& watcher);
  // Errors: draft_for()'s. The target is loaded.
  DraftWith load_draft(const RunRequest& request, RunWatcher& watcher);
};

struct RunSetup {
  std::string capture = {};  // path; "" = nothing is recorded
  capture::WriterOptions writer = {};
  int threads = 0;           // of the CPU; 0 = all cores
  std::string command = {};  // that was typed, for the capture's `program`; "" = not known
  bool breakpoints = false;
  // The prompt is read as a window means it (as_read_by()).
  bool prompt_of_window = false;
};

class Run {
 public:
  // The session stands before its first phase. Models and watcher are borrowed. Errors: those of
  // check_request, RunModels, make_run_config, open_recorder and Session; a run over the same models
  // that is refused by check_request leaves them as they were.
  Run(const RunRequest& request, RunModels& models, const RunSetup& setup, RunWatcher& watcher);
  // Decodes on from `node` of another run with `token` after it (Session::branch), over the models of
  // that one.
  Run(const Run& from, const RunModels& models, NodeId node, std::int32_t token,
      const RunSetup& setup);

  Session& session() { return *session_; }
  BreakRecorder* breaks() { return breaks_.get(); }  // null = no breakpoints
  RunResult result() const;                          // the session's, with the time to load

 private:
  void open(const RunModels& models, const RunSetup& setup);
  capture::Recorder& recorder() { return breaks_ ? *breaks_ : *file_; }

  double load_ms_ = 0;
  std::unique_ptr<capture::Recorder> file_;
  std::unique_ptr<BreakRecorder> breaks_;  // before the file
  std::unique_ptr<Session> session_;
};

}  // namespace triescope::app
