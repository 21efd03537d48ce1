#include "app/session/live_board.h"

#include <utility>

namespace triescope::app {

namespace {

constexpr auto kPublishInterval = std::chrono::milliseconds(33);

}  // namespace

std::shared_ptr<const LiveStatus> LiveBoard::published() const {
  std::lock_guard lock(mutex_);
  return published_;
}

void LiveBoard::publish(bool force) {
  const auto time = std::chrono::steady_clock::now();
  if (!force && time - last_publish_ < kPublishInterval) return;
  last_publish_ = time;
  auto snapshot = std::make_shared<LiveStatus>(now);
  {
    std::lock_guard lock(mutex_);
    published_ = std::move(snapshot);
  }
  wake_();
}

void LiveBoard::notice(LogLevel level, const std::string& text) {
  const std::uint64_t serial = now.notices.empty() ? 1 : now.notices.back().serial + 1;
  now.notices.push_back({serial, level, text});
  if (now.notices.size() > kMaxNotices) now.notices.erase(now.notices.begin());
}

ProgressSink LiveBoard::progress_sink() {
  return [this](const std::string& what, double done, double total) {
    now.progress = what;
    now.progress_done = done;
    now.progress_total = total;
    publish(/*force=*/false);
  };
}

void LiveBoard::clear_progress() {
  now.progress.clear();
  now.progress_done = now.progress_total = 0;
}

}  // namespace triescope::app
