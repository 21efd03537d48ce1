// LessonRecorder: writes what somebody does in the window as the lines of a lesson's do block. A do
// block describes a whole state, so only the latest of each kind counts: the cursor always; panels,
// node and steps where they differ from the beginning. Draws nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/records.h"
#include "viz/query/step_range.h"

namespace triescope::app {

class LessonRecorder {
 public:
  // The state of the window.
  struct Seen {
    capture::Tick cursor = 0;
    std::int32_t locked = -1;
    viz::StepRange range = {};
    std::vector<std::string> panels = {};  // visible, in drawing order
    std::string maximised = {};
    bool operator==(const Seen&) const = default;
  };

  explicit LessonRecorder(Seen begin) : begin_(begin), now_(std::move(begin)) {}
  // True: the state changed.
  bool see(Seen now);
  std::vector<std::string> lines() const;
  std::string block() const;  // the lines as a fenced block, to paste into a lesson

 private:
  Seen begin_, now_;
};

}  // namespace triescope::app
