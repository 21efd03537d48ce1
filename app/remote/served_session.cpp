#include "app/remote/served_session.h"

#include <utility>

#include "app/remote/served_lines.h"

namespace triescope::app {

using Clock = std::chrono::steady_clock;

void ServedSession::Impl::wake() {
  std::lock_guard lock(mutex);
  ++version;
  if (host) note_run();
  changed.notify_all();
}

void ServedSession::Impl::note_run() {
  const auto status = host->status();
  if (status->run_serial <= runs.size()) return;
  ServedRun run{status->capture_path, "", 0};
  if (const auto start = starts.find(status->capture_path); start != starts.end()) {
    run.asked_by = start->second.first;
    run.asked_serial = start->second.second;
  }
  runs.push_back(std::move(run));
}

std::string ServedSession::Impl::new_path(const ClientGreeting& greeting, std::uint64_t serial) {
  std::string path = (setup.folder / ("run-" + std::to_string(++started) + ".tscap")).string();
  starts[path] = {greeting.client, serial};
  return path;
}

ServedSession::ServedSession(ServedSetup setup) : impl_(std::make_unique<Impl>(std::move(setup))) {
  auto host = impl_->setup.host([impl = impl_.get()] { impl->wake(); });
  std::lock_guard lock(impl_->mutex);
  impl_->host = std::move(host);
}

ServedSession::~ServedSession() {
  // Its thread calls wake() until it is gone.
  std::unique_ptr<RunHost> host;
  {
    std::lock_guard lock(impl_->mutex);
    host = std::move(impl_->host);
  }
}

std::string ServedSession::serve(Line& line, bool watch) {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->lines.insert(&line);
  }
  const std::string why = failure_of([&] { impl_->talk(line, watch); });
  std::lock_guard lock(impl_->mutex);
  impl_->lines.erase(&line);
  impl_->busy_until = Clock::now();
  return why;
}

bool ServedSession::ended() const { return impl_->ended; }

Clock::duration ServedSession::idle() const {
  std::lock_guard lock(impl_->mutex);
  if (!impl_->lines.empty() || works_by_itself(impl_->host->status()->state))
    impl_->busy_until = Clock::now();
  return Clock::now() - impl_->busy_until;
}

void ServedSession::shut() {
  std::lock_guard lock(impl_->mutex);
  for (Line* const line : impl_->lines) line->shut();
}

}  // namespace triescope::app
