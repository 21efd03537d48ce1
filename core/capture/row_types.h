// Each row type described once: the table it goes to, and for every column the member, its name and
// the values that a file may hold there. The schema (schema.cpp), writing (row_writer.cpp), reading
// with its checks (capture_rows.cpp), slices, recording levels and the memory a row takes all come
// from these descriptions.
//
// A new column: give the struct in records.h a member with a default, add a line here with
// .since(N), and make N the kSchemaVersion. Files of older schemas have no such column and are read
// with the default. A column that newer files lack ends with .until(N).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/capture/row_tables.h"

namespace triescope::capture {

// 1: the first. 2: rows say whose they are (target, draft, head); a verdict may be "withdrawn", and
// its reason is a code with numbers instead of a sentence. 3: the table "stage"; the target's candidates
// come from the forward phase. 4: the run says whether a window drew while it was decoded; names of
// the codes, and views that speak them (schema.h).
inline constexpr int kSchemaVersion = 4;

inline constexpr std::int64_t kMaxStep = 100'000'000, kMaxSlot = 1 << 22, kMaxToken = 1 << 28,
                              kMaxTick = kMaxStep * kPhaseCount;

// What a column's value must satisfy. "The row above" is the one before it in the file, of the same
// owner where rows have one.
enum class Rule : std::uint8_t {
  kAny,         // nothing
  kRange,       // low <= value <= high
  kJson,        // a text nested at most 64 deep (it is walked recursively)
  kBytes,       // raw bytes, kept in a std::string
  kTokens,      // token ids, 4 bytes each
  kTick,        // a tick
  kLaterTick,   // a tick, not before the row above's
  kNewTick,     // a tick after the row above's
  kLaterStep,   // a step, not before the row above's
  kNewStep,     // a step after the row above's
  kForward,     // not before the row above's, where that is of the same step
  kNextNode,    // nodes are numbered 0, 1, 2, ... in the order of their rows
  kParent,      // an earlier node; -1 for node 0
  kDepth,       // the parent's + 1; 0 for node 0
  kNode,        // a node of the tree
  kNodeIfTree,  // a node of the tree; anything where no tree was recorded, and read as -1
  kOccupant,    // a node of the tree, or prompt token i as -2 - i
};
// Those that look at other columns or rows are checked once the rest of the row is read.
constexpr bool is_relation(Rule rule) { return rule >= Rule::kLaterTick; }

template <class Member>
struct Column {
  const char* name;
  Member member;
  Rule rule = Rule::kAny;
  std::int64_t low = 0, high = 0;  // kRange
  int first_schema = 1, last_schema = kSchemaVersion;

  constexpr Column since(int schema) const {
    Column c = *this;
    c.first_schema = schema;
    return c;
  }
  constexpr Column until(int schema) const {
    Column c = *this;
    c.last_schema = schema;
    return c;
  }
  constexpr bool is_in(int schema) const { return first_schema <= schema && schema <= last_schema; }
};

template <class Member>
constexpr Column<Member> column(const char* name, Member member, Rule rule = Rule::kAny) {
  return {.name = name, .member = member, .rule = rule};
}
template <class Member>
constexpr Column<Member> range(const char* name, Member member, std::int64_t low,
                               std::int64_t high) {
  return {.name = name, .member = member, .rule = Rule::kRange, .low = low, .high = high};
}
template <class Member>
constexpr Column<Member> whose_column(Member member) {
  return range("whose", member, 0, kWhoseCount - 1).since(2);
}

// Which rows of a table belong to a slice of a capture.
enum class Sliced : std::uint8_t {
  kAll,     // all of them
  kInside,  // those of the slice's steps
  kUntil,   // those before its end: what a cursor inside shows follows from what came before
};

// RowType<Row>: kTable, kLevel (recorded from this level on), kSliced, kColumns; kSince where the
// first schemas lack the table.
template <class Row>
struct RowType;

template <class Row>
constexpr bool has_table(int schema) {
  if constexpr (requires { RowType<Row>::kSince; }) {
    return schema >= RowType<Row>::kSince;
  } else {
    return true;
  }
}

// The run's table has one row: the run as it begins, and this.
struct RunState {
  RunStatus status = RunStatus::kRunning;
  std::string message;
  std::string recorder;  // recorder_identity.h
};

template <>
struct RowType<RunInfo> {
  static constexpr const char* kTable = "run";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kAll;
  static constexpr std::tuple kColumns = {
      column("created_utc", &RunInfo::created_utc),
      column("model_json", &RunInfo::model_json, Rule::kJson),
      column("method", &RunInfo::method),
      column("method_title", &RunInfo::method_title),
      column("settings_json", &RunInfo::settings_json, Rule::kJson),
      column("seed", &RunInfo::seed),
      column("versions_json", &RunInfo::versions_json, Rule::kJson),
      column("prompt_text", &RunInfo::prompt_text),
      column("prompt_tokens", &RunInfo::prompt_tokens, Rule::kTokens),
      range("max_new_tokens", &RunInfo::max_new_tokens, 0, kMaxStep),
      column("kv_bytes_per_token", &RunInfo::kv_bytes_per_token),
      range("sliding_window", &RunInfo::sliding_window, 0, kMaxStep),
      column("kv_policy", &RunInfo::kv_policy),
      range("timed_while_drawing", &RunInfo::timed_while_drawing, 0, 1).since(4)};
};

template <>
struct RowType<RunState> {
  static constexpr const char* kTable = "run";
  static constexpr std::tuple kColumns = {
      range("status", &RunState::status, 0, static_cast<int>(RunStatus::kFailed)),
      column("message", &RunState::message), column("recorder", &RunState::recorder)};
};

template <>
struct RowType<PieceRow> {
  static constexpr const char* kTable = "piece";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kAll;
  static constexpr std::tuple kColumns = {range("token", &PieceRow::token, 0, kMaxToken),
                                          column("bytes", &PieceRow::bytes, Rule::kBytes)};
};

template <>
struct RowType<StepRow> {
  static constexpr const char* kTable = "step";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("step", &StepRow::step, Rule::kNewStep),
      range("forward_rows", &StepRow::forward_rows, 0, kMaxStep),
      range("drafted", &StepRow::drafted, 0, kMaxStep),
      range("accepted", &StepRow::accepted, 0, kMaxStep),
      range("emitted", &StepRow::emitted, 0, kMaxStep),
      range("frontier", &StepRow::frontier, 0, kMaxStep)};
};

template <>
struct RowType<PhaseRow> {
  static constexpr const char* kTable = "phase";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {column("tick", &PhaseRow::tick, Rule::kNewTick),
                                          column("start_us", &PhaseRow::start_us),
                                          column("duration_us", &PhaseRow::duration_us)};
};

template <>
struct RowType<NodeRow> {
  static constexpr const char* kTable = "node";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("node", &NodeRow::node, Rule::kNextNode),
      column("parent", &NodeRow::parent, Rule::kParent),
      range("token", &NodeRow::token, -1, kMaxToken),
      column("depth", &NodeRow::depth, Rule::kDepth),
      column("logprob", &NodeRow::logprob),
      column("score", &NodeRow::score),
      column("q", &NodeRow::q),
      range("source", &NodeRow::source, 0, static_cast<int>(Source::kForced)),
      column("tick", &NodeRow::tick, Rule::kLaterTick)};
};

template <>
struct RowType<NodeScoreRow> {
  static constexpr const char* kTable = "node_score";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("node", &NodeScoreRow::node, Rule::kNode), column("logprob", &NodeScoreRow::logprob),
      column("score", &NodeScoreRow::score), column("tick", &NodeScoreRow::tick, Rule::kLaterTick)};
};

template <>
struct RowType<InputRow> {
  static constexpr const char* kTable = "input";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("step", &InputRow::step, Rule::kLaterStep),
      range("row", &InputRow::row, 0, kMaxStep),
      column("node", &InputRow::node, Rule::kOccupant),
      range("position", &InputRow::position, 0, kMaxStep),
      range("slot", &InputRow::slot, -1, kMaxSlot),
      range("naive_position", &InputRow::naive_position, 0, kMaxStep),
      whose_column(&InputRow::whose),
      column("forward", &InputRow::forward, Rule::kForward).since(2)};
};

template <>
struct RowType<CandidateRow> {
  static constexpr const char* kTable = "candidate";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {column("tick", &CandidateRow::tick, Rule::kLaterTick),
                                          column("node", &CandidateRow::node, Rule::kNode),
                                          range("rank", &CandidateRow::rank, 0, kMaxToken),
                                          range("token", &CandidateRow::token, 0, kMaxToken),
                                          column("logprob", &CandidateRow::logprob),
                                          column("chosen", &CandidateRow::chosen),
                                          whose_column(&CandidateRow::whose)};
};

template <>
struct RowType<StageRow> {
  static constexpr const char* kTable = "stage";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr int kSince = 3;
  static constexpr std::tuple kColumns = {column("tick", &StageRow::tick, Rule::kLaterTick),
                                          column("node", &StageRow::node, Rule::kNode),
                                          range("stage", &StageRow::stage, 0, kStageCount - 1),
                                          range("token", &StageRow::token, 0, kMaxToken),
                                          column("p", &StageRow::p),
                                          column("at", &StageRow::at)};
};

template <>
struct RowType<VerdictRow> {
  static constexpr const char* kTable = "verdict";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("tick", &VerdictRow::tick, Rule::kLaterTick),
      column("node", &VerdictRow::node, Rule::kNode),
      range("verdict", &VerdictRow::verdict, 0, static_cast<int>(Verdict::kWithdrawn)),
      column("p", &VerdictRow::p),
      column("q", &VerdictRow::q),
      column("u", &VerdictRow::u),
      range("rank", &VerdictRow::rank, -1, kMaxToken),
      column("score", &VerdictRow::score),
      column("gap", &VerdictRow::gap),
      range("replacement", &VerdictRow::replacement, -1, kMaxToken),
      column("reason", &VerdictRow::stored_reason).until(1),
      range("reason", &VerdictRow::reason, 0, kReasonCount - 1).since(2),
      column("value", &VerdictRow::value).since(2),
      column("threshold", &VerdictRow::threshold).since(2),
      range("count", &VerdictRow::count, 0, INT32_MAX).since(2)};
};

template <>
struct RowType<FrontierRow> {
  static constexpr const char* kTable = "frontier";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {column("step", &FrontierRow::step, Rule::kLaterStep),
                                          range("rank", &FrontierRow::rank, 0, kMaxToken),
                                          column("node", &FrontierRow::node, Rule::kNode),
                                          column("score", &FrontierRow::score)};
};

template <>
struct RowType<SlotRow> {
  static constexpr const char* kTable = "slot";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("tick", &SlotRow::tick, Rule::kLaterTick),
      range("action", &SlotRow::action, 0, static_cast<int>(SlotAction::kMove)),
      range("slot", &SlotRow::slot, 0, kMaxSlot),
      column("node", &SlotRow::node, Rule::kOccupant),
      range("from_slot", &SlotRow::from_slot, -1, kMaxSlot),
      whose_column(&SlotRow::whose)};
};

template <>
struct RowType<MemoryRow> {
  static constexpr const char* kTable = "memory";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("step", &MemoryRow::step, Rule::kNewStep),
      range("live", &MemoryRow::live, 0, INT32_MAX),
      range("garbage", &MemoryRow::garbage, 0, INT32_MAX),
      range("reserved", &MemoryRow::reserved, 0, INT32_MAX),
      range("greedy", &MemoryRow::greedy, 0, INT32_MAX),
      range("batch_beam", &MemoryRow::batch_beam, 0, INT32_MAX),
      column("moved_bytes", &MemoryRow::moved_bytes),
      column("device_allocated_bytes", &MemoryRow::device_allocated_bytes),
      column("device_reserved_bytes", &MemoryRow::device_reserved_bytes),
      whose_column(&MemoryRow::whose)};
};

template <>
struct RowType<SequenceRow> {
  static constexpr const char* kTable = "sequence";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {column("tick", &SequenceRow::tick, Rule::kLaterTick),
                                          column("node", &SequenceRow::node, Rule::kNodeIfTree),
                                          range("rank", &SequenceRow::rank, -1, kMaxToken),
                                          column("score", &SequenceRow::score),
                                          column("finish", &SequenceRow::finish),
                                          column("tokens", &SequenceRow::tokens, Rule::kTokens)};
};

template <>
struct RowType<LogRow> {
  static constexpr const char* kTable = "log";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {column("tick", &LogRow::tick, Rule::kTick),
                                          range("level", &LogRow::level, 0, 3),
                                          column("text", &LogRow::text)};
};

// The user's own, written by whoever looks at the capture. Their id is the table's.
template <>
struct RowType<Bookmark> {
  static constexpr const char* kTable = "bookmark";
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {column("tick", &Bookmark::tick),
                                          column("note", &Bookmark::note)};
};

// Calls visit(column) for each column that files of this schema have, in their order.
template <class Row, class Visit>
void for_each_column(int schema, Visit visit) {
  std::apply([&](const auto&... column) { ((column.is_in(schema) ? visit(column) : void()), ...); },
             RowType<Row>::kColumns);
}

// Memory a row takes, about.
template <class Row>
std::size_t size_of(const Row& row) {
  std::size_t bytes = sizeof(Row);
  for_each_column<Row>(kSchemaVersion, [&](const auto& column) {
    const auto& value = row.*column.member;
    if constexpr (requires { value.size(); }) bytes += value.size() * sizeof(value[0]);
  });
  return bytes;
}

// The owner of a row; rows that are nobody's count as the target's.
template <class Row>
Whose whose_of(const Row& row) {
  if constexpr (requires { row.whose; }) {
    return row.whose;
  } else {
    return Whose::kTarget;
  }
}

}  // namespace triescope::capture
