#include "app/session/command_queue.h"

#include <utility>

namespace triescope::app {

void CommandQueue::send(CommandKind kind, std::function<void()> run) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back({kind, std::move(run)});
    ++sent_;
  }
  changed_.notify_all();
}

std::uint64_t CommandQueue::sent() const {
  std::lock_guard lock(mutex_);
  return sent_;
}

void CommandQueue::drop() {
  std::lock_guard lock(mutex_);
  sent_ -= waiting_.size();
  waiting_.clear();
}

void CommandQueue::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool CommandQueue::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

std::optional<CommandQueue::Command> CommandQueue::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
  if (closed_ || waiting_.empty()) return {};
  Command command = std::move(waiting_.front());
  waiting_.pop_front();
  return command;
}

}  // namespace triescope::app
