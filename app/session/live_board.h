// LiveBoard: where the session thread reports. It changes `now` and publishes snapshots of it,
// which never change.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "app/session/live_status.h"
#include "core/base/log.h"

namespace triescope::app {

class LiveBoard {
 public:
  // `wake` is called after every new snapshot.
  explicit LiveBoard(std::function<void()> wake) : wake_(std::move(wake)) {}

  // May be called from any thread.
  std::shared_ptr<const LiveStatus> published() const;

  // --- for the session thread ---
  LiveStatus now;
  void publish(bool force = true);  // without `force` at most every 33 ms
  void notice(LogLevel level, const std::string& text);
  // Its reports become `now.progress`.
  ProgressSink progress_sink();
  void clear_progress();

 private:
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::shared_ptr<const LiveStatus> published_ = std::make_shared<LiveStatus>();
  std::chrono::steady_clock::time_point last_publish_{};
};

}  // namespace triescope::app
