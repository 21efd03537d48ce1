#include "app/session/session_thread.h"

#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "app/session/catalog.h"
#include "app/session/command_queue.h"
#include "app/session/live_board.h"
#include "app/session/run.h"
#include "core/base/error.h"
#include "core/methods/registry.h"

namespace triescope::app {

struct SessionThread::Impl final : RunWatcher {
  Impl(std::function<void()> wake, const ModelLoader& loader) : board(std::move(wake)) {
    models.target.loader = models.draft.loader = loader;
  }

  // The callers use this too.
  CommandQueue queue;
  LiveBoard board;
  ModelHeaders headers;
  PromptReader prompts;
  std::mutex mutex;                // guards the next two
  std::stop_source cancel_source;  // for loading
  Session* stoppable = nullptr;    // the session to which request_stop() may be sent
  std::atomic<bool> pause_requested{false};

  // Only the session thread uses the following.
  LiveStatus& now = board.now;
  RunModels models;
  std::unique_ptr<Run> open_run;
  // The open run's session; null = none.
  Session* session = nullptr;
  BreakRecorder* recorder = nullptr;
  std::vector<Breakpoint> breakpoints;
  bool running = false;
  bool warned = false;                        // the run's warning, if any, is already a notice
  bool counted = false;                       // the current command is already among commands_done
  std::optional<CommandQueue::Command> held;  // runs after the current phase or command
  bool gives_way = false;                     // the current run gives way to it after this phase
  bool waited = false;                        // whether the current phase waited for memory
  std::optional<capture::Tick> run_target;

  std::thread thread;

  // Runs one command or phase. Whatever it throws becomes a notice, and the thread goes on.
  template <class Body>
  void guarded(Body body) {
    try {
      body();
    } catch (const Error& error) {
      board.notice(error.code() == ErrorCode::kCancelled ? LogLevel::kInfo : LogLevel::kError,
                   error.what());
      running = false;
    } catch (const std::bad_alloc&) {
      board.notice(
          LogLevel::kError,
          "out of memory: take fewer beams, a shorter prompt, or a smaller model or dtype");
      running = false;
    } catch (const std::exception& error) {
      board.notice(LogLevel::kError, std::string("unexpected error: ") + error.what());
      running = false;
    }
    board.clear_progress();
    settle();
  }

  // Derives the state from session and running.
  void settle() {
    if (!session) {
      now.state = LiveState::kIdle;
    } else if (session->done()) {
      running = false;
      if (const std::string warning = session->result().warning; !warned && !warning.empty())
        board.notice(LogLevel::kWarning, warning);
      warned = true;
      now.state = LiveState::kDone;
    } else {
      now.state = running ? LiveState::kRunning : LiveState::kPaused;
    }
    if (session) now.next_tick = session->next_tick();
  }

  std::stop_token fresh_cancel_token() {
    std::lock_guard lock(mutex);
    cancel_source = std::stop_source();
    return cancel_source.get_token();
  }

  void watch_session(Session* target) {
    std::lock_guard lock(mutex);
    stoppable = target;
  }

  // Stops a run that is left behind, so that its capture says so.
  void close_session() {
    watch_session(nullptr);
    if (session && !session->done()) {
      session->request_stop();
      try {
        while (!session->done()) session->advance();
      } catch (const std::exception&) {
        // The run was to be stopped anyway, and the capture keeps what was recorded.
      }
    }
    session = nullptr;
    recorder = nullptr;
    open_run.reset();
    running = false;
    run_target.reset();
  }

  // --- RunWatcher, while a run starts ---
  ProgressSink progress() override { return board.progress_sink(); }
  std::stop_token stop() override { return fresh_cancel_token(); }
  void loading(const std::string& path) override {
    now.state = LiveState::kLoading;
    now.progress = "loading " + path;
    board.publish();
  }
  void before_target_goes() override {
    close_session();  // it may still use the old model
    now.model.reset();
    now.tokenizer.reset();
  }
  void before_draft_goes(const std::string& next) override {
    close_session();  // it may still use the old draft model or head
    loading(next.empty() ? "what drafts" : next);
  }
  void target_loaded(const Model& target) override {
    now.model = target.info();
    now.tokenizer = models.target.tokenizer;
    note_loaded(target, "loaded ");
  }
  void draft_loaded(const Model& draft) override { note_loaded(draft, "loaded as draft model: "); }
  void head_loaded(const DraftHead& head) override {
    board.notice(LogLevel::kInfo, "loaded as draft head: " + head.description);
    for (const std::string& note : head.notes) board.notice(LogLevel::kWarning, note);
  }
  void warn(const std::string& text) override { board.notice(LogLevel::kWarning, text); }

  void note_loaded(const Model& model, const std::string& what) {
    const ModelInfo& info = model.info();
    board.notice(LogLevel::kInfo, what + info.name + " (" + std::string(to_string(info.dtype)) +
                                      ", " + info.device + ")");
    for (const std::string& note : info.notes) board.notice(LogLevel::kWarning, note);
    if (!info.warning.empty()) board.notice(LogLevel::kWarning, info.warning);
  }

  void adopt(std::unique_ptr<Run> run, const std::string& capture_path) {
    close_session();
    open_run = std::move(run);
    session = &open_run->session();
    recorder = open_run->breaks();
    warned = false;
    session->wait_for_memory([this](const Error& refused) { return wait_for_memory(refused); });
    recorder->flush();
    watch_session(session);
    now.capture_path = capture_path;
    now.pause_reason.clear();
    ++now.run_serial;
  }

  // The run stands in the middle of a phase, and nothing of it is lost. A command that asks for
  // more of the run tries again; one that ends it or makes room for another stops it.
  bool wait_for_memory(const Error& refused) {
    const LiveState before = now.state;
    try {
      recorder->flush();
    } catch (const Error& error) {  // the recorder keeps what it has no room for
      if (error.code() != ErrorCode::kOutOfMemory) throw;
    }
    board.clear_progress();
    now.state = LiveState::kPaused;
    now.pause_reason = "out of memory";
    constexpr std::string_view kAgain = "out of memory: ";
    now.memory_refused = refused.what();
    if (now.memory_refused.starts_with(kAgain)) now.memory_refused.erase(0, kAgain.size());
    board.notice(LogLevel::kWarning, now.pause_reason + ": " + now.memory_refused);
    // Scripts wait for finished commands; these are finished as far as they can be.
    if (!std::exchange(counted, true)) ++now.commands_done;
    if (std::exchange(held, {})) ++now.commands_done;
    gives_way = false;
    board.publish();

    std::optional<CommandQueue::Command> next = queue.take(/*wait=*/true);
    while (next && next->kind == CommandKind::kSettings) {
      next->run();
      ++now.commands_done;
      board.publish();
      next = queue.take(/*wait=*/true);
    }
    now.pause_reason.clear();
    now.memory_refused.clear();
    now.state = before;
    const CommandKind kind = next ? next->kind : CommandKind::kOther;
    held = std::move(next);
    if (kind == CommandKind::kOther) throw Error(ErrorCode::kCancelled, "stopped");
    if (kind == CommandKind::kPhase) {
      held->run = [] {};  // it is the current phase
    } else {
      held->run = [this, run = std::move(held->run)] {
        if (!session->done()) run();  // the current phase may be the last
      };
    }
    gives_way = kind != CommandKind::kRetry;
    waited = true;
    board.publish();
    return true;
  }

  static RunSetup recorded_in(const std::string& capture_path, bool drawn,
                              const MeasureOptions& options = {}) {
    return {.capture = capture_path,
            .writer = {.level = options.level, .timed_while_drawing = drawn},
            .threads = options.threads,
            .breakpoints = true,
            .prompt_of_window = true};
  }

  void start(const RunRequest& request, const std::string& capture_path, bool run_at_once,
             bool drawn, const MeasureOptions& options = {}) {
    adopt(std::make_unique<Run>(request, models, recorded_in(capture_path, drawn, options), *this),
          capture_path);
    if (drawn) recorder->set_breakpoints(breakpoints);
    running = run_at_once;
  }

  void branch(std::int32_t node, std::int32_t token, const std::string& capture_path) {
    if (!session)
      throw Error(ErrorCode::kInvalidArgument,
                  "no run to branch from: start one first (a capture opened from a file cannot be "
                  "continued)");
    adopt(std::make_unique<Run>(*open_run, models, NodeId{node}, token,
                                recorded_in(capture_path, /*drawn=*/true)),
          capture_path);
    session->set_progress(progress());
    recorder->set_breakpoints(breakpoints);
  }

  void require_open_run() const {
    if (!session) throw Error(ErrorCode::kInvalidArgument, "no run is open: press Start");
    if (session->done())
      throw Error(ErrorCode::kInvalidArgument, "the run has ended: press Start for a new one");
  }

  // Runs one phase; returns whether something asks for a pause after it.
  bool advance_once() {
    gives_way = waited = false;
    if (session->next_tick() == 0) {
      now.state = LiveState::kLoading;  // prefill shows progress and can be cancelled
      board.publish();
    }
    session->advance();
    now.next_tick = session->next_tick();
    if (std::exchange(waited, false) && !session->done())
      board.notice(LogLevel::kInfo, "there was memory again: the run goes on");
    BreakHit hit = recorder->take_hit();
    if (!hit.empty()) ++now.pause_serial;
    now.pause_reason = std::move(hit.text);
    now.pause_node = hit.node;
    if (run_target && now.next_tick >= *run_target) {
      run_target.reset();
      return true;
    }
    return std::exchange(gives_way, false) || !now.pause_reason.empty();
  }

  void step(bool whole) {
    require_open_run();
    running = false;
    run_target.reset();  // it belongs to a run that a breakpoint stopped on its way
    now.pause_reason.clear();
    do {
      if (advance_once()) break;
    } while (whole && !session->done() &&
             capture::phase_of(session->next_tick()) != capture::Phase::kDraft);
    recorder->flush();
  }

  void loop() {
    while (true) {
      auto command = std::exchange(held, {});
      if (!command) command = queue.take(/*wait=*/!running);
      if (queue.closed()) break;
      counted = !command;
      if (command) {
        guarded(command->run);
        if (!counted) ++now.commands_done;
        board.publish();
        continue;
      }
      guarded([&] {
        if (pause_requested.exchange(false)) {
          running = false;
        } else if (advance_once()) {
          running = false;
        }
        if (!running || session->done()) recorder->flush();
      });
      board.publish(/*force=*/!running);
    }
    close_session();
  }
};

SessionThread::SessionThread(std::function<void()> wake, const ModelLoader& loader,
                             std::uint64_t runs_before)
    : impl_(std::make_unique<Impl>(std::move(wake), loader)) {
  impl_->now.run_serial = runs_before;
  if (runs_before > 0) impl_->board.publish();
  impl_->thread = std::thread([impl = impl_.get()] { impl->loop(); });
}

SessionThread::~SessionThread() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->cancel_source.request_stop();
    if (impl_->stoppable) impl_->stoppable->request_stop();
  }
  impl_->queue.close();
  impl_->thread.join();
}

std::shared_ptr<const LiveStatus> SessionThread::status() const { return impl_->board.published(); }

std::uint64_t SessionThread::commands_sent() const { return impl_->queue.sent(); }

std::vector<CatalogEntry> SessionThread::draft_models() const {
  std::vector<CatalogEntry> entries = list_draft_models();
  for (CatalogEntry& model : list_models()) entries.push_back(std::move(model));
  return entries;
}

std::string SessionThread::drafts_by_default(const RunRequest& request) const {
  return default_draft(find_method(request.method), resolve_model(request.model));
}

RunMemory SessionThread::memory_of(const RunRequest& request, std::int64_t prompt_tokens) const {
  return memory_of_run(impl_->headers, request, prompt_tokens, status()->model);
}

WhatFits SessionThread::what_fits(const RunRequest& request) const {
  return what_fits_of(impl_->headers, list_models(), request);
}

PromptCount SessionThread::count_prompt(const RunRequest& request) const {
  const auto now = status();
  PromptSource loaded;
  if (now->model && now->model->path == resolve_model(request.model))
    loaded = {now->tokenizer, now->model->name, now->model->context};
  return impl_->prompts.count(loaded, request);
}

void SessionThread::load(const std::string& model, const std::string& device, DType dtype,
                         std::optional<DType> kv_dtype) {
  LoadOptions options;
  options.device = device;
  options.dtype = dtype;
  options.kv_dtype = kv_dtype;
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get(), model, options] {
    impl->models.load_target(model, options, *impl);
  });
}

// Clears a pause that was requested earlier. This is not done within the command: a pause that is
// requested while the command waits must still take effect.
void SessionThread::start(const RunRequest& request, const std::string& capture_path,
                          bool run_at_once) {
  impl_->pause_requested = false;
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get(), request, capture_path, run_at_once] {
    impl->start(request, capture_path, run_at_once, /*drawn=*/true);
  });
}

void SessionThread::measure(const RunRequest& request, const std::string& capture_path,
                            const MeasureOptions& options) {
  impl_->pause_requested = false;
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get(), request, capture_path, options] {
    impl->start(request, capture_path, /*run_at_once=*/true, /*drawn=*/false, options);
  });
}

void SessionThread::step() {
  impl_->queue.send(CommandKind::kGoOn, [impl = impl_.get()] { impl->step(/*whole=*/true); });
}

void SessionThread::step_phase() {
  impl_->queue.send(CommandKind::kPhase, [impl = impl_.get()] { impl->step(/*whole=*/false); });
}

void SessionThread::try_again() {
  impl_->queue.send(CommandKind::kRetry, [] {});
}

void SessionThread::run() {
  impl_->pause_requested = false;
  impl_->queue.send(CommandKind::kGoOn, [impl = impl_.get()] {
    impl->require_open_run();
    impl->now.pause_reason.clear();
    impl->run_target.reset();
    impl->running = true;
  });
}

void SessionThread::run_to(capture::Tick tick) {
  impl_->pause_requested = false;
  impl_->queue.send(CommandKind::kGoOn, [impl = impl_.get(), tick] {
    impl->require_open_run();
    if (impl->session->next_tick() >= tick) return;
    impl->now.pause_reason.clear();
    impl->run_target = tick;
    impl->running = true;
  });
}

void SessionThread::branch(std::int32_t node, std::int32_t token, const std::string& capture_path) {
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get(), node, token, capture_path] {
    impl->branch(node, token, capture_path);
  });
}

void SessionThread::set_breakpoints(std::vector<Breakpoint> breakpoints) {
  impl_->queue.send(CommandKind::kSettings,
                    [impl = impl_.get(), breakpoints = std::move(breakpoints)] {
                      impl->breakpoints = breakpoints;
                      if (impl->recorder) impl->recorder->set_breakpoints(breakpoints);
                    });
}

void SessionThread::pause() { impl_->pause_requested = true; }

void SessionThread::stop() {
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->stoppable) impl_->stoppable->request_stop();
  }
  // The session ends at its next phase; this ensures that there is one.
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get()] {
    if (!impl->session) return;
    while (!impl->session->done()) impl->session->advance();
    impl->recorder->flush();
  });
}

void SessionThread::cancel() {
  impl_->queue.drop();
  std::lock_guard lock(impl_->mutex);
  impl_->cancel_source.request_stop();
  if (impl_->stoppable && impl_->board.published()->state == LiveState::kLoading)
    impl_->stoppable->request_stop();
}

}  // namespace triescope::app
