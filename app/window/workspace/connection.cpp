#include "app/window/workspace/connection.h"

#include <algorithm>
#include <utility>

#include "app/session/session_thread.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

constexpr std::size_t kMaxRecentHosts = 8;

}  // namespace

void Connection::connect(const RemotePlace& place) {
  coming_.reset();
  problem_.clear();
  host_ = place.host;
  try {
    coming_ = remote_host(place, wake_, run_.status().run_serial);
  } catch (const Error& error) {
    problem_ = error.what();
  }
}

bool Connection::update() {
  if (!coming_) return false;
  problem_ = coming_->line().lost;
  if (!problem_.empty()) {
    coming_.reset();
    return true;
  }
  if (coming_->session().empty() || !coming_->connected()) return false;
  const std::string where = coming_->line().host;
  use(std::move(coming_));
  if (!host_.empty()) {
    auto& recent = preferences_.recent_hosts;
    std::erase(recent, host_);
    recent.insert(recent.begin(), host_);
    recent.resize(std::min(recent.size(), kMaxRecentHosts));
  }
  log_.say(LogLevel::kInfo, "runs are decoded on " + where + " from now on");
  return true;
}

void Connection::use(std::shared_ptr<RunHost> host) {
  run_.use(host);
  answers_.use(std::move(host));
  ++lines_;
}

void Connection::come_back() {
  if (!is_away()) return;
  const std::string where = run_.host().line().host;
  use(std::make_shared<SessionThread>(wake_, load_model, run_.status().run_serial));
  log_.say(LogLevel::kInfo, "runs are decoded on this machine from now on, no longer on " + where);
}

}  // namespace triescope::app
