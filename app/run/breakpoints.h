// Breakpoints on decoding: conditions over what a step recorded. BreakRecorder stands between a
// session and its recorder and notes the first condition that was met. Used on the session thread
// only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/capture/recorder.h"

namespace triescope::app {

enum class BreakKind : std::uint8_t {
  kRejection,      // a draft token was rejected
  kAcceptedBelow,  // a drafting step accepted fewer than `threshold` tokens
  kPrune,          // a beam was dropped by a pruning rule or left the best b
  kFinished,       // a sequence finished
  kMove,           // KV was copied: a compaction, or a reorder of the batch policy
  kLiveAbove,      // more than `threshold` live KV tokens
  kToken,          // a node with token id `threshold` was decided upon (not a rejection)
  kStep,           // step `threshold` is done
};

struct Breakpoint {
  BreakKind kind = BreakKind::kRejection;
  std::int64_t threshold = 0;
  bool enabled = true;
};

// "first rejection", "accepted < 3", ...
std::string describe(const Breakpoint& breakpoint);
// The name used by scripts ("rejection", "accepted_below", ...), and back; false: there is no such
// kind.
const char* script_name(BreakKind kind);
bool break_kind_from_name(const std::string& name, BreakKind& kind);
bool needs_threshold(BreakKind kind);
std::vector<BreakKind> all_break_kinds();

class BreakRecorder final : public capture::Recorder {
 public:
  // `inner` is borrowed.
  explicit BreakRecorder(capture::Recorder& inner) : inner_(inner) {}

  void set_breakpoints(std::vector<Breakpoint> breakpoints) {
    breakpoints_ = std::move(breakpoints);
  }
  // What was hit since the last call; "" = nothing.
  std::string take_hit();

  capture::Level level() const override { return inner_.level(); }
  void write(const capture::RowTables& rows) override;
  void flush() override { inner_.flush(); }

 private:
  // Notes `detail` if an enabled breakpoint of this kind passes `test(threshold)`.
  template <class Test>
  void check(BreakKind kind, const std::string& detail, Test test);

  capture::Recorder& inner_;
  std::vector<Breakpoint> breakpoints_;
  std::vector<std::int32_t> token_of_node_;
  std::unordered_map<std::int32_t, std::string> piece_of_;  // by token
  std::string hit_;
};

}  // namespace triescope::app
