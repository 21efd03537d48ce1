// The rows of a capture: plain structs, one for each table. core writes them and viz reads them;
// they need no torch and no drawing. Time is a Tick: step * 5 + phase. A row with tick t was
// produced by that phase of that step, and a cursor c sees it iff t < c ("the cursor shows what
// comes next"). row_types.h says which table each struct goes to and which values its members may
// have. Where a file lacks a column, its member is read as the default given here.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/capture/reasons.h"

namespace triescope::capture {

enum class Phase : std::uint8_t {
  kDraft = 0,
  kForward = 1,
  kAccept = 2,
  kCommit = 3,
  kObserve = 4
};
inline constexpr int kPhaseCount = 5;
const char* to_string(Phase phase);  // "draft", "forward", ...

using Tick = std::int64_t;
constexpr Tick make_tick(std::int32_t step, Phase phase) {
  return static_cast<Tick>(step) * kPhaseCount + static_cast<Tick>(phase);
}
constexpr std::int32_t step_of(Tick t) { return static_cast<std::int32_t>(t / kPhaseCount); }
constexpr Phase phase_of(Tick t) { return static_cast<Phase>(t % kPhaseCount); }

// How much is recorded. Each level includes the one before it.
enum class Level : std::uint8_t {
  kOff = 0,
  kSteps,  // run, steps, phases, memory, sequences, log
  kTree,   // + nodes, verdicts, frontier, tokens' texts
  kFull,   // + candidates, inputs, slots: all that the panels draw (the default)
};
const char* to_string(Level level);  // "off", "steps", "tree", "full"

// The owner of a forward, an output row or a KV cache.
enum class Whose : std::uint8_t {
  kTarget = 0,  // the model whose text it is
  kDraft,       // a draft model beside it
  kHead,        // a draft head
};
inline constexpr int kWhoseCount = 3;
const char* to_string(Whose whose);  // "target", "draft", "head"

// A run's kind: what it writes, and how.
enum class RunKind : std::uint8_t {
  kText = 0,  // one text, a token a step
  kDrafts,    // one text; a step verifies drafts
  kBeams,     // several texts side by side, cut to the best after every step
};
const char* to_string(RunKind kind);  // "text", "drafts", "beams"

// A drafter's kind.
enum class DrafterKind : std::uint8_t {
  kModel = 0,  // a second model
  kHead,       // a draft head on the target's hidden states
  kText,       // a search in the text so far, or in other texts
  kOther,
};
const char* to_string(DrafterKind kind);  // "model", "head", "text", "other"

// Where a node's token came from.
enum class Source : std::uint8_t {
  kRoot = 0,   // the prompt itself (node 0)
  kGreedy,     // argmax of the parent's row
  kSampled,    // drawn from the parent's row
  kBeam,       // a beam search expansion
  kDraft,      // proposed by a drafter (NodeRow::drafter)
  kBonus,      // the target's own token after the last accepted draft
  kCorrected,  // the target's own token in place of a rejected draft
  kForced,     // chosen by the user (what-if)
};
const char* to_string(Source source);  // "prompt", "greedy", ...
// A drafter put it there: a draft, or a probe.
inline bool is_drafted(Source source) { return source == Source::kDraft; }

// What a node of the token tree is for.
enum class NodeRole : std::uint8_t {
  kCandidate = 0,  // it may become text
  kProbe,          // it never does: a row whose output a drafter asked for
};
inline constexpr int kNodeRoleCount = static_cast<int>(NodeRole::kProbe) + 1;
const char* to_string(NodeRole role);  // "candidate", "probe"

// What became of a node (a row a verdict; a node may have several over time: kept, later pruned).
enum class Verdict : std::uint8_t {
  kNone = 0,
  kAccepted,   // draft accepted
  kRejected,   // draft refused (its subtree with it)
  kKept,       // beam survives this step
  kPruned,     // beam or branch dropped: out of the best b, or by a pruning rule
  kFinished,   // ends a finished sequence
  kBonus,      // emitted after the last accepted draft
  kCorrected,  // emitted in place of a rejected draft
  kEmitted,    // plain decoding: the chosen next token
  kWithdrawn,  // drafted, but not sent to the target: neither counted as drafted nor refused
};
const char* to_string(Verdict verdict);

enum class SlotAction : std::uint8_t {
  kAlloc = 0,  // slot taken for a node for the first time
  kReuse,      // a freed slot taken again (recycle)
  kGarbage,    // its node died, the slot is still occupied (keep, or compact before the next GC)
  kFree,       // slot returned
  kMove,       // contents copied from from_slot (compact, batch reorder)
};
const char* to_string(SlotAction action);

// One run. JSON texts are UTF-8. The prompt occupies positions 0 .. prompt_tokens-1.
struct RunInfo {
  std::string created_utc;  // ISO 8601
  // {"path","family","name","parameters","dtype","device","layers","kv_heads","head_dim",
  //  "vocab_size","context","sliding_window"}
  std::string model_json;
  std::string method;        // its name, for programs
  std::string method_title;  // for people; "" = the name
  RunKind kind = RunKind::kText;
  std::int32_t width = 1;           // kBeams: how many texts are kept
  std::string settings_json;        // {"name": value}: every parameter in force
  std::string setting_titles_json;  // {"name": "what people call it"}
  std::string setting_words_json;   // {"name": "what its value stands for"}, where it is another
  std::int64_t seed = 0;
  std::string versions_json;  // {"triescope","libtorch",...}
  std::string prompt_text;
  std::vector<std::int32_t> prompt_tokens;
  std::int32_t max_new_tokens = 0;
  std::int64_t kv_bytes_per_token = 0;  // over all layers, K and V
  std::int32_t sliding_window = 0;      // 0 = none
  std::string kv_policy;                // "batch", "keep", "compact", "recycle"
  // A window drew while the run was decoded, on the same cores: its times are longer than the
  // method's.
  bool timed_while_drawing = false;
  // The messages from which the model's chat template made the prompt, oldest first: [{"role":
  // "system", "content": "…"}, {"role": "user", "content": "…"}]; with tools or a template that was
  // given, {"messages": that list, "tools": […], "chat_template": "…"}. "" = no chat template.
  std::string conversation_json = {};
};

// The program that recorded the run.
struct ProgramRow {
  std::string name = {}, version = {};
  std::string command = {};  // the command line; "" = not known
};

// Something that proposes drafts. Their ids are 0, 1, 2, ... in the order of their rows.
struct DrafterRow {
  std::int32_t drafter = 0;
  std::string name = {};   // in labels and exports: "n-gram trie"
  std::string title = {};  // in sentences: "N-gram trie"; "" = the name
  DrafterKind kind = DrafterKind::kOther;
};

enum class RunStatus : std::uint8_t { kRunning = 0, kDone, kStopped, kFailed };

// How a run ended.
struct Finish {
  RunStatus status = RunStatus::kDone;
  std::string message;
};

// The text of a token as the model's vocabulary spells it (raw bytes, maybe not UTF-8). The first
// of several rows about one token counts.
struct PieceRow {
  std::int32_t token = 0;
  std::string bytes;
};

// A finished step's figures, written in its observe phase.
struct StepRow {
  std::int32_t step = 0;          // 0 = prefill
  std::int32_t forward_rows = 0;  // rows in this step's forward (prefill: prompt tokens)
  std::int32_t drafted = 0;       // draft nodes proposed
  std::int32_t accepted = 0;      // draft nodes accepted
  std::int32_t emitted = 0;       // tokens that became text (bonus included); beams: 1 a step
  std::int32_t frontier = 0;      // live paths after the step
};

struct PhaseRow {
  Tick tick = 0;
  std::int64_t start_us = 0;  // since the run began
  std::int64_t duration_us = 0;
};

// A node of the token tree. Node 0 is the root: the whole prompt, token -1, depth 0.
// A node of depth d >= 1 has position = prompt length + d - 1.
struct NodeRow {
  std::int32_t node = 0;
  std::int32_t parent = -1;
  std::int32_t token = -1;
  std::int32_t depth = 0;
  // log p(token | path) by the target; NaN while unknown (a draft before its forward)
  float logprob = 0;
  float score = 0;  // cumulative log p over generated tokens; NaN while unknown
  // probability with which the draft token was really drawn (1 for deterministic drafts)
  float q = 1;
  Source source = Source::kRoot;
  Tick tick = 0;  // when it was hung into the tree
  NodeRole role = NodeRole::kCandidate;
  std::int32_t drafter = -1;  // Source::kDraft: its drafter; -1 = unknown
};

inline bool is_probe(const NodeRow& node) { return node.role == NodeRole::kProbe; }
// Proposed as text: to be counted, told and drawn as a draft.
inline bool is_draft(const NodeRow& node) { return is_drafted(node.source) && !is_probe(node); }

// Later knowledge of a draft's target probability (written by the accept phase).
struct NodeScoreRow {
  std::int32_t node = 0;
  float logprob = 0;
  float score = 0;
  Tick tick = 0;
};

// One input row of a forward: its node, position and slot. Rows of one owner and step come forward
// by forward.
struct InputRow {
  std::int32_t step = 0;
  std::int32_t row = 0;
  std::int32_t node = 0;
  std::int32_t position = 0;  // tree position
  std::int32_t slot = 0;
  // the position that sequential IDs would have given: tokens in the cache before + row
  std::int32_t naive_position = 0;
  Whose whose = Whose::kTarget;
  // index among its owner's forwards in this step; a draft model runs several
  std::int32_t forward = 0;
};

// One of the best tokens of a node's output row.
struct CandidateRow {
  Tick tick = 0;
  std::int32_t node = 0;  // the node whose output row it is
  std::int32_t rank = 0;  // 0 = best
  std::int32_t token = 0;
  float logprob = 0;
  // The token became a child in the phase that recorded it. Only a drafter's own rows set this: the
  // target's rows are recorded in the forward, before anything is decided, and the nodes say what
  // became of them.
  bool chosen = false;
  Whose whose = Whose::kTarget;
};

// The stages of a node's next-token distribution before a token is drawn from it, in this order.
// Only the stages that a run's settings switch on are recorded.
enum class Stage : std::uint8_t {
  kProcessors = 0,  // after the logits processors
  kTemperature,     // after the temperature
  kTopH,            // after each cut
  kTopK,
  kTopP,
  kMinP,
  kTypicalP,
  kEpsilonCutoff,
  kEtaCutoff,
  kProposal,  // q: what the drafts below the node were drawn from
  kDrawn,     // what the token was drawn from: the last stage above, or what drafts left of it
};
inline constexpr int kStageCount = static_cast<int>(Stage::kDrawn) + 1;
const char* to_string(Stage stage);  // "processors", "temperature", "top_h", ...

// The probability of one token after one stage. Recorded for the node's best tokens (CandidateRow
// has the model's own p), the drafts below it and the token drawn.
struct StageRow {
  Tick tick = 0;
  std::int32_t node = 0;
  Stage stage = Stage::kProcessors;
  std::int32_t token = 0;
  float p = 0;  // 0: cut away
  // Only for kDrawn, else NaN. Softmax: the sum of p over the tokens with lower ids; the draw takes
  // the token with at <= u < at + p. Gumbel-max: log p + Gumbel noise; the draw takes the largest.
  float at = std::numeric_limits<float>::quiet_NaN();
};

struct VerdictRow {
  Tick tick = 0;
  std::int32_t node = 0;
  Verdict verdict = Verdict::kNone;
  float p = -1;  // target probability of the node's token; -1 = not applicable (as for q and u)
  float q = -1;  // draft probability
  float u = -1;  // the uniform draw
  std::int32_t rank = -1;  // rank among candidates / beams (0 best)
  float score = 0;         // beam score at the decision
  float gap = 0;  // distance to the worst survivor (pruned) or to the best pruned (kept); >= 0
  std::int32_t replacement = -1;  // token emitted instead
  Reason reason = Reason::kNone;
  float value = 0, threshold = 0;  // what the reason compares (reasons.def)
  std::int32_t count = 0;          // what it counts
  std::string why = {};            // the recorder's own words, instead of a code
};

// The live leaves after a step, best first. Rank colours the beams.
struct FrontierRow {
  std::int32_t step = 0;
  std::int32_t rank = 0;
  std::int32_t node = 0;
  float score = 0;
};

struct SlotRow {
  Tick tick = 0;
  SlotAction action = SlotAction::kAlloc;
  std::int32_t slot = 0;
  std::int32_t node = 0;  // the node whose KV it is; prompt token i is written as node = -2 - i
  std::int32_t from_slot = -1;   // kMove only
  Whose whose = Whose::kTarget;  // the cache's owner
};

// One cache's figures at the end of each step's commit, in tokens (of kv_bytes_per_token each).
struct MemoryRow {
  std::int32_t step = 0;
  std::int32_t live = 0;
  std::int32_t garbage = 0;
  std::int32_t reserved = 0;                 // slots allocated, used or not
  std::int32_t greedy = 0;                   // what greedy decoding would hold at this length
  std::int32_t batch_beam = 0;               // what conventional batch beam search would hold
  std::int64_t moved_bytes = 0;              // copied in this step by the policy
  std::int64_t device_allocated_bytes = -1;  // CUDA allocator, -1 without one
  std::int64_t device_reserved_bytes = -1;
  Whose whose = Whose::kTarget;
};

// A finished or, at the end, a returned sequence.
struct SequenceRow {
  Tick tick = 0;
  std::int32_t node = 0;   // its last node
  std::int32_t rank = -1;  // among the returned ones; -1 = finished on the way, not (yet) returned
  float score = 0;         // after the length penalty; NaN where the method has none
  std::string finish;      // "eos", "length", "stopped"
  std::vector<std::int32_t> tokens;  // generated tokens, EOS included
};

// The slots that a row attended to, its own included, where its recorder knows better than the
// tree.
struct SeenRow {
  std::int32_t step = 0;
  std::int32_t row = 0;  // as InputRow's, like the next two
  Whose whose = Whose::kTarget;
  std::int32_t forward = 0;
  std::vector<std::int32_t> slots;  // first and last of each run, ascending: {0, 15, 18, 18}
};

// The experts that a row of the target's forward went through in one layer of a mixture.
struct ExpertRow {
  Tick tick = 0;
  std::int32_t node = 0;
  std::int32_t layer = 0;
  std::vector<std::int32_t> experts = {};  // by ascending index
  std::vector<float> weights = {};         // of their results in the sum, in the same order
};

// A figure that the recorder defines itself.
struct MetricRow {
  Tick tick = 0;
  std::int32_t node = -1;  // the node it is about; -1 = the step
  std::string name;
  double value = 0;  // NaN = unknown
};

struct LogRow {
  Tick tick = 0;
  std::int32_t level = 1;  // LogLevel
  std::string text;
};

struct Bookmark {
  std::int64_t id = 0;
  Tick tick = 0;
  std::string note;
};

}  // namespace triescope::capture
