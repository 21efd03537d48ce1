#include "app/session/run.h"

#include <chrono>
#include <utility>

#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "app/session/memory_check.h"
#include "core/base/error.h"

namespace triescope::app {

void RunModels::load_target(const std::string& model, const LoadOptions& options,
                            RunWatcher& watcher) {
  const std::string path = resolve_model(model);
  if (target.is(path, options)) return;
  const std::stop_token stop = watcher.stop();
  watcher.loading(path);
  target.load(path, options, watcher.progress(), stop, [&] {
    watcher.before_target_goes();
    draft.head.reset();  // a head borrows the target
  });
  watcher.target_loaded(*target.model);
}

DraftWith RunModels::load_draft(const RunRequest& request, RunWatcher& watcher) {
  bool loaded = false;
  const DraftWith with = draft_for(request, target, draft, watcher.progress(), watcher.stop(), [&] {
    loaded = true;
    watcher.before_draft_goes(request.draft_model);
  });
  if (loaded && with.head) watcher.head_loaded(*with.head);
  if (loaded && !with.head) watcher.draft_loaded(*draft.model);
  return with;
}

Run::Run(const RunRequest& request, RunModels& models, const RunSetup& setup, RunWatcher& watcher) {
  check_request(request);
  const auto start = std::chrono::steady_clock::now();
  LoadOptions load = target_options(request);
  load.threads = setup.threads;
  models.load_target(request.model, load, watcher);
  const DraftWith draft = models.load_draft(request, watcher);
  load_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();

  const Tokenizer& tokenizer = *models.target.tokenizer;
  RunConfig config =
      make_run_config(setup.prompt_of_window ? as_read_by(tokenizer, request) : request, tokenizer);
  config.draft = draft;
  config.command = setup.command;
  if (const std::string why = why_kv_may_not_fit(
          models.target.model->info(), models.target.options, request,
          static_cast<std::int64_t>(config.prompt_tokens.size()), free_memory(request.device));
      !why.empty())
    watcher.warn(why);
  open(models, setup);
  session_ =
      std::make_unique<Session>(*models.target.model, tokenizer, std::move(config), recorder());
  session_->set_progress(watcher.progress());
}

Run::Run(const Run& from, const RunModels& models, NodeId node, std::int32_t token,
         const RunSetup& setup) {
  open(models, setup);
  session_ = Session::branch(*from.session_, node, token, recorder());
}

void Run::open(const RunModels& models, const RunSetup& setup) {
  file_ = setup.capture.empty() ? std::make_unique<capture::NullRecorder>()
                                : capture::open_recorder(setup.capture, setup.writer);
  // Breakpoints show tokens as text.
  if (setup.breakpoints)
    breaks_ = std::make_unique<BreakRecorder>(
        *file_, [tokenizer = models.target.tokenizer](std::int32_t token) {
          return tokenizer->piece(token);
        });
}

RunResult Run::result() const {
  RunResult result = session_->result();
  result.time.load_ms = load_ms_;
  return result;
}

namespace {

class Recording final : public RunWatcher {
 public:
  Recording(const ProgressSink& progress, std::stop_token stop)
      : progress_(progress), stop_(std::move(stop)) {}
  ProgressSink progress() override { return progress_; }
  std::stop_token stop() override { return stop_; }

 private:
  const ProgressSink& progress_;
  std::stop_token stop_;
};

}  // namespace

void record_run(const RunRequest& request, const std::string& path, const ProgressSink& progress,
                std::stop_token stop) {
  Recording watcher(progress, stop);
  RunModels models;
  Run run(request, models, {.capture = path}, watcher);
  while (!run.session().done()) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "interrupted");
    run.session().step();
  }
}

}  // namespace triescope::app
