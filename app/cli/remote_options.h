// The options with which a command reaches another machine: --remote, --remote-command,
// --remote-program.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/reports.h"
#include "app/remote/dial.h"

namespace triescope::app {

class RemoteOptions {
 public:
  void add_to(CLI::App& command);
  // With --attach and --watch, for whoever shows a run.
  void add_session_to(CLI::App& command);
  const RemotePlace& place() const { return place_; }

 private:
  RemotePlace place_;
};

// A connected host. Errors: kIoError, why there is no line and what to do.
std::unique_ptr<RemoteHost> connect_to(const RemotePlace& place, std::function<void()> wake);

// The report that the other machine makes.
Report remote_report(const RemoteOptions& remote, const std::string& name,
                     const nlohmann::json& about);

}  // namespace triescope::app
