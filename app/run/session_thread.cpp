#include "app/run/session_thread.h"

#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "app/run/catalog.h"
#include "app/run/command_queue.h"
#include "app/run/loaded_model.h"
#include "app/run/memory_check.h"
#include "core/base/error.h"
#include "core/capture/writer.h"

namespace triescope::app {

struct SessionThread::Impl {
  Impl(std::function<void()> wake, const ModelLoader& loader) : board(std::move(wake)) {
    target.loader = draft.loader = loader;
  }

  // Shared with the callers.
  CommandQueue queue;
  LiveBoard board;
  std::mutex mutex;                // of the next two
  std::stop_source cancel_source;  // loading
  Session* stoppable = nullptr;    // the session request_stop() may be sent to
  std::atomic<bool> pause_requested{false};

  // The session thread's own.
  LiveStatus& now = board.now;
  LoadedModel target;
  LoadedDraft draft;  // stays until another is asked for
  std::unique_ptr<capture::Recorder> file;
  std::unique_ptr<BreakRecorder> recorder;
  std::unique_ptr<Session> session;
  std::vector<Breakpoint> breakpoints;
  bool running = false;
  bool warned = false;   // the run's warning, if it had one, is a notice
  bool counted = false;  // the command under way is among commands_done already
  std::optional<CommandQueue::Command> held;  // has its turn after the phase or command under way
  bool gives_way = false;                     // to it, after this phase
  bool waited = false;                        // for memory, in the phase under way
  std::optional<capture::Tick> run_target;

  std::thread thread;

  // Runs one command or phase; whatever it throws becomes a notice and the thread goes on.
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

  // A run that is left behind is stopped properly, so that its capture says so.
  void close_session() {
    watch_session(nullptr);
    if (session && !session->done()) {
      session->request_stop();
      try {
        while (!session->done()) session->advance();
      } catch (const std::exception&) {
        // The run was to be stopped anyway; the capture keeps what was recorded.
      }
    }
    session.reset();
    recorder.reset();
    file.reset();
    running = false;
    run_target.reset();
  }

  void ensure_model(const std::string& name, const std::string& device, DType dtype,
                    std::optional<DType> kv_dtype) {
    const std::string path = resolve_model(name);
    LoadOptions options;
    options.device = device;
    options.dtype = dtype;
    options.kv_dtype = kv_dtype;
    if (target.is(path, options)) return;
    const std::stop_token token = fresh_cancel_token();
    now.state = LiveState::kLoading;
    now.progress = "loading " + path;
    board.publish();
    target.load(path, options, board.progress_sink(), token, [this] {
      close_session();  // it may still use the old model
      draft.head.reset();
      now.model.reset();
      now.tokenizer.reset();
    });
    now.model = target.model->info();
    now.tokenizer = target.tokenizer;
    note_loaded(*target.model, "loaded ");
  }

  void note_loaded(const Model& model, const std::string& what) {
    const ModelInfo& info = model.info();
    board.notice(LogLevel::kInfo, what + info.name + " (" + std::string(to_string(info.dtype)) +
                                      ", " + info.device + ")");
    for (const std::string& note : info.notes) board.notice(LogLevel::kWarning, note);
    if (!info.warning.empty()) board.notice(LogLevel::kWarning, info.warning);
  }

  void note_head(const DraftHead& head) {
    board.notice(LogLevel::kInfo, "loaded as draft head: " + head.description);
    for (const std::string& note : head.notes) board.notice(LogLevel::kWarning, note);
  }

  DraftWith ensure_draft(const RunRequest& request) {
    bool loads = false;
    const DraftWith with =
        draft_for(request, target, draft, board.progress_sink(), fresh_cancel_token(), [&] {
          loads = true;
          close_session();  // it may still use the old draft model or head
          now.state = LiveState::kLoading;
          now.progress =
              "loading " + (request.draft_model.empty() ? "what drafts" : request.draft_model);
          board.publish();
        });
    if (loads && with.head) note_head(*with.head);
    if (loads && !with.head) note_loaded(*draft.model, "loaded as draft model: ");
    return with;
  }

  void adopt(std::unique_ptr<capture::Recorder> new_file,
             std::unique_ptr<BreakRecorder> new_recorder, std::unique_ptr<Session> new_session,
             const std::string& capture_path) {
    close_session();
    file = std::move(new_file);
    recorder = std::move(new_recorder);
    session = std::move(new_session);
    warned = false;
    session->set_progress(board.progress_sink());
    session->wait_for_memory([this](const Error& refused) { return wait_for_memory(refused); });
    recorder->flush();
    watch_session(session.get());
    now.capture_path = capture_path;
    now.pause_reason.clear();
    ++now.run_serial;
  }

  // The run stands in the middle of a phase, and nothing of it is lost. What asks for more of it
  // tries again; what ends it or makes room for another stops it.
  bool wait_for_memory(const Error& refused) {
    const LiveState before = now.state;
    try {
      recorder->flush();
    } catch (const Error& error) {  // it keeps what it finds no room for
      if (error.code() != ErrorCode::kOutOfMemory) throw;
    }
    board.clear_progress();
    now.state = LiveState::kPaused;
    now.pause_reason = "out of memory";
    constexpr std::string_view kAgain = "out of memory: ";
    now.memory_refused = refused.what();
    if (now.memory_refused.starts_with(kAgain)) now.memory_refused.erase(0, kAgain.size());
    board.notice(LogLevel::kWarning, now.pause_reason + ": " + now.memory_refused);
    // Scripts wait for commands that are done: as far as they get, these are.
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
      held->run = [] {};  // it is the phase under way
    } else {
      held->run = [this, run = std::move(held->run)] {
        if (!session->done()) run();  // the phase under way may be the last
      };
    }
    gives_way = kind != CommandKind::kRetry;
    waited = true;
    board.publish();
    return true;
  }

  // Breakpoints say tokens by their texts.
  std::unique_ptr<BreakRecorder> watch(capture::Recorder& inner) const {
    return std::make_unique<BreakRecorder>(
        inner,
        [tokenizer = target.tokenizer](std::int32_t token) { return tokenizer->piece(token); });
  }

  void start(const RunRequest& request, const std::string& capture_path, bool run_at_once,
             bool drawn) {
    // Refused before anything is touched: the run that is open stays.
    check_request(request);
    ensure_model(request.model, request.device, request.dtype, request.kv_dtype);
    RunConfig config = make_run_config(as_read_by(*target.tokenizer, request), *target.tokenizer);
    config.draft = ensure_draft(request);
    if (const std::string why = why_kv_may_not_fit(
            target.model->info(), target.options, request,
            static_cast<std::int64_t>(config.prompt_tokens.size()), free_memory(request.device));
        !why.empty())
      board.notice(LogLevel::kWarning, why);
    auto new_file = capture::open_recorder(capture_path, {.timed_while_drawing = drawn});
    auto new_recorder = watch(*new_file);
    auto new_session = std::make_unique<Session>(*target.model, *target.tokenizer,
                                                 std::move(config), *new_recorder);
    adopt(std::move(new_file), std::move(new_recorder), std::move(new_session), capture_path);
    if (drawn) recorder->set_breakpoints(breakpoints);
    running = run_at_once;
  }

  void branch(std::int32_t node, std::int32_t token, const std::string& capture_path) {
    if (!session)
      throw Error(ErrorCode::kInvalidArgument,
                  "no run to branch from: start one first (a capture opened from a file cannot be "
                  "continued)");
    auto new_file = capture::open_recorder(capture_path, {.timed_while_drawing = true});
    auto new_recorder = watch(*new_file);
    auto new_session = Session::branch(*session, NodeId{node}, token, *new_recorder);
    adopt(std::move(new_file), std::move(new_recorder), std::move(new_session), capture_path);
    recorder->set_breakpoints(breakpoints);
  }

  void require_open_run() const {
    if (!session) throw Error(ErrorCode::kInvalidArgument, "no run is open: press Start");
    if (session->done())
      throw Error(ErrorCode::kInvalidArgument, "the run has ended: press Start for a new one");
  }

  // One phase; true if something asks for a pause after it.
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
    run_target.reset();  // of a run that a breakpoint stopped on its way
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

SessionThread::SessionThread(std::function<void()> wake, const ModelLoader& loader)
    : impl_(std::make_unique<Impl>(std::move(wake), loader)) {
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

void SessionThread::load(const std::string& model, const std::string& device, DType dtype,
                         std::optional<DType> kv_dtype) {
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get(), model, device, dtype, kv_dtype] {
    impl->ensure_model(model, device, dtype, kv_dtype);
  });
}

// Clears a pause that was asked for earlier. Not within the command: a pause asked for while the
// command waits must still take effect.
void SessionThread::start(const RunRequest& request, const std::string& capture_path,
                          bool run_at_once) {
  impl_->pause_requested = false;
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get(), request, capture_path, run_at_once] {
    impl->start(request, capture_path, run_at_once, /*drawn=*/true);
  });
}

void SessionThread::measure(const RunRequest& request, const std::string& capture_path) {
  impl_->pause_requested = false;
  impl_->queue.send(CommandKind::kOther, [impl = impl_.get(), request, capture_path] {
    impl->start(request, capture_path, /*run_at_once=*/true, /*drawn=*/false);
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
  // The session ends at its next phase; this makes sure that there is one.
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
