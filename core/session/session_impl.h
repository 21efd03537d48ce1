// The inside of a Session: what lives through a run, and the five phases. The phases are in
// session.cpp, and what precedes and follows them in session_setup.cpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/session/liveness.h"
#include "core/session/run_recorder.h"
#include "core/session/session.h"
#include "core/tree/tree_runner.h"

namespace triescope {

// A token of the path with which a branched session begins: generated tokens up to the choice, the
// choice last.
struct ForcedToken {
  std::int32_t token = -1;
  float logprob = 0;  // NaN = unknown
  capture::Source source = capture::Source::kForced;
};

struct Session::Impl {
  Impl(Model& model, const Tokenizer& tokenizer, const MethodInfo& method, RunConfig config,
       capture::Recorder& recorder, std::span<const ForcedToken> path);

  // --- the life of a step (session.cpp) ---
  capture::Phase advance();
  void draft();
  void forward();
  void accept();
  void commit();
  void observe();
  // Error{kInvalidArgument}: the acceptor decided about a probe.
  void check_decision() const;

  StepView view();
  void end(capture::RunStatus status, const std::string& message);
  void note_deaths(std::span<const NodeId> dead, capture::Tick tick);
  TreeRunner* drafting_runner() const;  // the drafter's model; null = none
  capture::Whose drafting_owner() const;
  // Records which layers a part of the target leaves out, where that changed.
  void note_left_out(capture::Tick tick);
  void note_forwards(TreeRunner& of, capture::Whose whose, capture::Tick tick);
  // How many prompt + generated tokens would have KV in plain decoding now.
  std::int32_t text_tokens() const;

  // --- before and after (session_setup.cpp) ---
  void hang_path(std::span<const ForcedToken> path);
  capture::RunInfo run_info() const;
  std::vector<capture::DrafterRow> drafter_rows() const;
  std::vector<FinishedSequence> sequences() const;
  std::string warning() const;
  RunResult result() const;

  Model& model;
  const Tokenizer& tokenizer;
  RunConfig config;
  capture::Recorder& recorder;
  const MethodInfo& method;
  RunContext run;         // what the caller sees
  RunContext method_run;  // what the method sees: `candidates` is 0 where nobody records them
  RunRecorder out;
  Rng rng;
  std::int32_t beams = 1;  // for the calculated batch beam search

  TokenTree tree;
  Liveness liveness;
  std::unique_ptr<TreeRunner> runner;
  KvPolicyKind kv_kind = KvPolicyKind::kRecycle;
  MethodParts parts;
  ProgressSink progress;
  MemoryWait memory_wait;
  std::chrono::steady_clock::duration waited{};  // in the current phase
  std::stop_source stop;

  // --- where the run stands ---
  std::int32_t step = 0;
  capture::Phase phase = capture::Phase::kDraft;
  bool done = false;
  capture::RunStatus status = capture::RunStatus::kRunning;
  std::vector<NodeId> frontier;  // pending nodes with which the step begins; the root at prefill
  Drafts drafts;                 // this step's
  std::vector<std::int32_t>
      kept_sublayers;        // of the drafting model as recorded; empty = nothing yet
  std::vector<NodeId> rows;  // frontier, then the drafts that were sent
  std::vector<NodeId> path;  // a branch: the nodes that prefill restores
  AcceptResult decision;
  std::vector<NodeId> text;  // the decision's StepView::text
  IdVector<NodeId, bool> on_finished_text;

  // --- figures ---
  std::int64_t steps_done = 0, target_forwards = 0, emitted_tokens = 0, prefill_tokens = 0;
  std::int32_t forward_row_count = 0;  // this step's
  std::int32_t most_rows = 0;          // the largest forward after prefill
  std::vector<std::int64_t> accepted_histogram, levels_histogram;
  std::int32_t text_depth = 0;  // generated tokens with KV on the longest live text
  std::int32_t peak_text = 0;
  std::int64_t moved_before = 0;
  PhaseTimes time;
};

}  // namespace triescope
