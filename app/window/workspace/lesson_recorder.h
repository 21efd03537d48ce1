// LessonRecorder: what somebody does in the window, as the lines of a lesson's do block. A do block says
// a whole state, so it is the latest of each kind that counts: where the cursor stands, and which
// panels, node and steps are shown where they are others than at the beginning. No drawing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/capture/records.h"

namespace triescope::app {

class LessonRecorder {
 public:
  // What the window shows.
  struct Seen {
    capture::Tick cursor = 0;
    std::int32_t locked = -1;
    std::optional<std::pair<std::int32_t, std::int32_t>> range = {};
    std::vector<std::string> panels = {};  // visible, as they are drawn
    std::string maximised = {};
    bool operator==(const Seen&) const = default;
  };

  explicit LessonRecorder(Seen begin) : begin_(begin), now_(std::move(begin)) {}
  // True: it is another state than the last one.
  bool see(Seen now);
  std::vector<std::string> lines() const;
  std::string block() const;  // the lines as a fenced block, to be pasted

 private:
  Seen begin_, now_;
};

}  // namespace triescope::app
