// The life of a step. advance() runs one phase:
//
//   draft    the drafter hangs pending nodes below the frontier
//   forward  one forward over all pending nodes; their KV goes to the slots the policy names
//   accept   the acceptor reads the rows, decides, and names the next frontier
//   commit   what no live path needs any more is given to the KV policy
//   observe  the drafter sees what happened; the step's figures are written
//
// Step 0 is prefill: its forward runs over the prompt and gives one row, the root's.
#include "core/decode/session.h"

#include <cmath>
#include <new>

#include "core/base/error.h"
#include "core/decode/session_impl.h"

namespace triescope {

using capture::Phase;
using capture::RunStatus;
using Clock = std::chrono::steady_clock;

namespace {

double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

float log_softmax_at(std::span<const float> logits, std::int32_t token) {
  const float best = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float x : logits) sum += std::exp(x - best);
  return (logits[static_cast<std::size_t>(token)] - best) - static_cast<float>(std::log(sum));
}

}  // namespace

Phase Session::Impl::advance() {
  if (done)
    throw Error(ErrorCode::kInvalidArgument,
                "session: expected a run that goes on, found one that is over; start a new one");
  const Phase now = phase;
  const auto start = Clock::now();
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
    const auto stopped = Clock::now();
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
  drafts.clear();
  if (step > 0 && parts.drafter) {
    // The token after the last draft is the target's own, and must fit too.
    int room = run.max_new_tokens - tree[frontier.front()].depth - 1;
    // Rows on both sides of the length where all KV changes cannot share a forward.
    const int limit = model.info().kv_valid_until;
    if (const int end = tree.position(frontier.front()) + 1; limit > 0 && end <= limit)
      room = std::min(room, limit - end);
    DraftContext context{tree, frontier, method_run, rng, std::max(room, 0), stop.get_token()};
    drafts = parts.drafter->draft(context);
    liveness.hang(tree, drafts);
  }
  out.new_nodes(tree, capture::make_tick(step, Phase::kDraft));
}

void Session::Impl::forward() {
  if (step == 0) {
    prefill();
  } else {
    forward_rows();
  }
  ++target_forwards;
  for (const NodeId id : frontier) text_depth = std::max(text_depth, tree[id].depth);
  if (const auto tick = capture::make_tick(step, Phase::kForward);
      out.records(capture::Level::kFull))
    out.slots(store->take_events(), tick);
  note_memory_peak();
}

// The prompt, and below it the path of a branch, in causal order; the last row's logits alone.
void Session::Impl::prefill() {
  std::vector<std::int32_t> tokens(run.prompt.begin(), run.prompt.end());
  for (const NodeId id : path) tokens.push_back(tree[id].token.value);
  const std::vector<std::int32_t> slots = kv->place_prefix(tree, path);
  const std::size_t total = tokens.size();
  std::vector<std::int32_t> positions(total);
  for (std::size_t i = 0; i < total; ++i) positions[i] = static_cast<std::int32_t>(i);
  forward_row_count = static_cast<std::int32_t>(total);

  const ModelInfo& info = model.info();
  outgrown = info.kv_valid_until > 0 && total > static_cast<std::size_t>(info.kv_valid_until);
  const std::size_t text_length = outgrown ? total : run.prompt.size();

  // The forced token's own log-prob stands in the row before it.
  const bool forced = !path.empty() && std::isnan(tree[path.back()].logprob);
  for (std::size_t start = 0; start < total; start += kPrefillChunk) {
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "stopped");
    const std::size_t count = std::min(kPrefillChunk, total - start);
    std::vector<std::int32_t> wanted;
    for (std::size_t i = start; i < start + count; ++i)
      if (i + 1 == total || (forced && i + 2 == total))
        wanted.push_back(static_cast<std::int32_t>(i - start));
    const ForwardBatch batch{.tokens = std::span(tokens).subspan(start, count),
                             .positions = std::span(positions).subspan(start, count),
                             .slots = std::span(slots).subspan(start, count),
                             .prefix_slots = std::span(slots).first(start),
                             .own_slots = {},
                             .own_offsets = {},
                             .logit_rows = wanted,
                             .text_length = static_cast<std::int32_t>(text_length)};
    output = model.forward(batch, store->storage(), stop.get_token());
    if (forced && start + count >= total - 1 && start <= total - 2) {
      Node& node = tree[path.back()];
      node.logprob = log_softmax_at(output.row(0), node.token.value);
      node.score = tree[node.parent].score + node.logprob;
    }
    output_offset = static_cast<int>(wanted.size()) - 1;
    if (progress)
      progress("prefill", static_cast<double>(start + count), static_cast<double>(total));
  }

  rows = frontier;
  if (!out.records(capture::Level::kFull)) return;
  std::vector<capture::InputRow> inputs;
  for (std::size_t i = 0; i < total; ++i) {
    const auto at = static_cast<std::int32_t>(i);
    const bool of_prompt = i < run.prompt.size();
    inputs.push_back({.step = 0,
                      .row = at,
                      .node = of_prompt ? prompt_occupant(at) : path[i - run.prompt.size()].value,
                      .position = at,
                      .slot = slots[i],
                      .naive_position = at});
  }
  out.inputs(inputs);
  const NodeId last[] = {path.empty() ? TokenTree::root() : path.back()};
  out.new_scores(tree, last, capture::make_tick(0, Phase::kForward));
}

void Session::Impl::forward_rows() {
  rows = frontier;
  rows.insert(rows.end(), drafts.begin(), drafts.end());
  const std::int32_t cached = store->live() + store->garbage();
  const Placement placed = kv->place(tree, rows);

  std::vector<std::int32_t> tokens, positions, wanted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    tokens.push_back(tree[rows[i]].token.value);
    positions.push_back(tree.position(rows[i]));
    wanted.push_back(static_cast<std::int32_t>(i));
  }
  forward_row_count = static_cast<std::int32_t>(rows.size());
  const int limit = model.info().kv_valid_until;
  if (limit > 0 && !outgrown && *std::ranges::max_element(positions) >= limit) {
    outgrown = true;
    remake_kv(placed);
  }
  output = model.forward({.tokens = tokens,
                          .positions = positions,
                          .slots = placed.slots,
                          .prefix_slots = placed.prefix_slots,
                          .own_slots = placed.own_slots,
                          .own_offsets = placed.own_offsets,
                          .logit_rows = wanted,
                          .text_length = outgrown ? limit + 1 : 0},
                         store->storage(), stop.get_token());
  output_offset = 0;

  if (!out.records(capture::Level::kFull)) return;
  std::vector<capture::InputRow> inputs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<std::int32_t>(i);
    // With a cache of its own, a beam's sequential position is its tree position.
    const std::int32_t naive = kv_kind == KvPolicyKind::kBatch ? positions[i] : cached + at;
    inputs.push_back({.step = step,
                      .row = at,
                      .node = rows[i].value,
                      .position = positions[i],
                      .slot = placed.slots[i],
                      .naive_position = naive});
  }
  out.inputs(inputs);
}

void Session::Impl::accept() {
  AcceptContext context{
      .tree = tree,
      .rows = rows,
      .logits = [this](int row) { return output.row(output_offset + row); },
      .frontier = frontier,
      .run = method_run,
      .rng = rng,
      .step = step,
  };
  decision = parts.acceptor->accept(context);
  for (const NodeId id : path)
    decision.verdicts.push_back({.node = id.value,
                                 .verdict = capture::Verdict::kEmitted,
                                 .score = tree[id].score,
                                 .reason = tree[id].source == capture::Source::kForced
                                               ? capture::Reason::kForced
                                               : capture::Reason::kBranched});

  const auto tick = capture::make_tick(step, Phase::kAccept);
  out.new_nodes(tree, tick);
  out.new_scores(tree, rows, tick);
  out.decision(decision, tick);
  out.frontier(tree, decision.frontier, step);
  for (const FinishedSequence& sequence : decision.finished)
    out.sequence(tree, sequence, -1, sequence.finish, tick);
}

void Session::Impl::commit() {
  for (const FinishedSequence& sequence : decision.finished)
    tree[sequence.node].status = NodeStatus::kFinished;

  // What plain decoding would hold: everything but the newest token, whose KV the next forward
  // makes.
  for (const NodeId id : decision.frontier) text_depth = std::max(text_depth, tree[id].depth - 1);
  for (const FinishedSequence& sequence : decision.finished)
    text_depth = std::max(text_depth, tree[sequence.node].depth - 1);

  const std::vector<NodeId>& decided = step == 0 ? path : rows;
  const std::vector<NodeId> dead = liveness.settle(tree, decided, decision.frontier);
  horizon = horizon_of(decision.frontier);
  kv->commit(tree, {.rows = decided,
                    .dead = dead,
                    .frontier = decision.frontier,
                    .step = step,
                    .horizon = horizon});

  const auto tick = capture::make_tick(step, Phase::kCommit);
  note_deaths(dead, tick);
  if (out.records(capture::Level::kFull)) out.slots(store->take_events(), tick);
  note_memory_peak();
  if (out.records(capture::Level::kSteps)) {
    const DeviceMemory device = model.device_memory();
    out.memory({.step = step,
                .live = store->live(),
                .garbage = store->garbage(),
                .reserved = store->reserved(),
                .greedy = text_tokens(),
                .batch_beam = text_tokens() * beams,
                .moved_bytes = (store->moved() - moved_before) * store->bytes_per_slot(),
                .device_allocated_bytes = device.allocated_bytes,
                .device_reserved_bytes = device.reserved_bytes});
  }
  moved_before = store->moved();
}

// A node that dies because all beams below it are gone had no verdict of its own in this step.
// Drafts did; and what lies on a finished text is not pruned, though its KV is free.
void Session::Impl::note_deaths(std::span<const NodeId> dead, capture::Tick tick) {
  if (!out.records(capture::Level::kTree)) return;
  on_finished_text.resize(static_cast<std::size_t>(tree.size()), false);
  for (const FinishedSequence& sequence : decision.finished)
    for (NodeId id = sequence.node; id.valid(); id = tree[id].parent) {
      auto&& known = on_finished_text[static_cast<std::size_t>(id.value)];
      if (known) break;
      known = true;
    }
  std::vector<capture::VerdictRow> rows_out;
  for (const NodeId id : dead) {
    if (capture::is_draft(tree[id].source) || on_finished_text[static_cast<std::size_t>(id.value)])
      continue;
    const bool decided = std::ranges::any_of(
        decision.verdicts, [&](const capture::VerdictRow& row) { return row.node == id.value; });
    if (decided) continue;
    rows_out.push_back({.tick = tick,
                        .node = id.value,
                        .verdict = capture::Verdict::kPruned,
                        .score = tree[id].score,
                        .reason = capture::Reason::kNoLiveText});
  }
  out.verdicts(rows_out);
}

void Session::Impl::observe() {
  if (parts.drafter) parts.drafter->observe(decision.emitted);
  emitted_tokens += static_cast<std::int64_t>(decision.emitted.size());
  ++steps_done;
  if (step > 0) {
    const auto accepted = static_cast<std::size_t>(decision.accepted);
    if (accepted >= accepted_histogram.size()) accepted_histogram.resize(accepted + 1, 0);
    ++accepted_histogram[accepted];
  }
  frontier = std::move(decision.frontier);
  decision.frontier.clear();
  path.clear();
  out.step({.step = step,
            .forward_rows = forward_row_count,
            .drafted = decision.drafted,
            .accepted = decision.accepted,
            .emitted = static_cast<std::int32_t>(decision.emitted.size()),
            .frontier = static_cast<std::int32_t>(frontier.size())});
}

std::int32_t Session::Impl::text_tokens() const {
  return tree.prompt_tokens() + text_depth - horizon;
}

void Session::Impl::note_memory_peak() {
  peak_live = std::max(peak_live, store->live());
  peak_garbage = std::max(peak_garbage, store->garbage());
  peak_reserved = std::max(peak_reserved, store->reserved());
  peak_text = std::max(peak_text, text_tokens());
}

void Session::Impl::end(RunStatus how, const std::string& message) {
  done = true;
  status = how;
  const auto tick = capture::make_tick(step, phase);
  try {
    const auto returned = sequences();
    for (std::size_t i = 0; i < returned.size(); ++i)
      out.sequence(tree, returned[i], static_cast<std::int32_t>(i), returned[i].finish, tick);
    out.finish(how, message);
  } catch (const std::exception&) {
    // A failing recorder must not hide why the run ended; a run that went well reports it.
    if (how == RunStatus::kDone) throw;
  }
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
