// Synthetic runs that look like real ones, for pictures: a trie beam search (branches, prunes,
// finished beams, compaction) and a run with drafts (accepted, rejected, bonus). Torch-free; the
// same arguments give the same run.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/capture/capture.h"
#include "core/capture/writer.h"

namespace triescope::test {

using namespace triescope::capture;

inline const std::vector<std::string>& synthetic_pieces() {
  static const std::vector<std::string> pieces = {"The",
                                                  " capital",
                                                  " of",
                                                  " France",
                                                  " is",
                                                  " Paris",
                                                  ",",
                                                  " a",
                                                  " city",
                                                  " on",
                                                  " the",
                                                  " Seine",
                                                  ".",
                                                  "\n",
                                                  " It",
                                                  " has",
                                                  " been",
                                                  " its",
                                                  " largest",
                                                  " since",
                                                  " 1",
                                                  "9",
                                                  "5",
                                                  " river",
                                                  " and",
                                                  " known",
                                                  " for",
                                                  " art",
                                                  " fashion",
                                                  " food",
                                                  " culture",
                                                  " museum",
                                                  "s",
                                                  " Lou",
                                                  "vre",
                                                  " unbelievably",
                                                  " internationalization",
                                                  "\xE2\x82",
                                                  "\xAC",
                                                  " é",
                                                  " 東京",
                                                  "\t",
                                                  " <b>&\"",
                                                  " I",
                                                  " am",
                                                  "<|im_end|>"};
  return pieces;
}

inline RunInfo synthetic_info(int prompt_tokens, const std::string& method,
                              const std::string& title, const std::string& policy) {
  RunInfo info;
  info.created_utc = "2026-01-02T03:04:05Z";
  info.model_json =
      R"({"name":"SmolLM2-135M-Instruct","path":"m.gguf","family":"llama","dtype":"fp32","device":"cpu","layers":30,"kv_heads":3,"head_dim":64,"vocab_size":49152,"context":8192,"parameters":134515008,"sliding_window":0})";
  info.method = method;
  info.method_title = title;
  const bool beams = method == "beam" || method == "batch_beam";
  if (beams) info.kind = RunKind::kBeams, info.width = 3;
  if (method != "greedy" && method != "sample" && !beams) info.kind = RunKind::kDrafts;
  info.settings_json = method == "beam"
                           ? R"({"num_beams":3,"length_penalty":1.0,"kv":"compact","gc_every":8})"
                           : R"({"ngram":3,"num_draft":8})";
  info.seed = 7;
  info.versions_json = R"({"triescope":"0.1.0","libtorch":"2.11.0"})";
  info.max_new_tokens = 64;
  info.kv_bytes_per_token = 46080;
  info.kv_policy = policy;
  for (int i = 0; i < prompt_tokens; ++i) info.prompt_tokens.push_back(i % 12 == 11 ? 13 : i % 13);
  info.prompt_text = "The capital of France is Paris";
  return info;
}

inline DrafterRow synthetic_drafter() {
  return {.name = "n-gram trie", .title = "N-gram trie", .kind = DrafterKind::kText};
}

// The part that both runs share: nodes, slots, ticks.
class SyntheticRun {
 public:
  SyntheticRun(Recorder& recorder, RunInfo info, std::uint64_t seed)
      : rng_(seed), out_(recorder), info_(std::move(info)) {
    out_.write({.run = info_});
    if (info_.kind == RunKind::kDrafts) out_.write({.drafters = {synthetic_drafter()}});
    const auto& pieces = synthetic_pieces();
    for (std::size_t i = 0; i < pieces.size(); ++i)
      out_.write({.pieces = {{static_cast<std::int32_t>(i), pieces[i]}}});
    nodes_.push_back({.logprob = 0, .score = 0});
    slot_of_.push_back(-1);
  }

  int prompt() const { return static_cast<int>(info_.prompt_tokens.size()); }
  std::int32_t add(std::int32_t parent, std::int32_t token, float logprob, Source source, Tick tick,
                   float q = 1) {
    NodeRow row{.node = static_cast<std::int32_t>(nodes_.size()), .parent = parent};
    const NodeRow& above = nodes_[static_cast<std::size_t>(parent)];
    row.token = token;
    row.depth = above.depth + 1;
    const bool known = !is_drafted(source);
    row.logprob = known ? logprob : std::numeric_limits<float>::quiet_NaN();
    row.score = known ? above.score + logprob : row.logprob;
    row.q = q;
    row.source = source;
    row.tick = tick;
    row.drafter = is_drafted(source) ? 0 : -1;
    nodes_.push_back(row);
    slot_of_.push_back(-1);
    fresh_.push_back(row);
    return row.node;
  }
  void hang() {
    if (!fresh_.empty()) out_.write({.nodes = fresh_});
    fresh_.clear();
  }
  void know(std::int32_t node, float logprob, Tick tick) {
    NodeRow& row = nodes_[static_cast<std::size_t>(node)];
    row.logprob = logprob;
    row.score = nodes_[static_cast<std::size_t>(row.parent)].score + logprob;
    out_.write({.node_scores = {
                    {.node = node, .logprob = row.logprob, .score = row.score, .tick = tick}}});
  }
  void phase(int step, Phase phase, std::int64_t us) {
    out_.write(
        {.phases = {{.tick = make_tick(step, phase), .start_us = clock_, .duration_us = us}}});
    clock_ += us;
  }
  void prefill() {
    out_.write({.nodes = {nodes_[0]}});
    phase(0, Phase::kDraft, 2);
    const Tick tick = make_tick(0, Phase::kForward);
    std::vector<SlotRow> slots;
    std::vector<InputRow> inputs;
    for (int i = 0; i < prompt(); ++i) {
      slots.push_back({.tick = tick, .action = SlotAction::kAlloc, .slot = i, .node = -2 - i});
      inputs.push_back({.row = i, .node = -2 - i, .position = i, .slot = i, .naive_position = i});
    }
    next_slot_ = prompt();
    out_.write({.slots = slots});
    out_.write({.inputs = inputs});
    phase(0, Phase::kForward, 410000);
  }
  void forward(int step, const std::vector<std::int32_t>& rows, std::int64_t us) {
    const Tick tick = make_tick(step, Phase::kForward);
    std::vector<SlotRow> slots;
    std::vector<InputRow> inputs;
    const int before = held();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int32_t node = rows[i];
      SlotRow row{.tick = tick, .action = SlotAction::kAlloc, .slot = next_slot_, .node = node};
      if (!free_.empty()) {
        row.action = SlotAction::kReuse;
        row.slot = free_.back();
        free_.pop_back();
      } else {
        ++next_slot_;
      }
      slot_of_[static_cast<std::size_t>(node)] = row.slot;
      slots.push_back(row);
      inputs.push_back({.step = step,
                        .row = static_cast<std::int32_t>(i),
                        .node = node,
                        .position = prompt() + nodes_[static_cast<std::size_t>(node)].depth - 1,
                        .slot = row.slot,
                        .naive_position = before + static_cast<std::int32_t>(i)});
    }
    out_.write({.slots = slots});
    out_.write({.inputs = inputs});
    phase(step, Phase::kForward, us);
  }
  int held() const { return next_slot_ - static_cast<int>(free_.size()); }
  // Nodes with a slot that are not on a path to one of `live`.
  std::vector<std::int32_t> dead(const std::vector<std::int32_t>& live) const {
    std::vector<bool> keep(nodes_.size(), false);
    for (std::int32_t node : live)
      for (; node > 0 && !keep[static_cast<std::size_t>(node)];
           node = nodes_[static_cast<std::size_t>(node)].parent)
        keep[static_cast<std::size_t>(node)] = true;
    std::vector<std::int32_t> out;
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      if (slot_of_[i] >= 0 && !keep[i]) out.push_back(static_cast<std::int32_t>(i));
    return out;
  }
  // compact: keeps garbage until `collect`, then moves survivors together. Otherwise frees slots at
  // once.
  void commit(int step, const std::vector<std::int32_t>& live, bool compact, bool collect,
              int greedy, int beams) {
    const Tick tick = make_tick(step, Phase::kCommit);
    std::vector<SlotRow> rows;
    std::int64_t moved = 0;
    const auto gone = dead(live);
    for (const std::int32_t node : gone) {
      std::int32_t& slot = slot_of_[static_cast<std::size_t>(node)];
      if (compact && !collect) {
        if (!garbage_[node]) {
          rows.push_back(
              {.tick = tick, .action = SlotAction::kGarbage, .slot = slot, .node = node});
          garbage_[node] = true;
        }
        continue;
      }
      rows.push_back({.tick = tick, .action = SlotAction::kFree, .slot = slot, .node = node});
      if (!compact) free_.push_back(slot);
      slot = -1;
      garbage_.erase(node);
    }
    if (compact && collect) {
      std::map<std::int32_t, std::int32_t> by_slot;
      for (std::size_t i = 1; i < nodes_.size(); ++i)
        if (slot_of_[i] >= 0) by_slot[slot_of_[i]] = static_cast<std::int32_t>(i);
      std::int32_t to = prompt();
      for (const auto& [from, node] : by_slot) {
        if (from != to) {
          rows.push_back({.tick = tick,
                          .action = SlotAction::kMove,
                          .slot = to,
                          .node = node,
                          .from_slot = from});
          slot_of_[static_cast<std::size_t>(node)] = to;
          ++moved;
        }
        ++to;
      }
      for (std::int32_t slot = to; slot < next_slot_; ++slot)
        rows.push_back({.tick = tick, .action = SlotAction::kFree, .slot = slot, .node = -1});
      next_slot_ = to;
    }
    if (!rows.empty()) out_.write({.slots = rows});
    const int garbage = static_cast<int>(garbage_.size());
    reserved_ = std::max(reserved_, (next_slot_ + 63) / 64 * 64);
    out_.write({.memory = {{.step = step,
                            .live = held() - garbage,
                            .garbage = garbage,
                            .reserved = reserved_,
                            .greedy = greedy,
                            .batch_beam = beams * greedy,
                            .moved_bytes = moved * info_.kv_bytes_per_token}}});
    phase(step, Phase::kCommit, 40 + 3 * static_cast<std::int64_t>(rows.size()));
  }

  Rng rng_;
  Recorder& out_;
  std::vector<NodeRow> nodes_;

 private:
  RunInfo info_;
  std::vector<NodeRow> fresh_;
  std::vector<std::int32_t> slot_of_, free_;
  std::map<std::int32_t, bool> garbage_;
  std::int32_t next_slot_ = 0;
  int reserved_ = 0;
  std::int64_t clock_ = 0;
};

inline void record_beam(Recorder& recorder, int steps, int beams, int prompt = 34,
                        bool compact = true) {
  SyntheticRun run(
      recorder, synthetic_info(prompt, "beam", "Trie beam search", compact ? "compact" : "recycle"),
      5);
  struct Beam {
    std::int32_t node;
    float score;
  };
  const auto vocabulary = static_cast<std::int32_t>(synthetic_pieces().size());
  std::vector<Beam> live = {{0, 0}};
  for (int step = 0; step < steps; ++step) {
    const Tick accept = make_tick(step, Phase::kAccept);
    std::vector<std::int32_t> rows;
    if (step == 0) {
      run.prefill();
    } else {
      run.phase(step, Phase::kDraft, 3);
      for (const Beam& beam : live) rows.push_back(beam.node);
      run.forward(step, rows, 52000 + static_cast<std::int64_t>(run.rng_.next() % 9000));
    }
    struct Option {
      std::int32_t parent, token;
      float logprob, score;
    };
    std::vector<Option> options;
    std::vector<CandidateRow> candidates;
    for (const Beam& beam : live) {
      float left = 1;
      for (int rank = 0; rank < 6; ++rank) {
        const float p =
            left * (rank == 0 ? 0.35f + 0.5f * static_cast<float>(run.rng_.uniform()) : 0.45f);
        left -= p;
        const auto token =
            static_cast<std::int32_t>((run.rng_.next() % 7 * 6 + static_cast<unsigned>(rank)) %
                                      static_cast<unsigned>(vocabulary - 1));
        options.push_back({beam.node, token, std::log(p), beam.score + std::log(p)});
        candidates.push_back({.tick = accept,
                              .node = beam.node,
                              .rank = rank,
                              .token = token,
                              .logprob = std::log(p)});
      }
    }
    std::sort(options.begin(), options.end(),
              [](const Option& a, const Option& b) { return a.score > b.score; });
    const auto width = static_cast<std::size_t>(beams);
    std::vector<VerdictRow> verdicts;
    std::vector<FrontierRow> frontier;
    std::vector<Beam> next;
    for (std::size_t i = 0; i < options.size() && i < width; ++i) {
      const Option& option = options[i];
      const std::int32_t node =
          run.add(option.parent, option.token, option.logprob, Source::kBeam, accept);
      next.push_back({node, option.score});
      verdicts.push_back({.tick = accept,
                          .node = node,
                          .verdict = Verdict::kKept,
                          .p = std::exp(option.logprob),
                          .rank = static_cast<std::int32_t>(i),
                          .score = option.score,
                          .gap = option.score - options[width].score,
                          .reason = Reason::kBeamKept,
                          .threshold = options[width].score,
                          .count = beams});
      frontier.push_back({.step = step,
                          .rank = static_cast<std::int32_t>(i),
                          .node = node,
                          .score = option.score});
      for (CandidateRow& row : candidates)
        if (row.node == option.parent && row.token == option.token) row.chosen = true;
    }
    for (const Beam& beam : live) {
      if (beam.node == 0 || std::any_of(next.begin(), next.end(), [&](const Beam& b) {
            return run.nodes_[static_cast<std::size_t>(b.node)].parent == beam.node;
          }))
        continue;
      verdicts.push_back({.tick = accept,
                          .node = beam.node,
                          .verdict = Verdict::kPruned,
                          .rank = -1,
                          .score = beam.score,
                          .gap = 0.2f + static_cast<float>(run.rng_.uniform()),
                          .reason = Reason::kNoneLeftAtMaxTokens,
                          .count = beams});
    }
    run.hang();
    recorder.write({.verdicts = verdicts});
    recorder.write({.candidates = candidates});
    recorder.write({.frontier = frontier});
    if (step > 4 && step % 9 == 0) {
      recorder.write({.sequences = {{.tick = accept,
                                     .node = next.back().node,
                                     .rank = -1,
                                     .score = next.back().score / static_cast<float>(step),
                                     .finish = "eos",
                                     .tokens = {1, 2, 45}}}});
      recorder.write(
          {.log = {{.tick = accept, .level = 1, .text = "a beam finished with <|im_end|>"}}});
    }
    live = next;
    run.phase(step, Phase::kAccept, 900);
    std::vector<std::int32_t> alive;
    for (const Beam& beam : live) alive.push_back(beam.node);
    run.commit(step, alive, compact, step % 8 == 7, run.prompt() + step, beams);
    recorder.write({.steps = {{.step = step,
                               .forward_rows = step == 0 ? run.prompt()
                                                         : static_cast<std::int32_t>(rows.size()),
                               .emitted = 1,
                               .frontier = static_cast<std::int32_t>(live.size())}}});
    if (step == steps - 1)
      for (std::size_t i = 0; i < live.size(); ++i)
        recorder.write({.sequences = {{.tick = make_tick(step, Phase::kObserve),
                                       .node = live[i].node,
                                       .rank = static_cast<std::int32_t>(i),
                                       .score = live[i].score / static_cast<float>(steps),
                                       .finish = "length",
                                       .tokens = {1, 2, 3}}}});
    run.phase(step, Phase::kObserve, 12);
  }
  recorder.write(
      {.log = {{.tick = make_tick(steps - 1, Phase::kObserve),
                .level = 2,
                .text = "max_new_tokens reached: the live beams finish together, and this line is "
                        "long enough to need a second one in a small pane"}}});
  recorder.write({.finish = Finish{RunStatus::kDone, "all beams finished"}});
}

// `rivals`: more drafts beside those, none of which comes true, as in Lookahead's window.
inline void record_drafts(Recorder& recorder, int steps, int prompt = 48, bool stochastic = true,
                          int rivals = 0) {
  SyntheticRun run(recorder,
                   synthetic_info(prompt, "ngram_trie", "N-gram trie speculation", "recycle"), 9);
  const auto vocabulary = static_cast<std::uint64_t>(synthetic_pieces().size() - 1);
  const auto token = [&] { return static_cast<std::int32_t>(run.rng_.next() % vocabulary); };
  std::int32_t head = 0;
  for (int step = 0; step < steps; ++step) {
    const Tick accept = make_tick(step, Phase::kAccept);
    std::vector<VerdictRow> verdicts;
    std::vector<CandidateRow> candidates;
    std::vector<std::int32_t> drafts;
    int accepted = 0;
    if (step == 0) {
      run.prefill();
    } else {
      const Tick tick = make_tick(step, Phase::kDraft);
      // A chain of up to four, with a sibling here and there.
      const int length = step % 7 == 3 ? 0 : 1 + static_cast<int>(run.rng_.next() % 4);
      std::int32_t tip = head;
      std::vector<std::int32_t> chain, siblings;
      for (int i = 0; i < length; ++i) {
        const std::int32_t parent = tip;
        tip = run.add(parent, token(), 0, Source::kDraft, tick, stochastic ? 0.6f : 1.0f);
        chain.push_back(tip);
        if (i < 2 && run.rng_.next() % 2 == 0)
          siblings.push_back(run.add(parent, token(), 0, Source::kDraft, tick, 0.2f));
      }
      for (int i = 0; i < rivals; ++i)
        siblings.push_back(run.add(i % 4 == 0 ? head : siblings.back(), token(), 0, Source::kDraft,
                                   tick, stochastic ? 0.2f : 1.0f));
      run.hang();
      run.phase(step, Phase::kDraft, 180);
      std::vector<std::int32_t> rows = {head};
      for (std::size_t i = 1; i < run.nodes_.size(); ++i)
        if (run.nodes_[i].tick == tick) rows.push_back(static_cast<std::int32_t>(i));
      drafts.assign(rows.begin() + 1, rows.end());
      run.forward(step, rows, 48000 + 2500 * static_cast<std::int64_t>(rows.size()));
      bool ok = true;
      for (const std::int32_t node : chain) {
        const float p = 0.15f + 0.8f * static_cast<float>(run.rng_.uniform());
        run.know(node, std::log(p), accept);
        ok = ok && p > 0.3f;
        accepted += ok;
        verdicts.push_back({.tick = accept,
                            .node = node,
                            .verdict = ok ? Verdict::kAccepted : Verdict::kRejected,
                            .p = p,
                            .q = stochastic ? 0.6f : -1.0f,
                            .u = stochastic ? 0.9f * p : -1.0f,
                            .rank = ok ? 0 : 3,
                            .replacement = ok ? -1 : token(),
                            .reason = ok ? Reason::kBelowRatio : Reason::kNotArgmax,
                            .value = 0.41f,
                            .threshold = 0.84f});
        if (ok) head = node;
      }
      for (const std::int32_t node : siblings) {
        run.know(node, -2.5f, accept);
        verdicts.push_back({.tick = accept,
                            .node = node,
                            .verdict = Verdict::kRejected,
                            .p = 0.08f,
                            .q = 0.2f,
                            .u = 0.93f,
                            .reason = Reason::kNotReached});
      }
    }
    const std::int32_t last = head;
    float left = 1;
    const std::int32_t next = token();
    const bool corrected =
        step > 0 && accepted < static_cast<int>(drafts.size()) && !drafts.empty();
    for (int rank = 0; rank < 8; ++rank) {
      const float p = left * (rank == 0 ? 0.62f : 0.4f);
      left -= p;
      candidates.push_back({.tick = accept,
                            .node = last,
                            .rank = rank,
                            .token = rank == 0 ? next : token(),
                            .logprob = std::log(p),
                            .chosen = rank == 0});
    }
    const Source source = step == 0   ? Source::kGreedy
                          : corrected ? Source::kCorrected
                                      : Source::kBonus;
    head = run.add(last, next, std::log(0.62f), source, accept);
    run.hang();
    verdicts.push_back({.tick = accept,
                        .node = head,
                        .verdict = step == 0   ? Verdict::kEmitted
                                   : corrected ? Verdict::kCorrected
                                               : Verdict::kBonus,
                        .p = 0.62f,
                        .reason = Reason::kArgmax});
    recorder.write({.verdicts = verdicts});
    recorder.write({.candidates = candidates});
    recorder.write({.frontier = {{.step = step,
                                  .node = head,
                                  .score = run.nodes_[static_cast<std::size_t>(head)].score}}});
    run.phase(step, Phase::kAccept, 700);
    run.commit(step, {head}, false, false,
               run.prompt() + run.nodes_[static_cast<std::size_t>(head)].depth - 1, 1);
    recorder.write(
        {.steps = {{.step = step,
                    .forward_rows =
                        step == 0 ? run.prompt() : static_cast<std::int32_t>(drafts.size()) + 1,
                    .drafted = static_cast<std::int32_t>(drafts.size()),
                    .accepted = accepted,
                    .emitted = accepted + 1,
                    .frontier = 1}}});
    if (step == steps - 1)
      recorder.write({.sequences = {{.tick = make_tick(step, Phase::kObserve),
                                     .node = head,
                                     .rank = 0,
                                     .score = std::numeric_limits<float>::quiet_NaN(),
                                     .finish = "length",
                                     .tokens = {1, 2, 3}}}});
    run.phase(step, Phase::kObserve, 30);
  }
  recorder.write({.finish = Finish{RunStatus::kDone, ""}});
}

}  // namespace triescope::test
