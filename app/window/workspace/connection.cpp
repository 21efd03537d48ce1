#include "app/window/workspace/connection.h"

#include <algorithm>
#include <utility>

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
  run_.use(std::move(coming_));
  ++lines_;
  if (!host_.empty()) {
    auto& recent = preferences_.recent_hosts;
    std::erase(recent, host_);
    recent.insert(recent.begin(), host_);
    recent.resize(std::min(recent.size(), kMaxRecentHosts));
  }
  log_.say(LogLevel::kInfo, "runs are decoded on " + where + " from now on");
  return true;
}

}  // namespace triescope::app
