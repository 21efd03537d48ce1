// Session: one run of one method on one model, phase by phase. START HERE to read the decoder:
// advance() is the life of a step (docs/architecture.md). Torch-free. Not thread-safe, except
// request_stop().
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/memory_wait.h"
#include "core/capture/recorder.h"
#include "core/method/method.h"
#include "core/model/model.h"
#include "core/text/tokenizer/tokenizer.h"

namespace triescope {

// The cost of a drafter that runs a model of its own.
struct DrafterCost {
  std::int64_t forwards = 0, forward_rows = 0;
  std::int64_t kv_bytes_per_token = 0;
  std::int32_t kv_peak_tokens = 0;
};

// The companion that drafts beside the target: a smaller model with its tokenizer (the same ids
// must stand for the same text), or a head trained for the target. Borrowed.
struct DraftWith {
  Model* model = nullptr;
  const Tokenizer* tokenizer = nullptr;
  DraftHead* head = nullptr;
};

struct RunConfig {
  std::string method = "beam";
  // those that were given; the rest have their defaults
  nlohmann::json settings = nlohmann::json::object();
  std::vector<std::int32_t> prompt_tokens;
  std::string prompt_text;  // as typed, for the capture
  std::string command;      // the command line that started the run, for the capture; "" = none
  // From which a chat template made the prompt, for the capture; no messages = no chat.
  Conversation conversation = {};
  int max_new_tokens = 128;
  std::uint64_t seed = 0;
  DraftWith draft = {};  // for methods that need it
};

struct ReturnedSequence {
  std::vector<std::int32_t> tokens;  // generated, EOS included
  std::string text;                  // special tokens skipped
  double score = 0;                  // NaN where the method has none
  std::string finish;                // "eos", "length", "stopped"
};

// prefill_ms is step 0 with all its phases. decode_ms is the steps after it, and the five phases
// are parts of decode_ms.
struct PhaseTimes {
  double load_ms = 0, prefill_ms = 0, decode_ms = 0, draft_ms = 0, forward_ms = 0, accept_ms = 0,
         commit_ms = 0, observe_ms = 0;
};

struct RunResult {
  std::vector<std::int32_t> prompt_tokens;
  std::vector<ReturnedSequence> sequences;  // best first
  std::int64_t steps = 0, target_forwards = 0, emitted_tokens = 0;
  // tokens of emitted_tokens that came from prefill; time.decode_ms does not include them
  std::int64_t prefill_tokens = 0;
  // emitted tokens / target forwards that decode (one of them from prefill)
  double tokens_per_forward = 0;
  std::vector<std::int64_t> accepted_histogram;  // [k] = steps that accepted k drafts
  // Beams with drafts: [k] = steps that went on k levels further than one; empty for every other run.
  std::vector<std::int64_t> levels_histogram;
  std::string kv_policy;
  std::int64_t kv_bytes_per_token = 0, peak_live_tokens = 0, peak_garbage_tokens = 0,
               peak_held_tokens = 0, peak_reserved_bytes = 0, moved_tokens = 0, greedy_tokens = 0,
               batch_beam_tokens = 0;
  // The slots of the prefix that masks alone see: held all along, in peak_reserved_bytes, no token of
  // the text.
  std::int64_t mask_prefix_tokens = 0;
  // The average number of layers with experts in a forward after prefill, and of different experts that such
  // a layer reads. 0 = no mixture.
  double expert_layers = 0, experts_a_layer = 0;
  DrafterCost drafter_cost;  // for a drafter with a model of its own
  // Drafter::warning(), and a warning where forwards had more rows than ModelInfo::path_only_rows
  std::string warning;
  bool lossless = true;  // see is_lossless()
  PhaseTimes time;

  // Tokens emitted after prefill, divided by the time of decoding. nullopt = nothing was decoded.
  std::optional<double> tokens_per_second() const;
  // Levels a step beyond its first, on average. nullopt = no levels_histogram.
  std::optional<double> levels_gained() const;
};

class Session {
 public:
  // Validates everything before anything runs. Model, tokenizer and recorder are borrowed and must
  // outlive the session. Errors: kInvalidArgument (a setting; an empty prompt; prompt +
  // max_new_tokens longer than the context, with the three numbers; a token id outside the
  // vocabulary; for a method that needs a draft model or head: none, or one of another vocabulary
  // or kind), kNotFound (method), kNotSupported (a need that the model does not meet).
  Session(Model& model, const Tokenizer& tokenizer, RunConfig config, capture::Recorder& recorder);
  // The same with a method that is not in the list; borrowed. RunConfig::method is ignored.
  Session(Model& model, const Tokenizer& tokenizer, const MethodInfo& method, RunConfig config,
          capture::Recorder& recorder);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs the next phase and returns it. REQUIRES: !done(). After an Error the session has failed:
  // done() is true, and the recorder was told.
  capture::Phase advance();
  // Runs to the next draft phase (a whole step).
  void step();
  // Runs until done, or until request_stop().
  void run();
  bool done() const;
  capture::Tick next_tick() const;  // the phase that comes next

  // May be called from any thread: the running forward is abandoned within one layer, the session
  // ends as "stopped", and what was recorded stays.
  void request_stop();

  // Decodes on from a past step with another choice (what-if): the new session's tree holds the
  // path up to `node`, then `token` instead of what followed. One forward restores the KV.
  static std::unique_ptr<Session> branch(const Session& from, NodeId node, std::int32_t token,
                                         capture::Recorder& recorder);

  const RunContext& context() const;
  const TokenTree& tree() const;
  RunResult result() const;  // may be called at any time; gives what there is so far
  void set_progress(ProgressSink progress);  // prefill reports tokens done and their total
  // Called within advance() where the target or the drafter is refused memory: for a forward, for
  // growing or moving its KV, or for fetching a row of logits from the device. While `wait` returns
  // true, the same is tried again, and the run is what it would have been (the wait does not count
  // in its times). Without it the run fails. What was recorded is not touched.
  void wait_for_memory(MemoryWait wait);

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);  // branch()
  std::unique_ptr<Impl> impl_;
};

// The versions that the README names: {"triescope","libtorch","cuda","kernels"}; for captures,
// exports and --version.
nlohmann::json versions();

}  // namespace triescope
