// How a window or a command reaches a decoder on another machine: by ssh, as git and rsync do, or by
// another command in its place.
#pragma once

#include <string>
#include <vector>

#include "app/remote/remote_host.h"

namespace triescope::app {

struct RemotePlace {
  std::string host = {};              // as ssh takes it: user@host, or a name of ~/.ssh/config
  std::string command = {};           // in the place of ssh and the host; "" = ssh
  std::string program = "triescope";  // there
  std::string attach = {};            // a session that exists there; "" = a new one
  bool watch = false;                 // to see that session without commanding it
  bool named() const { return !host.empty() || !command.empty(); }
};

// The machine as people are told of it.
std::string where_text(const RemotePlace& place);
// The command that reaches the session; "" = a new one. Error{kInvalidArgument}: the host would
// be taken for an option of ssh, or the session has no name to watch.
std::vector<std::string> dial_command(const RemotePlace& place, const std::string& session);
// Why a line over that command ended, and what to do about it.
std::string explain_end(const RemotePlace& place, int exit_code, const std::string& said);
Dial dial_to(RemotePlace place);

// A host over that line, which is being opened. `runs_before`: RemoteSetup's.
// Error{kInvalidArgument}: that of dial_command().
std::unique_ptr<RemoteHost> remote_host(const RemotePlace& place, std::function<void()> wake,
                                        std::uint64_t runs_before = 0);

}  // namespace triescope::app
