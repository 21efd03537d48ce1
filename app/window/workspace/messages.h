// Messages: everything reported so far, in the window's words, and the errors that wait to be read.
// An error ends when the action that failed succeeds. Window thread only.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "app/session/live_status.h"
#include "core/base/log.h"

namespace triescope::app {

class Messages {
 public:
  // An action that a person can repeat: an error about it ends when it succeeds.
  enum class Action : std::uint8_t { kOpen, kSave, kExport };

  // `about` is the serial of a document: the status line shows the message while that document is
  // shown. 0 = always.
  void say(LogLevel level, const std::string& text, std::uint64_t about = 0);
  void failed(Action action, const std::string& why, std::uint64_t about = 0);  // becomes a problem
  void succeeded(Action action);
  // Acts, and takes down which of the two came of it.
  template <class Act>
  void attempt(Action action, const Act& act, std::uint64_t about = 0) {
    try {
      act();
      succeeded(action);
    } catch (const std::exception& error) {
      failed(action, error.what(), about);
    }
  }
  // The status line's text while this document is shown (0 = none): the newest message since the
  // last run was asked for that is not about another document; "" = none.
  std::string newest(std::uint64_t shown) const;
  // Marks that a run is asked for. Earlier messages are about another run or a start that failed,
  // so only the log keeps them. Messages about this run stay, also those said while its model
  // loads.
  void begin_run();

  std::vector<std::string> problems;  // errors waiting to be read, oldest first
  std::vector<Notice> all;            // newest last

 private:
  std::uint64_t before_run_ = 0;                          // serial of the last message before it
  std::vector<std::pair<Action, std::string>> failures_;  // `problems` that a success ends
};

// The window's words for a message from below, which names the command line's options: "Name one with
// --draft PATH, or in the run bar" -> "Name one in the run bar". A text without options is unchanged.
std::string in_window_words(std::string text);

}  // namespace triescope::app
