// Capture: the in-memory view of one .tscap file, live (still growing) or finished. poll() appends
// what is new; nothing that was there ever changes. It is built for drawing: rows are sorted by
// time and indexed by step, node and slot, so that every question below costs O(log n) plus its
// answer. Not thread-safe: one owner (the window thread) polls and reads. The file is opened
// read-only and defensively, since it may come from anyone: every id is checked, and damage is
// Error{kCorruption} that says table, row, expected, found. A table that a file lacks is empty, and
// a column that it lacks has the default of its row (records.h). Unknown tables and columns are not
// read.
//
// Inputs, candidates, slots and memory belong to an owner: the target unless the caller names a
// draft model or a head that recorded its own.
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

// A node's state as a cursor sees it.
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
  kWithdrawn,   // drafted, but not sent to the target
  kProbe,       // never to become text; nothing is decided about it
};
const char* to_string(NodeState state);
// The state that a verdict gives its node, as long as some live text goes through it.
NodeState state_after(Verdict verdict);
// No text goes through the node now or later.
constexpr bool is_dead(NodeState state) {
  return state == NodeState::kRejected || state == NodeState::kPruned ||
         state == NodeState::kWithdrawn || state == NodeState::kProbe;
}

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

// A cache's figures at the end of a tick that changed its slots.
struct KvLevel {
  Tick tick = 0;
  std::int32_t live = 0, garbage = 0;
  // The most slots that were live within the tick: a draft model runs several forwards in one.
  std::int32_t peak_live = 0;
};

// Names one forward: the owner's number `forward` (from 0) within a step.
struct ForwardId {
  std::int32_t step = 0, forward = 0;
  bool operator==(const ForwardId&) const = default;
};

// Numbers of rows in the file, over all owners.
struct Counts {
  std::int64_t steps = 0, nodes = 0, verdicts = 0, candidates = 0, slots = 0, sequences = 0;
};

class RowFaults;  // row_faults.h

class Capture {
 public:
  // Errors: kNotFound, kCorruption (not a capture, or damaged), kNotSupported (a newer format than
  // this program's; the message names both versions).
  static std::unique_ptr<Capture> open(const std::string& path);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Reads rows appended since the last call. True if anything was new.
  bool poll();

  const std::string& path() const;
  const RunInfo& run() const;
  const ProgramRow& program() const;                        // the program that recorded it
  std::span<const DrafterRow> drafters() const;             // index = DrafterRow::drafter
  const DrafterRow* drafter_of(const NodeRow& node) const;  // null = none, or unknown
  // Where the node's token came from, in a word or two: the drafter's name, or the source's.
  std::string_view source_of(const NodeRow& node) const;
  RunStatus status() const;
  const std::string& status_message() const;
  Counts counts() const;
  // Number of a table's rows in the file, over all owners; 0 if the file lacks the table.
  std::int64_t rows_in(std::string_view table) const;

  Tick end_tick() const;           // one past the last finished phase: the cursor of "now"
  std::int32_t last_step() const;  // -1 = none yet

  // Text of a token: raw bytes. Unknown token: "<id>".
  std::string_view piece(std::int32_t token) const;

  // --- by step (empty / nullopt where the step has none) ---
  std::optional<StepRow> step(std::int32_t step) const;
  std::span<const StepRow> steps() const;    // in order
  std::span<const PhaseRow> phases() const;  // in tick order
  // Sorted by forward, then by row.
  std::span<const InputRow> inputs(std::int32_t step, Whose whose = Whose::kTarget) const;
  std::span<const InputRow> inputs(ForwardId forward, Whose whose) const;  // by row
  // In the order of recording: row by row of the step's forwards.
  std::span<const CandidateRow> candidates_of(std::int32_t step,
                                              Whose whose = Whose::kTarget) const;
  std::span<const VerdictRow> verdicts(std::int32_t step) const;
  std::span<const FrontierRow> frontier(std::int32_t step) const;  // best first
  std::span<const SlotRow> slot_events(std::int32_t step, Whose whose = Whose::kTarget) const;
  std::span<const SlotRow> slot_events(Whose whose) const;                // of all steps
  std::span<const MemoryRow> memory(Whose whose = Whose::kTarget) const;  // by step
  std::span<const SequenceRow> sequences() const;
  std::span<const ExpertRow> experts(std::int32_t step) const;  // in the order of recording
  std::span<const MetricRow> metrics() const;                   // in tick order
  // The slots that a row attended to, where the recorder says so; null = it does not.
  const SeenRow* seen(const InputRow& input) const;
  std::span<const LogRow> log() const;

  // --- owners ---
  // The owners whose inputs, candidates, slots or memory the capture holds, in the order of Whose.
  // The target is always among them.
  std::vector<Whose> owners() const;
  std::span<const ForwardId> forwards(Whose whose) const;  // those with inputs, in order

  // --- nodes ---
  std::span<const NodeRow> nodes() const;  // index = node id; ids are dense and parents come first
  std::span<const NodeRow> nodes_at(Tick cursor) const;  // the prefix that exists at the cursor
  NodeState state_at(std::int32_t node, Tick cursor) const;
  std::vector<NodeState> states_at(Tick cursor) const;  // index as in nodes_at(cursor)
  NodeView node_at(std::int32_t node, Tick cursor) const;
  std::span<const std::int32_t> children(std::int32_t node) const;  // in id order, all times
  // The node's latest verdict before the cursor.
  std::optional<VerdictRow> verdict_at(std::int32_t node, Tick cursor) const;
  // The best tokens of the node's latest forward, best first.
  std::span<const CandidateRow> candidates(std::int32_t node, Tick cursor,
                                           Whose whose = Whose::kTarget) const;
  // The stages of the node's distribution in this step before the cursor, in the order of
  // recording.
  std::vector<StageRow> stages(std::int32_t node, std::int32_t step, Tick cursor) const;
  // From the root's child down to the node; empty for the root.
  std::vector<std::int32_t> path_to(std::int32_t node) const;
  // The place of an occupant, a node or prompt token i as -2 - i: prompt tokens + depth − 1. -1 = none.
  std::int32_t position_of(std::int32_t occupant) const;
  // Whether an occupant is `node`, or lies above it. Costs their distance.
  bool is_on_path(std::int32_t occupant, std::int32_t node) const;
  // The step whose frontier is in force at the cursor; -1 = none.
  std::int32_t frontier_step(Tick cursor) const;

  // --- KV slots ---
  // Highest slot ever used before the cursor, plus one.
  std::int32_t slot_count_at(Tick cursor, Whose whose = Whose::kTarget) const;
  SlotView slot_at(std::int32_t slot, Tick cursor, Whose whose = Whose::kTarget) const;
  // One level for every tick that took, freed or moved slots, in order. Empty below Level::kFull.
  std::span<const KvLevel> kv_levels(Whose whose = Whose::kTarget) const;
  // The slot that holds the node's KV at the cursor; -1 = none.
  std::int32_t slot_of(std::int32_t node, Tick cursor, Whose whose = Whose::kTarget) const;

  // Whether row `input` sees `node`'s KV: the node is an ancestor and, for the target's rows,
  // inside its sliding window (a capture does not know other models' windows). Prompt token i is
  // node -2 - i.
  bool visible(const InputRow& input, std::int32_t node) const;

  // Where rows are recorded otherwise than the tree asks for, as far as the capture has been read.
  const RowFaults& row_faults() const;

  // --- the user's bookmarks, written into the file by a second, short connection ---
  std::span<const Bookmark> bookmarks() const;
  void add_bookmark(Tick tick, const std::string& note);  // kIoError if the file is read-only
  // Both act on the bookmark with this id. The same error, and kNotFound: there is none.
  void set_bookmark_note(std::int64_t id, const std::string& note);
  void remove_bookmark(std::int64_t id);

 private:
  Capture();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Copies steps first..last, with the run, nodes and pieces that they need, into a new capture file.
void save_slice(const std::string& from, const std::string& to, std::int32_t first_step,
                std::int32_t last_step);

}  // namespace triescope::capture
