// Connection: how the window comes to a decoder on another machine, and back. A line is opened in
// the background; once it stands, that machine decodes. Window thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/remote/dial.h"
#include "app/window/workspace/host_answers.h"
#include "app/window/workspace/live_run.h"

namespace triescope::app {

class Connection {
 public:
  Connection(LiveRun& run, HostAnswers& answers, Preferences& preferences, Messages& log,
             std::function<void()> wake)
      : run_(run),
        answers_(answers),
        preferences_(preferences),
        log_(log),
        wake_(std::move(wake)) {}

  // Begins to open a line. Nothing changes until it stands.
  void connect(const RemotePlace& place);
  void cancel() { coming_.reset(); }
  // This machine decodes from now on. The session there ends; what it recorded stays.
  void come_back();
  // Whether another machine decodes.
  bool is_away() const { return !run_.host().line().host.empty(); }
  // Takes a line that stands by now into use. True if anything changed.
  bool update();

  bool under_way() const { return coming_ != nullptr; }
  const std::string& problem() const {
    return problem_;
  }  // why the last one failed; "" = it did not
  // Grows by one with every line taken into use.
  int lines() const { return lines_; }

 private:
  void use(std::shared_ptr<RunHost> host);

  LiveRun& run_;
  HostAnswers& answers_;
  Preferences& preferences_;
  Messages& log_;
  const std::function<void()> wake_;
  std::unique_ptr<RemoteHost> coming_;
  std::string host_, problem_;
  int lines_ = 0;
};

}  // namespace triescope::app
