// ServedSession: a decoder that windows on other machines use. It owns a RunHost, records its runs in
// a folder of its own, and speaks with any number of lines: one that commands it and others that
// watch. Rows are read from the captures, so nothing waits in memory for a slow line, and the run
// goes on without one.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/remote/allowed_paths.h"
#include "app/remote/line.h"
#include "app/session/run_host.h"

namespace triescope::app {

struct ServedSetup {
  std::string name;              // names the session
  std::filesystem::path folder;  // for captures; exists
  AllowedPaths paths{{}};
  std::string version;  // this program's
  // Makes the host, with the function to call after every new snapshot.
  std::function<std::unique_ptr<RunHost>(std::function<void()> wake)> host;
  // Answers a report that a command line prints: info, check, methods. Errors go to the asker.
  std::function<nlohmann::json(const std::string& name, const nlohmann::json& about)> report = {};
};

class ServedSession {
 public:
  explicit ServedSession(ServedSetup setup);
  ~ServedSession();  // REQUIRES: no serve() runs
  ServedSession(const ServedSession&) = delete;
  ServedSession& operator=(const ServedSession&) = delete;

  // Speaks with one client until its line ends; returns why, if that was no plain end. A client that
  // commands takes the place of the one before it. Thread-safe.
  std::string serve(Line& line, bool watch);

  // A client has ended the session.
  bool ended() const;
  // How long nobody has been there and nothing has decoded or loaded.
  std::chrono::steady_clock::duration idle() const;
  // Ends all lines, so that every serve() returns.
  void shut();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace triescope::app
