// The life of a step. advance() runs one phase:
//
//   draft    the drafter hangs pending nodes below the frontier
//   forward  one forward over all pending nodes; their KV goes to the slots the policy names
//   accept   the acceptor reads the rows, decides, and names the next frontier
//   commit   what no live path needs any more is given to the KV policy
//   observe  the drafter reads what the step computed and decided; the step's figures are written
//
// Step 0 is prefill: its forward runs over the prompt and gives one row, the root's.
#include "core/session/session.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/model/layer_subset.h"
#include "core/session/session_impl.h"

namespace triescope {

using capture::Phase;
using capture::RunStatus;
using Clock = std::chrono::steady_clock;

namespace {

double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

}  // namespace

Phase Session::Impl::advance() {
  if (done)
    throw Error(ErrorCode::kInvalidArgument, "session: the run has already ended. Start a new one");
  const Phase now = phase;
  const auto start = Clock::now();
  waited = {};
  try {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "stopped");
    switch (now) {
      case Phase::kDraft:
        draft();
        break;
      case Phase::kForward:
        forward();
        break;
      case Phase::kAccept:
        accept();
        break;
      case Phase::kCommit:
        commit();
        break;
      case Phase::kObserve:
        observe();
        break;
    }
    const auto stopped = Clock::now() - waited;  // the time that the phase itself took
    out.phase(capture::make_tick(step, now), start, stopped);

    const double ms = milliseconds(stopped - start);
    if (step == 0) {
      time.prefill_ms += ms;
    } else {
      double* const of_phase[] = {&time.draft_ms, &time.forward_ms, &time.accept_ms,
                                  &time.commit_ms, &time.observe_ms};
      *of_phase[static_cast<int>(now)] += ms;
      time.decode_ms += ms;
    }

    if (now != Phase::kObserve) {
      phase = static_cast<Phase>(static_cast<int>(now) + 1);
    } else if (frontier.empty()) {
      end(RunStatus::kDone, "");
    } else {
      phase = Phase::kDraft;
      ++step;
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCancelled) {
      end(RunStatus::kFailed, error.what());
      throw;
    }
    end(RunStatus::kStopped, "stopped by the user");
  } catch (const std::bad_alloc&) {
    end(RunStatus::kFailed, "out of memory");
    throw Error(ErrorCode::kOutOfMemory, std::string("host memory ran out in the ") +
                                             capture::to_string(now) + " phase of step " +
                                             std::to_string(step) +
                                             "; fewer beams or a shorter prompt need less");
  } catch (const std::exception& error) {
    end(RunStatus::kFailed, error.what());
    throw;
  }
  return now;
}

void Session::Impl::draft() {
  drafts = {};
  if (step > 0 && parts.drafter) {
    const std::int32_t probe_room = runner->levels_below(tree, frontier.front());
    // The token after the last draft is the target's own and must fit too.
    const int room = std::min(run.max_new_tokens - tree[frontier.front()].depth - 1, probe_room);
    DraftContext context{tree,       frontier,         method_run, rng, std::max(room, 0),
                         probe_room, stop.get_token(), memory_wait};
    drafts = parts.drafter->draft(context);
    liveness.hang(tree, drafts.sent);
    for (const NodeId id : drafts.withdrawn) tree[id].status = NodeStatus::kWithdrawn;
  }
  const auto tick = capture::make_tick(step, Phase::kDraft);
  out.new_nodes(tree, tick);
  std::vector<capture::VerdictRow> withdrawn;
  for (const NodeId id : drafts.withdrawn)
    if (!tree[id].is_probe())
      withdrawn.push_back(
          {.tick = tick, .node = id.value, .verdict = capture::Verdict::kWithdrawn});
  out.verdicts(withdrawn);
  out.candidates(drafts.candidates, drafting_owner(), tick);
  out.figures(std::move(drafts.figures), tick);
  note_left_out(tick);
  if (TreeRunner* drafting = drafting_runner()) note_forwards(*drafting, drafting_owner(), tick);
}

void Session::Impl::forward() {
  rows = frontier;
  const int best = parts.acceptor->best_tokens();
  runner->read_best(best > 0 && parts.drafter ? std::max(best, parts.drafter->best_tokens())
                                              : best);
  if (step == 0) {
    // The log-prob of the forced token stands in the row before it.
    TreeRunner::LogitsSink before_last;
    if (!path.empty() && std::isnan(tree[path.back()].logprob))
      before_last = [this](const LogitsRow& logits) {
        const std::int32_t token = tree[path.back()].token.value;
        tree.set_logprob(path.back(),
                         logits[static_cast<std::size_t>(token)] - logits.log_sum_exp());
      };
    runner->prefill(tree, path, stop.get_token(), progress, before_last);
    forward_row_count = tree.prompt_tokens() + static_cast<std::int32_t>(path.size());
    const NodeId last[] = {frontier.front()};
    out.new_scores(tree, last, capture::make_tick(0, Phase::kForward));
  } else {
    rows.insert(rows.end(), drafts.sent.begin(), drafts.sent.end());
    runner->forward(tree, rows, stop.get_token());
    forward_row_count = static_cast<std::int32_t>(rows.size());
    most_rows = std::max(most_rows, forward_row_count);
  }
  ++target_forwards;
  const auto tick = capture::make_tick(step, Phase::kForward);
  note_forwards(*runner, capture::Whose::kTarget, tick);
  if (out.records(capture::Level::kFull)) {
    const Outlook outlook = parts.acceptor->preview(view());
    out.candidates(outlook.candidates, capture::Whose::kTarget, tick);
    out.stages(outlook.stages, tick);
  }
  for (const NodeId id : frontier) text_depth = std::max(text_depth, tree[id].depth);
  peak_text = std::max(peak_text, text_tokens());
}

void Session::Impl::note_left_out(capture::Tick tick) {
  const TreeRunner* const drafting = drafting_runner();
  const auto* const part =
      drafting ? dynamic_cast<const LayerSubset*>(&drafting->model()) : nullptr;
  if (part == nullptr || step == 0 || part->sublayers() == kept_sublayers) return;
  kept_sublayers = part->sublayers();
  out.left_out(part->left_out(), tick);
}

TreeRunner* Session::Impl::drafting_runner() const {
  return parts.drafter ? parts.drafter->runner() : nullptr;
}

capture::Whose Session::Impl::drafting_owner() const {
  return run.draft_head != nullptr ? capture::Whose::kHead : capture::Whose::kDraft;
}

// Records what a model ran since the last call, and where its KV went.
void Session::Impl::note_forwards(TreeRunner& of, capture::Whose whose, capture::Tick tick) {
  std::int32_t forward = 0;
  for (std::vector<capture::InputRow>& inputs : of.take_inputs()) {
    for (capture::InputRow& row : inputs) {
      row.step = step;
      row.whose = whose;
      row.forward = forward;
    }
    ++forward;
    out.inputs(inputs);
  }
  out.slots(of.take_slot_events(), whose, tick);
  std::vector<capture::ExpertRow> experts = of.take_experts();
  if (whose == capture::Whose::kTarget) out.experts(std::move(experts), tick);
}

StepView Session::Impl::view() {
  return {
      .tree = tree,
      .run = method_run,
      .rows = rows,
      .frontier = frontier,
      .step = step,
      .computed = *runner,
      .proposals = &drafts.proposals,
      .next_frontier = decision.frontier,
      .text = text,
  };
}

void Session::Impl::accept() {
  decision = {};
  text.clear();
  decision = parts.acceptor->accept(view(), rng);
  check_decision();
  for (const NodeId id : path)
    decision.verdicts.push_back({.node = id.value,
                                 .verdict = capture::Verdict::kEmitted,
                                 .score = tree[id].score,
                                 .reason = tree[id].source == capture::Source::kForced
                                               ? capture::Reason::kForced
                                               : capture::Reason::kBranched});
  if (!decision.frontier.empty())
    for (NodeId id = decision.frontier.front(); tree[id].depth > tree[frontier.front()].depth;
         id = tree[id].parent)
      text.insert(text.begin(), id);

  const auto tick = capture::make_tick(step, Phase::kAccept);
  out.new_nodes(tree, tick);
  out.new_scores(tree, rows, tick);
  out.decision(decision, tick);
  out.frontier(tree, decision.frontier, step);
  for (const FinishedSequence& sequence : decision.finished)
    out.sequence(tree, sequence, -1, sequence.finish, tick);
}

void Session::Impl::check_decision() const {
  const auto check = [&](NodeId id, const char* what) {
    if (tree[id].is_probe())
      throw Error(ErrorCode::kInvalidArgument,
                  "method " + method.name + ": expected " + what +
                      " to be a candidate; found node " + std::to_string(id.value) +
                      " to be a probe, which never becomes text. Its acceptor must skip probes");
  };
  for (const NodeId id : decision.frontier) check(id, "the next frontier");
  for (const FinishedSequence& sequence : decision.finished)
    check(sequence.node, "a text's last node");
  for (const capture::VerdictRow& row : decision.verdicts)
    check(NodeId(row.node), "a node with a verdict");
}

void Session::Impl::commit() {
  for (const FinishedSequence& sequence : decision.finished)
    tree[sequence.node].status = NodeStatus::kFinished;

  // Plain decoding would hold everything but the newest token, whose KV the next forward computes.
  for (const NodeId id : decision.frontier) text_depth = std::max(text_depth, tree[id].depth - 1);
  for (const FinishedSequence& sequence : decision.finished)
    text_depth = std::max(text_depth, tree[sequence.node].depth - 1);

  const Settled settled = liveness.settle(tree, step == 0 ? path : rows, decision.frontier);
  std::vector<NodeId> dropped = settled.dead;
  dropped.insert(dropped.end(), settled.again.begin(), settled.again.end());
  runner->commit(tree, {.dropped = dropped, .frontier = decision.frontier, .step = step});
  peak_text = std::max(peak_text, text_tokens());

  const auto tick = capture::make_tick(step, Phase::kCommit);
  note_deaths(settled.dead, tick);
  out.slots(runner->take_slot_events(), capture::Whose::kTarget, tick);
  if (out.records(capture::Level::kSteps)) {
    const DeviceMemory device = model.device_memory();
    const SlotStore& store = runner->store();
    out.memory({.step = step,
                .live = store.live(),
                .garbage = store.garbage(),
                .reserved = store.reserved(),
                .greedy = text_tokens(),
                .batch_beam = text_tokens() * beams,
                .moved_bytes = (store.moved() - moved_before) * store.bytes_per_slot(),
                .device_allocated_bytes = device.allocated_bytes,
                .device_reserved_bytes = device.reserved_bytes});
    if (const TreeRunner* drafting = drafting_runner())
      out.memory({.step = step,
                  .live = drafting->store().live(),
                  .garbage = drafting->store().garbage(),
                  .reserved = drafting->store().reserved(),
                  .greedy = text_tokens(),
                  .batch_beam = text_tokens(),
                  .whose = drafting_owner()});
  }
  moved_before = runner->store().moved();
}

// Records verdicts for nodes that die because all beams below them are gone. Nodes that this step
// decided have their verdict already, and nodes on a finished text are not pruned, though their KV
// is free. Probes never get a verdict.
void Session::Impl::note_deaths(std::span<const NodeId> dead, capture::Tick tick) {
  if (!out.records(capture::Level::kTree)) return;
  on_finished_text.grow(tree.size());
  for (const FinishedSequence& sequence : decision.finished)
    for (NodeId id = sequence.node; id.valid() && !on_finished_text[id]; id = tree[id].parent)
      on_finished_text[id] = true;
  std::unordered_set<std::int32_t> decided;
  for (const capture::VerdictRow& row : decision.verdicts) decided.insert(row.node);
  std::vector<capture::VerdictRow> rows_out;
  for (const NodeId id : dead) {
    if (tree[id].is_probe() || on_finished_text[id] || decided.contains(id.value)) continue;
    rows_out.push_back({.tick = tick,
                        .node = id.value,
                        .verdict = capture::Verdict::kPruned,
                        .score = tree[id].score,
                        .reason = capture::Reason::kNoLiveText});
  }
  out.verdicts(rows_out);
}

void Session::Impl::observe() {
  if (parts.drafter) parts.drafter->observe(view());
  if (step == 0) runner->forget_prefill_features();
  emitted_tokens += static_cast<std::int64_t>(decision.emitted.size());
  ++steps_done;
  if (step == 0) prefill_tokens = emitted_tokens;
  if (step > 0) {
    const auto accepted = static_cast<std::size_t>(decision.accepted);
    if (accepted >= accepted_histogram.size()) accepted_histogram.resize(accepted + 1, 0);
    ++accepted_histogram[accepted];
    if (method.kind == capture::RunKind::kBeams && parts.drafter && !decision.emitted.empty()) {
      const std::size_t gained = decision.emitted.size() - 1;
      if (gained >= levels_histogram.size()) levels_histogram.resize(gained + 1, 0);
      ++levels_histogram[gained];
    }
  }
  frontier = std::exchange(decision.frontier, {});
  path.clear();
  out.step({.step = step,
            .forward_rows = forward_row_count,
            .drafted = decision.drafted,
            .accepted = decision.accepted,
            .emitted = static_cast<std::int32_t>(decision.emitted.size()),
            .frontier = static_cast<std::int32_t>(frontier.size())});
}

std::int32_t Session::Impl::text_tokens() const {
  return tree.prompt_tokens() + text_depth - runner->horizon();
}

void Session::Impl::end(RunStatus how, const std::string& message) {
  status = how;
  const auto tick = capture::make_tick(step, phase);
  // A run that was ended early does not wait for memory again.
  if (how != RunStatus::kDone) out.wait_for_memory({});
  try {
    const auto returned = sequences();
    for (std::size_t i = 0; i < returned.size(); ++i)
      out.sequence(tree, returned[i], static_cast<std::int32_t>(i), returned[i].finish, tick);
    out.finish(how, message);
  } catch (const std::exception&) {
    done = true;
    // A failing recorder must not hide why the run ended; a run that went well reports it.
    if (how == RunStatus::kDone) throw;
  }
  done = true;
}

Phase Session::advance() { return impl_->advance(); }

void Session::step() {
  if (done()) return;
  do advance();
  while (!done() && impl_->phase != Phase::kDraft);
}

void Session::run() {
  while (!done()) advance();
}

bool Session::done() const { return impl_->done; }

capture::Tick Session::next_tick() const { return capture::make_tick(impl_->step, impl_->phase); }

void Session::request_stop() { impl_->stop.request_stop(); }

}  // namespace triescope
