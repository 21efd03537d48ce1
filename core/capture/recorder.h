// Recorder: what a run writes to. One implementation writes a .tscap file off the decode thread
// (FileRecorder in writer.h), one drops everything (NullRecorder). All calls come from one thread,
// in tick order. Calls never block on the disk; an error of the writing thread (disk full, say) is
// thrown by the next call as Error{kIoError}, once: afterwards the recorder is closed, what was
// committed stays readable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/capture/records.h"

namespace triescope::capture {

// What is worth recording. Each level holds all of the one before it.
enum class Level : std::uint8_t {
  kOff = 0,
  kSteps,  // run, steps, phases, memory, sequences
  kTree,   // + nodes, verdicts, frontier, tokens' texts
  kFull,   // + candidates, inputs, slots: all that the panels draw (the default)
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual Level level() const = 0;

  virtual void run(const RunInfo& info) = 0;  // first call
  // The text of a token as the model's vocabulary spells it (raw bytes, maybe not UTF-8). Repeats
  // are ignored.
  virtual void piece(std::int32_t token, std::string_view bytes) = 0;
  virtual void step(const StepRow& row) = 0;
  virtual void phase(const PhaseRow& row) = 0;
  virtual void nodes(std::span<const NodeRow> rows) = 0;
  virtual void node_scores(std::span<const NodeScoreRow> rows) = 0;
  virtual void inputs(std::span<const InputRow> rows) = 0;
  virtual void candidates(std::span<const CandidateRow> rows) = 0;
  virtual void verdicts(std::span<const VerdictRow> rows) = 0;
  virtual void frontier(std::span<const FrontierRow> rows) = 0;
  virtual void slots(std::span<const SlotRow> rows) = 0;
  virtual void memory(const MemoryRow& row) = 0;
  virtual void sequence(const SequenceRow& row) = 0;
  virtual void log(const LogRow& row) = 0;
  virtual void finish(RunStatus status, std::string_view message) = 0;  // last call
  // Blocks until everything handed in so far can be read by others (used when the run pauses).
  virtual void flush() = 0;
};

class NullRecorder final : public Recorder {
 public:
  Level level() const override { return Level::kOff; }
  void run(const RunInfo&) override {}
  void piece(std::int32_t, std::string_view) override {}
  void step(const StepRow&) override {}
  void phase(const PhaseRow&) override {}
  void nodes(std::span<const NodeRow>) override {}
  void node_scores(std::span<const NodeScoreRow>) override {}
  void inputs(std::span<const InputRow>) override {}
  void candidates(std::span<const CandidateRow>) override {}
  void verdicts(std::span<const VerdictRow>) override {}
  void frontier(std::span<const FrontierRow>) override {}
  void slots(std::span<const SlotRow>) override {}
  void memory(const MemoryRow&) override {}
  void sequence(const SequenceRow&) override {}
  void log(const LogRow&) override {}
  void finish(RunStatus, std::string_view) override {}
  void flush() override {}
};

}  // namespace triescope::capture
