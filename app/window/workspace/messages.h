// Messages: what was reported so far, in the window's words, and the errors that wait to be read. An error
// ends when what failed succeeds. Window thread only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/session/live_status.h"
#include "core/base/log.h"

namespace triescope::app {

class Messages {
 public:
  // What a person asks for and may ask for again: an error about it ends when it succeeds.
  enum class Action : std::uint8_t { kOpen, kSave, kExport };

  // `about`: serial of a document; the status line says it while that one is shown. 0 = whatever is.
  void say(LogLevel level, const std::string& text, std::uint64_t about = 0);
  void failed(Action action, const std::string& why, std::uint64_t about = 0);  // becomes a problem
  void succeeded(Action action);
  // For the status line while this document is shown (0 = none): the newest since a run was asked for last
  // that is not about another one; "" = none.
  std::string newest(std::uint64_t shown) const;
  // A run is asked for: what was said before is of an earlier one, or of a start that failed. The log
  // keeps it. What is said of this run, also while its model loads, stays.
  void begin_run();

  std::vector<std::string> problems;  // errors waiting to be read, oldest first
  std::vector<Notice> all;            // newest last

 private:
  std::uint64_t before_run_ = 0;                          // serial of the newest before that run
  std::vector<std::pair<Action, std::string>> failures_;  // those of `problems` that an action ends
};

}  // namespace triescope::app
