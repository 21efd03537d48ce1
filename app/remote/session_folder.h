// Where served sessions live: a folder each in the user's cache, which nobody else may enter, with
// the sockets on which the session listens and the captures of its runs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/remote/line.h"

namespace triescope::app {

// The folder of all sessions, made where it is missing. Error{kIoError}: it cannot be made, or is somebody else's.
std::filesystem::path served_folder();
// A session's folder, which need not exist. Error{kInvalidArgument}: that is no session's name.
std::filesystem::path session_folder(const std::string& name);
std::string new_session_name();

// Listens in a session's folder, on one of two sockets: commands, or watching. The descriptor is the
// caller's. Error{kIoError}.
int listen_in(const std::filesystem::path& folder, bool watch);
// A line to a session of this machine. Error{kNotFound}: nobody listens there.
std::unique_ptr<Line> line_to_session(const std::string& name, bool watch);

struct SessionEntry {
  std::string name;
  std::filesystem::path folder;
  bool lives = false;
  // Where it lives: its model, "running" and the like, and how many steps the newest run has.
  std::string model = {}, state = {};
  long long steps = 0;
};
std::vector<SessionEntry> list_sessions(const std::string& version);

}  // namespace triescope::app
