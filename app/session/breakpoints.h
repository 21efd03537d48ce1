// Breakpoints on decoding: conditions over the rows that a phase recorded. BreakWatch evaluates
// them in the same way for a live run and a recorded one. BreakRecorder stands between a session
// and its recorder and notes the first condition that was met; only the session thread uses it.
// next_match() and previous_match() search a capture, on the thread that owns it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/session/step_condition.h"
#include "app/session/token_pattern.h"
#include "core/capture/capture.h"
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
  kText,           // a token whose text holds `text` was decided upon (not a rejection)
  kPattern,        // the same with a regular expression (token_pattern.h)
  kEntropyAbove,   // a row's entropy exceeds `threshold`, in nats
  kWhere,          // a step is done for which the condition `text` is true (step_condition.h)
};

struct Breakpoint {
  BreakKind kind = BreakKind::kRejection;
  double threshold = 0;
  bool enabled = true;
  std::string text = {};
};

// The reason why a run stopped.
struct BreakHit {
  std::string text = {};   // why; "" = nothing
  std::int32_t node = -1;  // where; -1 = at no node
  bool empty() const { return text.empty(); }
};

// "first rejection", "accepted < 3", ...
std::string describe(const Breakpoint& breakpoint);
// The condition of a kind, without number or text: "token text holds", "entropy above", ...
std::string break_words(BreakKind kind);
// The name used by scripts ("rejection", "accepted_below", ...), and back; false: there is no such
// kind.
const char* script_name(BreakKind kind);
bool break_kind_from_name(const std::string& name, BreakKind& kind);
bool needs_threshold(BreakKind kind);
bool needs_text(BreakKind kind);
// A new breakpoint of this kind, with a sensible number or text.
Breakpoint new_breakpoint(BreakKind kind);
// Error{kInvalidArgument}: a missing text, an invalid pattern or condition, a number out of range.
void check_breakpoint(const Breakpoint& breakpoint);
std::vector<BreakKind> all_break_kinds();

// The rows of a phase that breakpoints look at. Borrowed.
struct PhaseRows {
  std::span<const capture::VerdictRow> verdicts = {};
  std::span<const capture::CandidateRow> candidates = {};
  std::span<const capture::SlotRow> slots = {};
  std::span<const capture::MemoryRow> memory = {};
  std::span<const capture::StepRow> steps = {};
};

class BreakWatch {
 public:
  struct NodeFacts {
    std::int32_t token = -1;  // -1 = not known
    bool is_probe = false;
  };
  using NodeOf = std::function<NodeFacts(std::int32_t node)>;
  using PieceOf = std::function<std::optional<std::string_view>(std::int32_t token)>;

  BreakWatch(NodeOf node_of, PieceOf piece_of)
      : node_of_(std::move(node_of)), piece_of_(std::move(piece_of)) {}

  // REQUIRES: check_breakpoint() accepts each.
  void set_breakpoints(std::vector<Breakpoint> breakpoints);
  // The first that these rows hit.
  BreakHit hit_in(const PhaseRows& rows) const;
  // Whether a condition on steps is among them, and the first that a finished step fulfils.
  bool asks_for_steps() const;
  BreakHit hit_in(const StepFacts& step) const;

 private:
  struct Watched {
    Breakpoint point;
    std::optional<TokenPattern> pattern;
    std::optional<StepCondition> where;
  };
  // The hit of the first breakpoint of this kind that passes `test(watched)`; `detail()`: why.
  template <class Detail, class Test>
  BreakHit check(BreakKind kind, std::int32_t node, Detail detail, Test test) const;
  BreakHit hit_by(const capture::VerdictRow& row) const;
  BreakHit hit_by_entropy(std::span<const capture::CandidateRow> rows) const;
  std::optional<std::string_view> piece(std::int32_t token) const;
  std::string token_name(std::int32_t token) const;  // "'·the'", or "token 5"
  std::string node_name(std::int32_t node) const;    // "node 4 '·the'"

  NodeOf node_of_;
  PieceOf piece_of_;
  std::vector<Watched> watched_;
};

class BreakRecorder final : public capture::Recorder {
 public:
  using PieceOf = std::function<std::string_view(std::int32_t token)>;

  // `inner` is borrowed. `piece_of`: a token's bytes; without it those that were recorded are known.
  explicit BreakRecorder(capture::Recorder& inner, PieceOf piece_of = {});

  // REQUIRES: check_breakpoint() accepts each.
  void set_breakpoints(std::vector<Breakpoint> breakpoints) {
    watch_.set_breakpoints(std::move(breakpoints));
  }
  // The first hit since the last call.
  BreakHit take_hit();

  capture::Level level() const override { return inner_.level(); }
  void write(const capture::RowTables& rows) override;
  void flush() override { inner_.flush(); }

 private:
  BreakWatch::NodeFacts facts_of(std::int32_t node) const;
  std::optional<std::string_view> piece(std::int32_t token) const;

  capture::Recorder& inner_;
  PieceOf piece_of_;
  StepGatherer gathered_;
  std::unordered_map<std::int32_t, std::string> recorded_pieces_;  // by token
  BreakWatch watch_;
  BreakHit hit_;
};

// Where a run stops, or would have: before the phase `tick`, which is the one after the hit.
struct BreakStop {
  capture::Tick tick = 0;
  BreakHit hit = {};
};
// The first stop behind `cursor` and not behind `end`: nullopt = none.
// REQUIRES (of both): check_breakpoint() accepts each breakpoint.
std::optional<BreakStop> next_match(const capture::Capture& capture,
                                    const std::vector<Breakpoint>& breakpoints,
                                    capture::Tick cursor, capture::Tick end);
// The last stop before `cursor`.
std::optional<BreakStop> previous_match(const capture::Capture& capture,
                                        const std::vector<Breakpoint>& breakpoints,
                                        capture::Tick cursor);

}  // namespace triescope::app
