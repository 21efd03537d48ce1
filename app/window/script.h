// Script: a file that drives the window, one command a line: any command of the command table by
// its id, or a verb with arguments (docs/script.md). '#' begins a comment. A line runs once the
// effect of the line before it has been drawn.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/window/script_verbs.h"

namespace triescope::app {

class Script {
 public:
  // Checks every line before any runs. Error{kInvalidArgument}: file, line, what was found, what is
  // allowed.
  Script(const std::string& path, const CommandTable& commands);
  static Script empty() { return Script(); }

  struct Line {
    int number = 0;
    ScriptCommand command;
  };
  bool finished() const { return next_ >= lines_.size(); }
  const Line& current() const { return lines_[next_]; }
  void advance() { ++next_; }
  void append(ScriptCommand command) { lines_.push_back({0, std::move(command)}); }
  std::string where() const;  // "demo.script:12"

 private:
  Script() = default;
  std::string path_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
};

// Runs the current line. True: it is done, and the script moves on; false: it waits. Errors name
// the line.
bool run_script_line(Script& script, ScriptHost& host);

}  // namespace triescope::app
