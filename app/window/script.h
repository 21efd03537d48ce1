// Script: the window driven by a file, one command a line: any command of the command table by its
// id, and verbs with arguments (docs/script.md). '#' begins a comment. A line runs once the
// effect of the line before it has been drawn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/window/commands.h"

namespace triescope::app {

class Script {
 public:
  // Error{kInvalidArgument}: file, line, what was found, what is allowed. Everything is checked
  // before anything runs.
  Script(const std::string& path, const CommandTable& commands);
  static Script empty() { return Script(); }

  struct Line {
    int number = 0;
    std::string verb, argument;
  };
  bool finished() const { return next_ >= lines_.size(); }
  const Line& current() const { return lines_[next_]; }
  void advance() { ++next_; }
  void append(const std::string& verb, const std::string& argument) {
    lines_.push_back({0, verb, argument});
  }
  std::string where() const;  // "demo.script:12"

 private:
  Script() = default;
  std::string path_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
};

struct ScriptHost {
  Workspace& workspace;
  UiState& ui;
  const CommandTable& commands;
  std::function<void(const std::string& path)> screenshot;
  std::function<void(const std::string& path)> write_state;
  std::function<void(int width, int height)> resize;
  double seconds = 0;         // steady clock
  double waiting_since = -1;  // of the current wait line
};

// Runs the current line. True: it is done (the script moves on), false: it waits. Errors name the
// line.
bool run_script_line(Script& script, ScriptHost& host);

}  // namespace triescope::app
