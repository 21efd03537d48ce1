// Breakpoints on decoding: conditions over what a step recorded. BreakRecorder stands between a
// session and its recorder and notes the first condition that was met. Used on the session thread
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "app/run/token_pattern.h"
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
};

struct Breakpoint {
  BreakKind kind = BreakKind::kRejection;
  double threshold = 0;
  bool enabled = true;
  std::string text = {};
};

// What stopped a run.
struct BreakHit {
  std::string text = {};   // why; "" = nothing
  std::int32_t node = -1;  // where; -1 = at no node
  bool empty() const { return text.empty(); }
};

// Of the next token, in nats, from a row's recorded candidates. What they leave of the probability is
// taken as one token: a lower bound.
double entropy_of(std::span<const capture::CandidateRow> candidates);

// "first rejection", "accepted < 3", ...
std::string describe(const Breakpoint& breakpoint);
// What a kind waits for, without number or text: "token text holds", "entropy above", ...
std::string break_words(BreakKind kind);
// The name used by scripts ("rejection", "accepted_below", ...), and back; false: there is no such
// kind.
const char* script_name(BreakKind kind);
bool break_kind_from_name(const std::string& name, BreakKind& kind);
bool needs_threshold(BreakKind kind);
bool needs_text(BreakKind kind);
// A breakpoint of this kind with a number or text that means something, to begin with.
Breakpoint new_breakpoint(BreakKind kind);
// Error{kInvalidArgument}: no text where one is needed, a pattern that is not one, a number out of range.
void check_breakpoint(const Breakpoint& breakpoint);
std::vector<BreakKind> all_break_kinds();

class BreakRecorder final : public capture::Recorder {
 public:
  using PieceOf = std::function<std::string_view(std::int32_t token)>;

  // `inner` is borrowed. `piece_of`: a token's bytes; without it those that were recorded are known.
  explicit BreakRecorder(capture::Recorder& inner, PieceOf piece_of = {})
      : inner_(inner), piece_of_(std::move(piece_of)) {}

  // REQUIRES: check_breakpoint() accepts each.
  void set_breakpoints(std::vector<Breakpoint> breakpoints);
  // What was hit first since the last call.
  BreakHit take_hit();

  capture::Level level() const override { return inner_.level(); }
  void write(const capture::RowTables& rows) override;
  void flush() override { inner_.flush(); }

 private:
  struct Watched {
    Breakpoint point;
    std::optional<TokenPattern> pattern;
  };
  // Notes `detail`, of `node`, if an enabled breakpoint of this kind passes `test(watched)`.
  template <class Test>
  void check(BreakKind kind, const std::string& detail, std::int32_t node, Test test);
  void check_candidates(std::span<const capture::CandidateRow> rows);
  std::optional<std::string_view> piece(std::int32_t token) const;
  std::string token_name(std::int32_t token) const;  // "'·the'", or "token 5"
  std::string node_name(std::int32_t node) const;    // "node 4 '·the'"
  std::int32_t token_of(std::int32_t node) const;    // -1 = not known

  capture::Recorder& inner_;
  PieceOf piece_of_;
  std::vector<Watched> watched_;
  std::vector<std::int32_t> token_of_node_;
  std::unordered_map<std::int32_t, std::string> recorded_pieces_;  // by token
  BreakHit hit_;
};

}  // namespace triescope::app
