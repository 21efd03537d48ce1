// A decoding method: MethodInfo (what it is, its parameters) and the two parts the step calls: a
// Drafter that hangs draft nodes into the tree and an Acceptor that reads the forward's rows and
// names the next frontier. One method a file in core/methods; adding one touches that file and the
// list in core/methods/registry.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/capture/records.h"
#include "core/kv/kv_policy_kind.h"
#include "core/tree/token_tree.h"

namespace triescope {

class Model;

enum class ParameterKind : std::uint8_t {
  kInteger,
  kNumber,
  kBoolean,
  kChoice,
  kText,
  kIntegerList
};

// Panels build their controls from this, the command line its --set, the contract tests their
// ranges.
struct Parameter {
  std::string name;  // Hugging Face's name where it has one
  ParameterKind kind = ParameterKind::kInteger;
  nlohmann::json default_value;
  double minimum = -std::numeric_limits<double>::infinity();  // inclusive
  double maximum = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  // kChoice
  std::string help;                  // one or two sentences, with the formula where there is one
};

// Everything a method may know about its run.
struct RunContext {
  std::span<const std::int32_t> prompt;  // ids
  int max_new_tokens = 0;
  std::vector<std::int32_t> eos_token_ids;
  int vocab_size = 0;
  nlohmann::json settings;  // every parameter in force, validated
  std::uint64_t seed = 0;
  int cheap_rows = 33;  // ModelInfo::cheap_rows
  // UTF-8 text to ids without special tokens, for methods that read texts of the user's; may be
  // null.
  std::function<std::vector<std::int32_t>(std::string_view)> encode = {};
  // A second model with the target's vocabulary, for methods that need kDraftModelNeed; borrowed.
  Model* draft_model = nullptr;
};

struct DraftContext {
  TokenTree& tree;
  std::span<const NodeId> frontier;  // pending nodes the next forward begins with, best first
  const RunContext& run;
  Rng& rng;
  int room = 0;  // at most this many draft levels fit before max_new_tokens or the context ends
  std::stop_token stop = {};  // for drafters that run a model: stopping is Error{kCancelled}
};

// What a drafter that runs a model of its own has cost so far.
struct DrafterCost {
  std::int64_t forwards = 0, forward_rows = 0;
  std::int64_t kv_bytes_per_token = 0;
  std::int32_t kv_peak_tokens = 0;
};

class Drafter {
 public:
  virtual ~Drafter() = default;
  // Hangs nodes below the frontier through tree.add(); returns the new ones, parents first.
  virtual std::vector<NodeId> draft(DraftContext& context) = 0;
  // After accept: the tokens that became part of the text in this step, in order.
  virtual void observe(std::span<const std::int32_t> emitted) { (void)emitted; }
  virtual DrafterCost cost() const { return {}; }
};

// The rows of this step's forward. Row i belongs to rows[i]; at prefill there is one row, the
// root's.
struct AcceptContext {
  TokenTree& tree;
  std::span<const NodeId> rows;
  std::function<std::span<const float>(int row)> logits;  // raw fp32 logits [vocab] of a row
  std::span<const NodeId> frontier;  // the frontier this step began with (root at prefill)
  const RunContext& run;
  Rng& rng;
  int step = 0;
  int row_of(NodeId id) const {  // -1 = none
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i] == id) return static_cast<int>(i);
    return -1;
  }
};

struct FinishedSequence {
  NodeId node;                 // its last node
  float score = 0;             // after the length penalty; NaN where the method has none
  const char* finish = "eos";  // "eos" or "length"
};

struct AcceptResult {
  std::vector<NodeId> frontier;  // next pending nodes, best first; empty = the run is over
  std::vector<capture::VerdictRow> verdicts;  // tick may be left 0: the step fills it in
  std::vector<capture::CandidateRow>
      candidates;  // best tokens of the rows that matter; tick as above
  std::vector<std::int32_t>
      emitted;  // tokens that became text (best beam's newest token for beams)
  std::vector<FinishedSequence> finished;  // newly finished in this step
  int drafted = 0, accepted = 0;
};

class Acceptor {
 public:
  virtual ~Acceptor() = default;
  // Sets logprob/score of nodes it learned about; new frontier nodes are added to the tree by it.
  virtual AcceptResult accept(AcceptContext& context) = 0;
  // The returned sequences, best first, once the run is over (or stopped: what there is).
  virtual std::vector<FinishedSequence> results(const TokenTree& tree,
                                                const RunContext& run) const = 0;
};

struct MethodParts {
  std::unique_ptr<Drafter> drafter;    // null = none
  std::unique_ptr<Acceptor> acceptor;  // never null
};

// In MethodInfo::needs: RunConfig::draft.
inline constexpr const char* kDraftModelNeed = "draft model";

struct MethodInfo {
  std::string name;      // "beam"
  std::string title;     // "Trie beam search"
  std::string summary;   // two sentences
  std::string paper;     // title, authors, year, section or equation; "" = folklore
  bool lossless = true;  // same text (or distribution) as plain decoding of the same kind
  bool drafts = false;
  std::vector<std::string>
      needs;  // kDraftModelNeed, "heads", "hidden states"; empty = the model alone
  std::vector<Parameter> parameters;
  std::vector<KvPolicyKind> kv_policies = {KvPolicyKind::kRecycle, KvPolicyKind::kCompact,
                                           KvPolicyKind::kKeep};  // first = default
  std::function<MethodParts(const RunContext&)> make;
};

bool needs_draft_model(const MethodInfo& method);

// Parameters that every method has (max_new_tokens excluded): kv, gc_every, eos_token_id,
// candidates, ...
std::span<const Parameter> common_parameters();
// Fills in defaults, parses texts ("3", "true", "1,2"), checks ranges. Error{kInvalidArgument}:
// says which parameter, the value found, what is allowed.
nlohmann::json validate_settings(const MethodInfo& method, const nlohmann::json& given);

}  // namespace triescope
