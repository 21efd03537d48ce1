// Line: two-way bytes between a window and the machine that decodes for it, over a pair of file
// descriptors: a socket, or the pipes of a child process such as ssh.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/remote/wire.h"

namespace triescope::app {

class Line {
 public:
  virtual ~Line() = default;
  // Blocks until all of it is on its way. Error{kIoError}: the line is broken.
  virtual void write(std::string_view bytes) = 0;
  // Blocks until there is something; "" = the line has ended.
  virtual std::string read() = 0;
  // Ends the line. May be called from any thread, and lets read() and write() of others return.
  virtual void shut() = 0;
  // After the end: why, as far as the line knows; "" = it does not.
  virtual std::string why_ended() { return ""; }
};

// The next frame; nullopt: the line has ended. Errors: those of FrameReader.
std::optional<Frame> next_frame(Line& line, FrameReader& reader);

// Over descriptors that it owns and closes (`in` and `out` may be one socket).
std::unique_ptr<Line> line_over(int in, int out);
// Starts a program and speaks over its standard input and output. `explain` makes why_ended() of its
// exit code (-1 = it was killed) and of the end of what it wrote to standard error.
// Error{kNotFound}: there is no such program; {kIoError}: it cannot be started.
using Explain = std::function<std::string(int exit_code, const std::string& said)>;
std::unique_ptr<Line> line_to_program(const std::vector<std::string>& command, Explain explain);

}  // namespace triescope::app
