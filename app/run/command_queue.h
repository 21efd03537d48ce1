// CommandQueue: what the window asked of the session thread and was not done yet, in order.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace triescope::app {

// What a command means to a run that waits for memory.
enum class CommandKind : std::uint8_t {
  kOther,     // the run is to end, or to make room for another
  kRetry,     // try again what was refused memory, and nothing else
  kGoOn,      // try again, then do the command: run, step
  kPhase,     // try again; the phase that was refused memory is the one that is asked for
  kSettings,  // does not touch the run
};

class CommandQueue {
 public:
  struct Command {
    CommandKind kind = CommandKind::kOther;
    std::function<void()> run;
  };

  void send(CommandKind kind, std::function<void()> run);
  std::uint64_t sent() const;  // those that were dropped do not count
  // Drops what waits.
  void drop();
  // From now on nothing is waited for.
  void close();
  bool closed() const;

  // --- the session thread's ---
  // The next one; none where the queue is empty (`wait`: only once it is closed).
  std::optional<Command> take(bool wait);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> waiting_;
  std::uint64_t sent_ = 0;
  bool closed_ = false;
};

}  // namespace triescope::app
