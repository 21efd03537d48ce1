// Each row type described once: its table, and for every column the member, its name and the values
// that a file may hold there. The schema (schema.cpp), writing (row_writer.cpp), checked reading
// (capture_rows.cpp), slices, recording levels and memory estimates all come from these
// descriptions.
//
// To add a column, give the struct in records.h a member with a default and add a line here. Older
// files lack the column and are read with the default, so the format stays the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/capture/code_names.h"
#include "core/capture/row_tables.h"

namespace triescope::capture {

// The file's format (PRAGMA user_version). Every released format is read; 1 is the first.
inline constexpr int kFormat = 1;

inline constexpr std::int64_t kMaxStep = 100'000'000, kMaxSlot = 1 << 22, kMaxToken = 1 << 28,
                              kMaxLayer = 1 << 16, kMaxTick = kMaxStep * kPhaseCount;

// The condition that a column's value must satisfy. "The row above" is the one before it in the
// file, of the same owner where rows have one. NULL and a missing column are the member's default.
enum class Rule : std::uint8_t {
  kAny,      // nothing
  kRange,    // low <= value <= high
  kCode,     // one of the names
  kUnknown,  // any number; NULL is NaN, which means unknown and is written as NULL
  kJson,     // a text nested at most 64 deep (it is walked recursively)
  kBytes,    // raw bytes, kept in a std::string
  kTokens,   // ids of tokens or other things, as JSON: [1, 2, 3]
  kNumbers,  // finite numbers, as JSON: [0.5, 0.25]
  kRuns,     // slots, ascending, as runs: 0-15,18
  kTick,     // a tick
  // These look at other columns or rows and are checked once the rest of the row is read.
  kLaterTick,   // a tick, not before the row above's
  kNewTick,     // a tick after the row above's
  kLaterStep,   // a step, not before the row above's
  kNewStep,     // a step after the row above's
  kForward,     // not before the row above's, where that is of the same step; NULL is 0
  kNaive,       // a position; NULL is the row's own position
  kNextRow,     // 0, 1, 2, ... in the order of the rows; NULL is the next of them
  kParent,      // an earlier node; -1 for node 0
  kDepth,       // the parent's depth + 1; 0 for node 0; NULL is that depth
  kNode,        // a node of the tree
  kNodeIfTree,  // a node of the tree; anything where no tree was recorded, and read as -1
  kNodeOrNone,  // a node of the tree; -1 or NULL: none
  kOccupant,    // a node of the tree, or prompt token i as -2 - i
  kDrafter,     // a drafter; -1 or NULL: unknown
};
constexpr bool is_relation(Rule rule) { return rule >= Rule::kLaterTick; }

template <class Member>
struct Column {
  const char* name;
  Member member;
  Rule rule = Rule::kAny;
  std::int64_t low = 0, high = 0;  // kRange
  Names (*names)() = nullptr;      // kCode
  const char* meaning = "";        // for docs/capture.md
  bool is_needed = false;  // a file that has the table must have the column, without NULL in it

  constexpr Column means(const char* text) const {
    Column c = *this;
    c.meaning = text;
    return c;
  }
  constexpr Column needed() const {
    Column c = *this;
    c.is_needed = true;
    return c;
  }
};

template <class Member>
constexpr Column<Member> column(const char* name, Member member, Rule rule = Rule::kAny) {
  const bool is_needed = is_relation(rule) && rule != Rule::kForward && rule != Rule::kNaive &&
                         rule != Rule::kNextRow && rule != Rule::kDepth &&
                         rule != Rule::kNodeIfTree && rule != Rule::kNodeOrNone &&
                         rule != Rule::kDrafter;
  return {.name = name, .member = member, .rule = rule, .is_needed = is_needed};
}
template <class Member>
constexpr Column<Member> range(const char* name, Member member, std::int64_t low,
                               std::int64_t high) {
  return {.name = name, .member = member, .rule = Rule::kRange, .low = low, .high = high};
}
// An enumeration, or an integer whose values have names.
template <class Row, class Code>
constexpr Column<Code Row::*> code(const char* name, Code Row::*member,
                                   Names (*names)() = &code_names<Code>) {
  return {.name = name, .member = member, .rule = Rule::kCode, .names = names};
}

// Which rows of a table belong to a slice of a capture.
enum class Sliced : std::uint8_t {
  kAll,     // all of them
  kInside,  // those of the slice's steps
  kUntil,   // those before its end: earlier rows decide what a cursor inside the slice shows
};

// RowType<Row>: kTable, kLevel (the lowest level that records it), kSliced, kColumns, and a
// description of the row for docs/capture.md.
template <class Row>
struct RowType;

// The run's table has one row, which is made of RunInfo and this.
struct RunState {
  RunStatus status = RunStatus::kDone;
  std::string message;
  std::string recorder;  // see recorder_identity.h; "" = unknown
};

template <>
struct RowType<RunInfo> {
  static constexpr const char* kTable = "run";
  static constexpr const char* kMeaning = "the run, in one row";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kAll;
  static constexpr std::tuple kColumns = {
      column("created_utc", &RunInfo::created_utc).means("when it began: ISO 8601, UTC"),
      column("model_json", &RunInfo::model_json, Rule::kJson)
          .means(
              "the model as a JSON object; known keys: name, path, family, dtype, device, format, quantisation, parameters, file_bytes, layers, hidden, heads, kv_heads, head_dim, vocab_size, eos_token_ids, context, sliding_window, experts, experts_used, expert_bytes, active_parameters, active_bytes, row_costs, memory (weights, scratch, logits: bytes), draft (name, path, family, parameters, file_bytes, kv_bytes_per_token, prefix_slots, memory, vocabulary: a bit for each token of the target, in base64)"),
      column("method", &RunInfo::method)
          .needed()
          .means("the method's name, for programs; a run without one has not begun"),
      column("method_title", &RunInfo::method_title).means("its name for people; empty: the name"),
      code("kind", &RunInfo::kind)
          .means(
              "what it writes: text (a token a step), drafts (a step verifies drafts), beams (several texts, cut to the best)"),
      range("width", &RunInfo::width, 1, kMaxToken).means("beams: how many texts are kept"),
      column("settings_json", &RunInfo::settings_json, Rule::kJson)
          .means("{name: value} of every parameter"),
      column("setting_titles_json", &RunInfo::setting_titles_json, Rule::kJson)
          .means("{name: title}: what people call the parameters"),
      column("setting_words_json", &RunInfo::setting_words_json, Rule::kJson)
          .means(
              "{name: word}: what people call the value, where it stands for something else than itself: 0 for auto"),
      column("seed", &RunInfo::seed).means("of the random numbers"),
      column("versions_json", &RunInfo::versions_json, Rule::kJson)
          .means("{program or library: version}"),
      column("prompt_text", &RunInfo::prompt_text).means("the prompt as it was typed"),
      column("prompt_tokens", &RunInfo::prompt_tokens, Rule::kTokens)
          .means("its tokens; they stand at the positions 0, 1, 2, …"),
      range("max_new_tokens", &RunInfo::max_new_tokens, 0, kMaxStep)
          .means("at most so many tokens are written"),
      column("kv_bytes_per_token", &RunInfo::kv_bytes_per_token)
          .means("bytes of K and V of one token, over all layers"),
      range("sliding_window", &RunInfo::sliding_window, 0, kMaxStep)
          .means("a row sees positions closer than this; 0: all"),
      column("kv_policy", &RunInfo::kv_policy)
          .means(
              "what becomes of dead nodes' slots: batch, keep, compact, recycle, or a word of your own"),
      range("timed_while_drawing", &RunInfo::timed_while_drawing, 0, 1)
          .means("1: a window drew with the cores that decoded, so times are too long"),
      column("conversation_json", &RunInfo::conversation_json, Rule::kJson)
          .means("the messages that a chat template made the prompt of: [{role, content}, …]; with "
                 "tools or a template that were given, {messages, tools, chat_template}")};
};

template <>
struct RowType<RunState> {
  static constexpr const char* kTable = "run";
  static constexpr std::tuple kColumns = {
      code("status", &RunState::status).means("how it stands or ended"),
      column("message", &RunState::message).means("why it ended so, for people"),
      column("recorder", &RunState::recorder)
          .means(
              "who writes while the status is running; empty: known by the file's age alone (10 s)")};
};

template <>
struct RowType<ProgramRow> {
  static constexpr const char* kTable = "program";
  static constexpr const char* kMeaning = "the program that recorded, in one row";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kAll;
  static constexpr std::tuple kColumns = {
      column("name", &ProgramRow::name).means("the program that recorded"),
      column("version", &ProgramRow::version).means("its version"),
      column("command", &ProgramRow::command).means("its command line")};
};

template <>
struct RowType<DrafterRow> {
  static constexpr const char* kTable = "drafter";
  static constexpr const char* kMeaning = "something that proposes drafts";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kAll;
  static constexpr std::tuple kColumns = {
      column("drafter", &DrafterRow::drafter, Rule::kNextRow)
          .means("its number, to which nodes point"),
      column("name", &DrafterRow::name).needed().means("in labels and tables: n-gram trie"),
      column("title", &DrafterRow::title).means("at the beginning of sentences; empty: the name"),
      code("kind", &DrafterRow::kind)
          .means("a second model, a draft head, a search in texts, or anything else")};
};

template <>
struct RowType<PieceRow> {
  static constexpr const char* kTable = "piece";
  static constexpr const char* kMeaning = "the text of a token";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kAll;
  static constexpr std::tuple kColumns = {
      range("token", &PieceRow::token, 0, kMaxToken).needed().means("a token's id"),
      column("bytes", &PieceRow::bytes, Rule::kBytes)
          .needed()
          .means(
              "its text as raw bytes (or as TEXT); of several rows about a token the first counts")};
};

template <>
struct RowType<StepRow> {
  static constexpr const char* kTable = "step";
  static constexpr const char* kMeaning =
      "a finished step. Step 0 is prefill, which drafts nothing: leave it out of means";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("step", &StepRow::step, Rule::kNewStep).means("its number; 0 is prefill"),
      range("forward_rows", &StepRow::forward_rows, 0, kMaxStep)
          .means("rows of the target's forward"),
      range("drafted", &StepRow::drafted, 0, kMaxStep).means("drafts that were verified"),
      range("accepted", &StepRow::accepted, 0, kMaxStep).means("drafts that passed"),
      range("emitted", &StepRow::emitted, 0, kMaxStep).means("tokens that became text; beams: 1"),
      range("frontier", &StepRow::frontier, 0, kMaxStep).means("live paths after it")};
};

template <>
struct RowType<PhaseRow> {
  static constexpr const char* kTable = "phase";
  static constexpr const char* kMeaning =
      "a finished phase and its time. A panel shows what phases have finished: without these rows a capture has no end";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("tick", &PhaseRow::tick, Rule::kNewTick).means("which phase"),
      column("start_us", &PhaseRow::start_us).means("microseconds since the run began"),
      column("duration_us", &PhaseRow::duration_us).means("microseconds")};
};

template <>
struct RowType<NodeRow> {
  static constexpr const char* kTable = "node";
  static constexpr const char* kMeaning =
      "a node of the token tree. Node 0 is the prompt; a path from it is a text";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("node", &NodeRow::node, Rule::kNextRow).means("its number"),
      column("parent", &NodeRow::parent, Rule::kParent)
          .means("its parent's number; -1 for node 0, the prompt"),
      range("token", &NodeRow::token, -1, kMaxToken).means("its token; -1 for node 0"),
      column("depth", &NodeRow::depth, Rule::kDepth)
          .means("tokens since the prompt; its position is prompt tokens + depth − 1"),
      column("logprob", &NodeRow::logprob, Rule::kUnknown)
          .means("log p(token | path) by the target, natural logarithm"),
      column("score", &NodeRow::score, Rule::kUnknown).means("the sum of logprob over the path"),
      column("q", &NodeRow::q).means("the probability that the draft was drawn with; 1: not drawn"),
      code("source", &NodeRow::source)
          .means(
              "where the token came from; beam: an expansion, bonus: the target's own after the last accepted draft, corrected: its own in place of a refused one, forced: chosen by the user"),
      column("tick", &NodeRow::tick, Rule::kLaterTick).means("when it came into the tree"),
      code("role", &NodeRow::role)
          .means("probe: it never becomes text, its row was asked for something else"),
      column("drafter", &NodeRow::drafter, Rule::kDrafter)
          .means("source draft: whose; -1: not known")};
};

template <>
struct RowType<NodeScoreRow> {
  static constexpr const char* kTable = "node_score";
  static constexpr const char* kMeaning = "what became known of a node later";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("node", &NodeScoreRow::node, Rule::kNode).means("whose"),
      column("logprob", &NodeScoreRow::logprob, Rule::kUnknown)
          .means("log p that became known later (a draft's, from the forward)"),
      column("score", &NodeScoreRow::score, Rule::kUnknown).means("the sum over its path"),
      column("tick", &NodeScoreRow::tick, Rule::kLaterTick).means("when it became known")};
};

template <>
struct RowType<InputRow> {
  static constexpr const char* kTable = "input";
  static constexpr const char* kMeaning = "a row of a forward";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("step", &InputRow::step, Rule::kLaterStep).means("of which step's forward"),
      range("row", &InputRow::row, 0, kMaxStep).means("its place in the batch, from 0"),
      column("node", &InputRow::node, Rule::kOccupant).means("its node"),
      range("position", &InputRow::position, 0, kMaxStep).means("its position"),
      range("slot", &InputRow::slot, -1, kMaxSlot).means("the KV slot that it writes; -1: none"),
      column("naive_position", &InputRow::naive_position, Rule::kNaive)
          .means("the position that counting rows would have given"),
      code("whose", &InputRow::whose).means("of which model's forward"),
      column("forward", &InputRow::forward, Rule::kForward)
          .means("which of this model's forwards in the step, from 0")};
};

template <>
struct RowType<CandidateRow> {
  static constexpr const char* kTable = "candidate";
  static constexpr const char* kMeaning =
      "one of the best tokens after a node: the target's, or a drafter's own";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("tick", &CandidateRow::tick, Rule::kLaterTick).means("when the row was computed"),
      column("node", &CandidateRow::node, Rule::kNode)
          .means("the node whose next token it is about"),
      range("rank", &CandidateRow::rank, 0, kMaxToken).means("0 is the best"),
      range("token", &CandidateRow::token, 0, kMaxToken).needed().means("a token that may follow"),
      column("logprob", &CandidateRow::logprob, Rule::kUnknown)
          .means("its log p, natural logarithm"),
      column("chosen", &CandidateRow::chosen).means("1: a drafter proposed it"),
      code("whose", &CandidateRow::whose).means("whose opinion it is")};
};

template <>
struct RowType<StageRow> {
  static constexpr const char* kTable = "stage";
  static constexpr const char* kMeaning = "what sampling made of a token's probability";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("tick", &StageRow::tick, Rule::kLaterTick).means("when"),
      column("node", &StageRow::node, Rule::kNode).means("the node whose next token is drawn"),
      code("stage", &StageRow::stage)
          .needed()
          .means(
              "after which stage of sampling; drawn: what the token was drawn from, proposal: what drafts were drawn from"),
      range("token", &StageRow::token, 0, kMaxToken).needed().means("a token"),
      column("p", &StageRow::p).means("its probability after the stage; 0: cut away"),
      column("at", &StageRow::at, Rule::kUnknown)
          .means("of drawn: the sum of p over lower token ids, or log p + Gumbel noise")};
};

template <>
struct RowType<VerdictRow> {
  static constexpr const char* kTable = "verdict";
  static constexpr const char* kMeaning =
      "the verdict on a node. A node may have several over time: withdrawn, then corrected; kept, later pruned";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("tick", &VerdictRow::tick, Rule::kLaterTick).means("when it was decided"),
      column("node", &VerdictRow::node, Rule::kNode).means("about which node"),
      code("verdict", &VerdictRow::verdict)
          .needed()
          .means("what became of it; withdrawn: drafted, but not sent to the target"),
      column("p", &VerdictRow::p).means("the target's probability of the token; -1: none"),
      column("q", &VerdictRow::q).means("the drafter's; -1: none"),
      column("u", &VerdictRow::u).means("the uniform draw that was compared; -1: none"),
      range("rank", &VerdictRow::rank, -1, kMaxToken)
          .means("among candidates or beams, 0 is the best; -1: none"),
      column("score", &VerdictRow::score).means("the beam's score"),
      column("gap", &VerdictRow::gap).means("its distance to the cut"),
      range("replacement", &VerdictRow::replacement, -1, kMaxToken)
          .means("the token that came instead; -1: none"),
      code("reason", &VerdictRow::reason)
          .means(
              "why, as a code: each is described below. Any other name is told as it stands, as if it were in `why`"),
      column("value", &VerdictRow::value).means("what the reason compares"),
      column("threshold", &VerdictRow::threshold).means("with what"),
      range("count", &VerdictRow::count, 0, INT32_MAX).means("what it counts"),
      column("why", &VerdictRow::why)
          .means("why, in words of your own; it is shown instead of the code's sentence")};
};

template <>
struct RowType<FrontierRow> {
  static constexpr const char* kTable = "frontier";
  static constexpr const char* kMeaning = "a live path after a step";
  static constexpr Level kLevel = Level::kTree;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("step", &FrontierRow::step, Rule::kLaterStep).means("after which step"),
      range("rank", &FrontierRow::rank, 0, kMaxToken).means("0 is the best"),
      column("node", &FrontierRow::node, Rule::kNode)
          .means("a live leaf: the next step goes on from it"),
      column("score", &FrontierRow::score, Rule::kUnknown).means("its score")};
};

template <>
struct RowType<SlotRow> {
  static constexpr const char* kTable = "slot";
  static constexpr const char* kMeaning = "what happened to a KV slot";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("tick", &SlotRow::tick, Rule::kLaterTick).means("when"),
      code("action", &SlotRow::action)
          .needed()
          .means(
              "alloc: taken for the first time, reuse: taken again, garbage: its node died, free: given back, move: copied from from_slot"),
      range("slot", &SlotRow::slot, 0, kMaxSlot).needed().means("its number"),
      column("node", &SlotRow::node, Rule::kOccupant).means("whose K and V"),
      range("from_slot", &SlotRow::from_slot, -1, kMaxSlot).means("move: from where; -1: none"),
      code("whose", &SlotRow::whose).means("in which model's cache")};
};

template <>
struct RowType<MemoryRow> {
  static constexpr const char* kTable = "memory";
  static constexpr const char* kMeaning = "a cache at the end of a step, in tokens";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("step", &MemoryRow::step, Rule::kNewStep).means("at the end of which step"),
      range("live", &MemoryRow::live, 0, INT32_MAX).means("tokens of live paths"),
      range("garbage", &MemoryRow::garbage, 0, INT32_MAX)
          .means("tokens of dead ones that still take room"),
      range("reserved", &MemoryRow::reserved, 0, INT32_MAX).means("slots allocated"),
      range("greedy", &MemoryRow::greedy, 0, INT32_MAX)
          .means("tokens that greedy decoding would hold"),
      range("batch_beam", &MemoryRow::batch_beam, 0, INT32_MAX)
          .means("tokens that conventional batch beam search would hold"),
      column("moved_bytes", &MemoryRow::moved_bytes).means("bytes copied in this step"),
      column("device_allocated_bytes", &MemoryRow::device_allocated_bytes)
          .means("what the device's allocator gave out; -1: not known"),
      column("device_reserved_bytes", &MemoryRow::device_reserved_bytes)
          .means("what it holds; -1: not known"),
      code("whose", &MemoryRow::whose).means("in which model's cache")};
};

template <>
struct RowType<SequenceRow> {
  static constexpr const char* kTable = "sequence";
  static constexpr const char* kMeaning = "a finished or returned text";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("tick", &SequenceRow::tick, Rule::kLaterTick).means("when"),
      column("node", &SequenceRow::node, Rule::kNodeIfTree)
          .means("its last node; -1: no tree was recorded"),
      range("rank", &SequenceRow::rank, -1, kMaxToken)
          .means("among the returned ones; -1: finished on the way"),
      column("score", &SequenceRow::score, Rule::kUnknown).means("after the length penalty"),
      column("finish", &SequenceRow::finish).means("eos, length or stopped, or a word of your own"),
      column("tokens", &SequenceRow::tokens, Rule::kTokens)
          .means("what was written, the end-of-sequence token included")};
};

template <>
struct RowType<SeenRow> {
  static constexpr const char* kTable = "seen";
  static constexpr const char* kMeaning =
      "what a row of a forward attended to, where that is not prompt, ancestors and itself";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("step", &SeenRow::step, Rule::kLaterStep).means("of which step's forward"),
      range("row", &SeenRow::row, 0, kMaxStep).needed().means("which of its rows"),
      code("whose", &SeenRow::whose).means("of which model's forward"),
      column("forward", &SeenRow::forward, Rule::kForward)
          .means("which of this model's forwards in the step"),
      column("slots", &SeenRow::slots, Rule::kRuns)
          .needed()
          .means("the slots that the row attended to, as runs: 0-15,18")};
};

template <>
struct RowType<ExpertRow> {
  static constexpr const char* kTable = "expert";
  static constexpr const char* kMeaning =
      "the experts that a row of the target's forward went through in a layer; a model with one MLP a layer has none";
  static constexpr Level kLevel = Level::kFull;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("tick", &ExpertRow::tick, Rule::kLaterTick).means("in which phase the forward ran"),
      column("node", &ExpertRow::node, Rule::kNode)
          .means("whose row; of the prompt's rows its last one is recorded, as node 0"),
      range("layer", &ExpertRow::layer, 0, kMaxLayer).needed().means("in which layer, from 0"),
      column("experts", &ExpertRow::experts, Rule::kTokens)
          .needed()
          .means("their numbers, from 0, ascending; without the one that all rows share"),
      column("weights", &ExpertRow::weights, Rule::kNumbers)
          .means("what each counts for in the sum, in the same order; empty: not known")};
};

template <>
struct RowType<MetricRow> {
  static constexpr const char* kTable = "metric";
  static constexpr const char* kMeaning = "a number of your own";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {
      column("tick", &MetricRow::tick, Rule::kLaterTick).means("when"),
      column("node", &MetricRow::node, Rule::kNodeOrNone)
          .means("about which node; -1: none, about the step"),
      column("name", &MetricRow::name).needed().means("what is measured"),
      column("value", &MetricRow::value, Rule::kUnknown).means("the number")};
};

template <>
struct RowType<LogRow> {
  static constexpr const char* kTable = "log";
  static constexpr const char* kMeaning = "a message";
  static constexpr Level kLevel = Level::kSteps;
  static constexpr Sliced kSliced = Sliced::kUntil;
  static constexpr std::tuple kColumns = {
      column("tick", &LogRow::tick, Rule::kTick).means("when"),
      code("level", &LogRow::level, log_level_names).means("how serious"),
      column("text", &LogRow::text).means("the message")};
};

// The user's bookmarks, written by whoever looks at the capture. The table assigns their ids.
template <>
struct RowType<Bookmark> {
  static constexpr const char* kTable = "bookmark";
  static constexpr const char* kMeaning = "a mark of whoever looks at the capture";
  static constexpr Sliced kSliced = Sliced::kInside;
  static constexpr std::tuple kColumns = {column("tick", &Bookmark::tick).means("where"),
                                          column("note", &Bookmark::note).means("yours")};
};

// Calls visit(column) for each column, in their order.
template <class Row, class Visit>
void for_each_column(Visit visit) {
  std::apply([&](const auto&... column) { (visit(column), ...); }, RowType<Row>::kColumns);
}
template <class Row>
constexpr std::size_t column_count = std::tuple_size_v<decltype(RowType<Row>::kColumns)>;

// About how much memory a row takes, in bytes.
template <class Row>
std::size_t size_of(const Row& row) {
  std::size_t bytes = sizeof(Row);
  for_each_column<Row>([&](const auto& column) {
    const auto& value = row.*column.member;
    if constexpr (requires { value.size(); }) bytes += value.size() * sizeof(value[0]);
  });
  return bytes;
}

// A row's owner; rows that have none count as the target's.
template <class Row>
Whose whose_of(const Row& row) {
  if constexpr (requires { row.whose; }) {
    return row.whose;
  } else {
    return Whose::kTarget;
  }
}

}  // namespace triescope::capture
