// LiveStatus: what a run host (run_host.h) reports about the run that it decodes, at one moment.
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/capture/records.h"
#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"

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
  // the window's serial of the document that the notice is about; 0 = none
  std::uint64_t document = 0;
};

inline constexpr std::size_t kMaxNotices = 200;  // that a status holds, the newest

// Never changes once published.
struct LiveStatus {
  LiveState state = LiveState::kIdle;
  std::optional<ModelInfo> model;  // the loaded one
  // The model's; any thread may use it.
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string progress;  // "loading weights"; "" = nothing is in progress
  double progress_done = 0, progress_total = 0;
  std::string capture_path;      // of the newest run; "" = none yet
  std::uint64_t run_serial = 0;  // grows by one with every run started
  capture::Tick next_tick = 0;
  std::string pause_reason;  // which breakpoint was hit, or "out of memory"; "" = none
  // Why memory was refused, if the run waits for some in the middle of a phase; "" = it does not
  // wait.
  std::string memory_refused;
  std::int32_t pause_node = -1;     // the node at which it was hit; -1 = none
  std::uint64_t pause_serial = 0;   // grows by one with every breakpoint hit
  std::uint64_t commands_done = 0;  // commands finished so far (scripts wait on it)
  std::vector<Notice> notices;      // the newest 200
};

}  // namespace triescope::app
