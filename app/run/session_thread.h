// SessionThread: the one thread that owns the model, the session and libtorch. The window sends
// commands and reads immutable snapshots; it never waits for this thread. Errors become notices in
// the snapshot; the thread survives them. Thread-safety: every public member function may be called
// from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/breakpoints.h"
#include "app/run/request.h"
#include "core/capture/records.h"
#include "core/model/model.h"

namespace triescope::app {

enum class LiveState : std::uint8_t {
  kIdle,     // no run
  kLoading,  // model or prefill under way; can be cancelled
  kPaused,   // a run waits for a command
  kRunning,  // decoding on its own
  kDone,     // the run has ended
};
const char* to_string(LiveState state);

struct Notice {
  std::uint64_t serial = 0;  // grows by one with every notice
  LogLevel level = LogLevel::kInfo;
  std::string text;
};

// A moment of the session thread. Never changes once published.
struct LiveStatus {
  LiveState state = LiveState::kIdle;
  std::optional<ModelInfo> model;  // the loaded one
  // Its own; any thread may use it.
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string progress;  // "loading weights"; "" = nothing under way
  double progress_done = 0, progress_total = 0;
  std::string capture_path;      // of the newest run; "" = none yet
  std::uint64_t run_serial = 0;  // grows by one with every run started
  capture::Tick next_tick = 0;
  std::string pause_reason;         // what breakpoint was hit; "" = none
  std::int32_t pause_node = -1;     // the node it was hit at; -1 = none
  std::uint64_t pause_serial = 0;   // grows by one with every breakpoint hit
  std::uint64_t commands_done = 0;  // commands finished so far (scripts wait on it)
  std::vector<Notice> notices;      // the newest 200
};

class SessionThread {
 public:
  // `wake` is called (from the session thread) after every new snapshot.
  explicit SessionThread(std::function<void()> wake);
  ~SessionThread();  // stops a running forward, closes the capture properly
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;

  std::shared_ptr<const LiveStatus> status() const;

  // Loads the model unless it is the loaded one already.
  void load(const std::string& model, const std::string& device, DType dtype,
            std::optional<DType> kv_dtype = {});
  // Starts a run and pauses before its first phase (run_at_once: decodes on). The capture before it
  // is closed and stays.
  void start(const RunRequest& request, const std::string& capture_path, bool run_at_once);
  void step();
  void step_phase();
  void run();
  // Runs until the cursor would reach `tick`.
  void run_to(capture::Tick tick);
  // Decodes on from `node` of the newest run with `token` after it, as a new run.
  void branch(std::int32_t node, std::int32_t token, const std::string& capture_path);
  void set_breakpoints(std::vector<Breakpoint> breakpoints);

  void pause();  // after the phase under way
  // Ends the run: the forward under way is abandoned within a layer; what was recorded stays.
  void stop();
  void cancel();  // leaves loading or prefill; commands waiting behind it are dropped

  std::uint64_t commands_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::app
