// RowPump: which rows of which run a client still lacks. One line's, used by its writing thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/remote/messages.h"
#include "core/capture/row_stream.h"

namespace triescope::app {

// A run of a session, in the order in which they began: run i has the number i + 1.
struct ServedRun {
  std::string path;
  std::string asked_by;  // the client that started it, and its Ask
  std::uint64_t asked_serial = 0;
};

class RowPump {
 public:
  // The client has rows of run `run` up to `marks`; 0 = it begins with the newest.
  RowPump(std::uint64_t run, capture::StreamMarks marks) : run_(run), marks_(std::move(marks)) {}

  // Sends what the client lacks as far as it is in the files now: each run to its end, in order.
  // `send` takes a frame's bytes. Errors: those of RowFeed and of `send`.
  void send_all(const std::vector<ServedRun>& runs,
                const std::function<void(const std::string&)>& send);

 private:
  std::uint64_t run_;
  capture::StreamMarks marks_;
  std::optional<capture::RowFeed> feed_;  // of run_
};

}  // namespace triescope::app
