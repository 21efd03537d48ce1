// CommandQueue: commands from the window that the session thread has not run yet, in order.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

namespace triescope::app {

// A command's meaning for a run that waits for memory.
enum class CommandKind : std::uint8_t {
  kOther,     // ends the run, or makes room for another
  kRetry,     // tries again what was refused memory, and nothing else
  kGoOn,      // tries again, then runs the command: run, step
  kPhase,     // tries again; the phase that was refused memory is the one that was asked for
  kSettings,  // does not touch the run
};

class CommandQueue {
 public:
  struct Command {
    CommandKind kind = CommandKind::kOther;
    std::function<void()> run;
  };

  void send(CommandKind kind, std::function<void()> run);
  std::uint64_t sent() const;  // dropped commands do not count
  // Drops the commands that wait.
  void drop();
  // From now on nothing waits.
  void close();
  bool closed() const;

  // --- the session thread's ---
  // The next command; none if the queue is empty (`wait`: only once it is closed).
  std::optional<Command> take(bool wait);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> waiting_;
  std::uint64_t sent_ = 0;
  bool closed_ = false;
};

}  // namespace triescope::app
