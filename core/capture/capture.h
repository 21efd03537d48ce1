// Capture: the in-memory view of one .tscap file, live (still growing) or finished. poll() appends
// what is new; nothing that was there ever changes. Built for drawing: rows are sorted by time and
// indexed by step, node and slot, so that every question below costs O(log n) plus its answer. Not
// thread-safe: one owner (the window thread) polls and reads. The file is opened read-only and
// defensively (it may come from a stranger): integrity of every id is checked, damage is
// Error{kCorruption} that says table, row, expected, found.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/records.h"

namespace triescope::capture {

// What a node looks like to a cursor.
enum class NodeState : std::uint8_t {
  kAbsent = 0,  // not yet in the tree
  kPending,     // hung, not decided (a draft, or a fresh frontier token before its forward)
  kLive,        // part of the text or of a live beam
  kAccepted,    // draft accepted
  kRejected,    // draft refused
  kPruned,      // dropped beam
  kFinished,    // end of a finished sequence
  kBonus,       // emitted as bonus
  kCorrected,   // emitted in place of a rejected draft
};
const char* to_string(NodeState state);

enum class SlotState : std::uint8_t { kFree = 0, kLive, kGarbage };

struct SlotView {
  SlotState state = SlotState::kFree;
  std::int32_t node = -1;  // prompt token i: -2 - i; -1 = none
  bool moved_this_step = false;
  bool reused_this_step = false;
  std::int32_t moved_from = -1;
};

struct NodeView {
  NodeRow row;  // with logprob/score as known at the cursor
  NodeState state = NodeState::kAbsent;
  std::int32_t beam_rank = -1;  // rank of the best frontier leaf below it at the cursor; -1 = none
  std::int32_t slot = -1;       // KV slot at the cursor, -1 = none
};

struct Counts {
  std::int64_t steps = 0, nodes = 0, verdicts = 0, candidates = 0, slots = 0, sequences = 0;
};

class Capture {
 public:
  // Errors: kNotFound, kCorruption (not a capture, damaged), kNotSupported (schema newer than ours:
  // says both versions).
  static std::unique_ptr<Capture> open(const std::string& path);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Reads rows appended since the last call. True if anything was new.
  bool poll();

  const std::string& path() const;
  const RunInfo& run() const;
  RunStatus status() const;
  const std::string& status_message() const;
  Counts counts() const;

  Tick end_tick() const;           // one past the last finished phase: the cursor of "now"
  std::int32_t last_step() const;  // -1 = none yet

  // Text of a token: raw bytes. Unknown token: "<id>".
  std::string_view piece(std::int32_t token) const;

  // --- by step (empty / nullopt where the step has none) ---
  std::optional<StepRow> step(std::int32_t step) const;
  std::span<const StepRow> steps() const;                     // in order
  std::span<const PhaseRow> phases() const;                   // in tick order
  std::span<const InputRow> inputs(std::int32_t step) const;  // by row
  std::span<const VerdictRow> verdicts(std::int32_t step) const;
  std::span<const FrontierRow> frontier(std::int32_t step) const;  // best first
  std::span<const SlotRow> slot_events(std::int32_t step) const;
  std::span<const MemoryRow> memory() const;  // by step
  std::span<const SequenceRow> sequences() const;
  std::span<const LogRow> log() const;

  // --- nodes ---
  std::span<const NodeRow> nodes() const;  // index = node id; ids are dense and parents come first
  std::span<const NodeRow> nodes_at(Tick cursor) const;  // the prefix that exists at the cursor
  NodeState state_at(std::int32_t node, Tick cursor) const;
  NodeView node_at(std::int32_t node, Tick cursor) const;
  std::span<const std::int32_t> children(std::int32_t node) const;  // in id order, all times
  std::optional<VerdictRow> verdict_at(std::int32_t node,
                                       Tick cursor) const;  // the latest before the cursor
  std::span<const CandidateRow> candidates(
      std::int32_t node, Tick cursor) const;  // by rank; latest forward of that node
  std::vector<std::int32_t> path_to(
      std::int32_t node) const;  // root's child first, node last; root: empty
  // The step whose frontier is in force at the cursor; -1 = none.
  std::int32_t frontier_step(Tick cursor) const;

  // --- KV slots ---
  std::int32_t slot_count_at(
      Tick cursor) const;  // highest slot ever used before the cursor, plus one
  SlotView slot_at(std::int32_t slot, Tick cursor) const;
  std::int32_t slot_of(std::int32_t node, Tick cursor) const;  // -1 = none

  // May row `input` (of `step`) see `node`'s KV? Ancestor closure and the sliding window; prompt
  // token i is -2 - i.
  bool visible(const InputRow& input, std::int32_t node) const;

  // --- bookmarks: the user's own, written into the file by a second, short connection ---
  std::span<const Bookmark> bookmarks() const;
  void add_bookmark(Tick tick, const std::string& note);  // kIoError if the file is read-only
  void remove_bookmark(std::int64_t id);

 private:
  Capture();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Copies steps first..last (and what they need: run, nodes, pieces) into a new capture file.
void save_slice(const std::string& from, const std::string& to, std::int32_t first_step,
                std::int32_t last_step);

}  // namespace triescope::capture
