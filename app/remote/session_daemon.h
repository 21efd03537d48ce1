// A served session in a process of its own, so that a run goes on when the line to it breaks, and
// the relay between that process and a line.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "app/remote/served_session.h"

namespace triescope::app {

struct DaemonSetup {
  ServedSetup served;             // `folder` is the session's
  std::chrono::minutes keep{30};  // how long it stays without a client and a run
  bool stop_when_alone = false;   // a run stops when its client is gone
  int ready = -1;                 // a descriptor that is told when it listens; -1 = none
};
// Serves until the client ends the session, nobody came for long, or SIGTERM. A session that its
// client ended leaves nothing. Error{kIoError}.
void run_daemon(DaemonSetup setup);

// Starts this program again as such a process and returns when it listens. `arguments` are those of
// the command line. `folder`: the session's, for its log. Error{kIoError}: what the process said.
void start_daemon(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

// Carries bytes between this process's standard input and output and a session, until either ends.
void relay(Line& session);
// Tells the other end of standard output why there is no session. `gone`: it has ended.
void refuse_relay(const std::string& why, bool gone, const std::string& version);

}  // namespace triescope::app
