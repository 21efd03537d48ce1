// LiveStatus: what a run host (run_host.h) says of the run it decodes, at one moment. Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/capture/records.h"
#include "core/model/model.h"
#include "core/tokenizer/tokenizer.h"

namespace triescope::app {

enum class LiveState : std::uint8_t {
  kIdle,     // no run
  kLoading,  // model or prefill under way; can be cancelled
  kPaused,   // a run waits for a command
  kRunning,  // decoding on its own
  kDone,     // the run has ended
};
const char* to_string(LiveState state);

struct Notice {
  std::uint64_t serial = 0;  // grows by one with every notice
  LogLevel level = LogLevel::kInfo;
  std::string text;
  std::uint64_t document = 0;  // the window's: serial of the one it is about; 0 = none
};

// Never changes once published.
struct LiveStatus {
  LiveState state = LiveState::kIdle;
  std::optional<ModelInfo> model;  // the loaded one
  // Its own; any thread may use it.
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string progress;  // "loading weights"; "" = nothing under way
  double progress_done = 0, progress_total = 0;
  std::string capture_path;      // of the newest run; "" = none yet
  std::uint64_t run_serial = 0;  // grows by one with every run started
  capture::Tick next_tick = 0;
  std::string pause_reason;  // what breakpoint was hit, "out of memory"; "" = none
  // The run waits for memory, in the middle of a phase: what was refused; "" = it does not.
  std::string memory_refused;
  std::int32_t pause_node = -1;     // the node it was hit at; -1 = none
  std::uint64_t pause_serial = 0;   // grows by one with every breakpoint hit
  std::uint64_t commands_done = 0;  // commands finished so far (scripts wait on it)
  std::vector<Notice> notices;      // the newest 200
};

}  // namespace triescope::app
