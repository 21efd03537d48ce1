// The backlog of one client: rows of runs and news of the host's status that it still lacks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/remote/messages.h"
#include "core/capture/row_stream.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope::app {

// A run of a session, in the order in which they began: run i has the number i + 1.
struct ServedRun {
  std::string path;
  std::string asked_by;  // the client that started it, and its Ask
  std::uint64_t asked_serial = 0;
};

// Finds the rows that a client still lacks. It belongs to one line and is used by its writing thread.
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

// The notices that a client has not had, and the model where it changed.
class StatusDiff {
 public:
  // The client has the notices up to this one. A watcher gets no tokenizer: it may not ask it.
  StatusDiff(std::uint64_t notice, bool watch) : notice_(notice), watch_(watch) {}

  Told next(const LiveStatus& status, std::uint64_t commands_sent, std::uint64_t taken);

 private:
  std::uint64_t notice_;
  const bool watch_;
  bool first_ = true;
  nlohmann::json model_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace triescope::app
