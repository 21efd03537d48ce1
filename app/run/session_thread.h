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
#include "app/run/live_board.h"
#include "app/run/loaded_model.h"
#include "app/run/request.h"
#include "core/capture/records.h"
#include "core/model/model.h"

namespace triescope::app {

class SessionThread {
 public:
  // `wake` is called (from the session thread) after every new snapshot.
  explicit SessionThread(std::function<void()> wake, const ModelLoader& loader = load_model);
  ~SessionThread();  // stops a running forward, closes the capture properly
  SessionThread(const SessionThread&) = delete;
  SessionThread& operator=(const SessionThread&) = delete;

  std::shared_ptr<const LiveStatus> status() const;

  // Loads the model unless it is the loaded one already.
  void load(const std::string& model, const std::string& device, DType dtype,
            std::optional<DType> kv_dtype = {});
  // Starts a run and pauses before its first phase (run_at_once: decodes on). The capture before it
  // is closed and stays, and the new one is marked as timed while drawing.
  void start(const RunRequest& request, const std::string& capture_path, bool run_at_once);
  // The same for a run that decodes on while nothing is drawn: it is not marked, and no breakpoint
  // stops it.
  void measure(const RunRequest& request, const std::string& capture_path);
  void step();
  void step_phase();
  void run();
  // Runs until the cursor would reach `tick`.
  void run_to(capture::Tick tick);
  // For a run that waits for memory: tries again and goes on with what it was doing. So do step(),
  // step_phase(), run() and run_to(), which then do what they ask for; stop(), start(), branch() and
  // load() end it.
  void try_again();
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
