// Runs a session thread: waits for its snapshots, and can hold it in the middle of its work.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "app/session/session_thread.h"

namespace triescope::app {

class SessionHarness {
 public:
  explicit SessionHarness(const ModelLoader& loader = load_model)
      : thread([this] { wake(); }, loader) {}
  ~SessionHarness() { release(); }

  // Waits until `condition(status)` holds, now or at a later snapshot. False after two minutes: the
  // machine is stuck then, not slow.
  template <class Condition>
  bool until(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(2), [&] {
      lock.unlock();
      const bool met = condition(*thread.status());
      lock.lock();
      return met;
    });
  }
  // Waits until every command is done and nothing runs on its own.
  void settle() {
    REQUIRE(until([&](const LiveStatus& status) {
      return status.commands_done >= thread.commands_sent() &&
             status.state != LiveState::kRunning && status.state != LiveState::kLoading;
    }));
  }

  // Holds the thread at the end of a command of its own. Commands sent until release() wait behind
  // it.
  void hold() {
    {
      std::lock_guard lock(mutex_);
      hold_ = true;
    }
    thread.set_breakpoints(breakpoints);
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, std::chrono::minutes(2), [&] { return held_; }));
  }
  void release() {
    {
      std::lock_guard lock(mutex_);
      hold_ = false;
    }
    changed_.notify_all();
  }

  std::size_t errors() const {
    std::size_t count = 0;
    for (const Notice& notice : thread.status()->notices) count += notice.level == LogLevel::kError;
    return count;
  }
  std::string last_notice() const {
    const auto status = thread.status();
    return status->notices.empty() ? "" : status->notices.back().text;
  }

  std::vector<Breakpoint> breakpoints;  // sent by hold(), so set them before

 private:
  void wake() {
    std::unique_lock lock(mutex_);
    held_ = hold_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !hold_; });
    held_ = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool hold_ = false, held_ = false;

 public:
  SessionThread thread;  // last: it calls wake()
};

}  // namespace triescope::app
