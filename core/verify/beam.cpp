#include "core/verify/beam.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/kernels/row_ops.h"
#include "core/verify/beam_candidates.h"

namespace triescope {

using capture::Reason;
using capture::Source;
using capture::Verdict;

BeamAcceptor::BeamAcceptor(const RunContext& run)
    : processors_(run),
      num_beams_(static_cast<std::size_t>(run.settings.integer(kNumBeams))),
      num_return_sequences_(static_cast<std::size_t>(run.settings.integer("num_return_sequences"))),
      prune_relative_(run.settings.number("prune_relative")),
      prune_absolute_(run.settings.number("prune_absolute")),
      prune_relative_local_(run.settings.number("prune_relative_local")),
      candidates_(static_cast<std::size_t>(run.settings.integer("candidates"))),
      end_tokens_(run.eos_token_ids.size()),
      // One beam is greedy decoding: the first finished sequence ends it.
      pool_(static_cast<int>(num_beams_), run.settings.number("length_penalty"),
            num_beams_ == 1 ? EarlyStopping::kTrue
                            : early_stopping_from_string(run.settings.text("early_stopping")),
            run.max_new_tokens) {
  if (num_return_sequences_ > num_beams_)
    throw Error(ErrorCode::kInvalidArgument, "num_return_sequences: expected at most num_beams (" +
                                                 std::to_string(num_beams_) + "); found " +
                                                 std::to_string(num_return_sequences_));
}

std::size_t BeamAcceptor::wanted() const {
  return std::max<std::size_t>(2, 1 + end_tokens_) * num_beams_;
}

// Some more than wanted, so that ties at the end of the list seldom need the rest of the row.
int BeamAcceptor::best_tokens() const {
  constexpr int kMore = 8;
  const auto looked_at = static_cast<int>(std::max(wanted(), candidates_));
  if (processors_.any() || looked_at >= kMostBestTokens) return 0;
  return std::min(looked_at + kMore, kMostBestTokens);
}

BeamAcceptor::Expansion BeamAcceptor::expand(const StepView& view) const {
  Expansion out;
  const TokenTree& tree = view.tree;
  CandidateHeap heap(wanted());
  std::vector<float> logprobs;
  const auto score = [&](NodeId node) {
    logprobs.resize(static_cast<std::size_t>(view.run.vocab_size));
    beam_logprobs(view, view.row_of(node), processors_, num_beams_ == 1, logprobs);
  };
  for (const NodeId node : live_) {
    const auto beam = static_cast<std::int32_t>(out.beams.size());
    const float beam_score = tree[node].score;
    BestLogprobs best;
    if (!processors_.any()) best = best_logprobs(view.logits(view.row_of(node)));
    if (best.tokens.empty() || !best.settles(candidates_ + 1) ||
        !heap.add_best(beam, beam_score, best)) {
      score(node);
      heap.add_row(beam, beam_score, logprobs);
      best.tokens = kernels::top_k(logprobs, std::max<std::size_t>(candidates_, 1));
    }
    out.beams.push_back(node);
    out.best_of_beam.push_back(beam_score + best.tokens.front().first);

    best.tokens.resize(std::min(best.tokens.size(), candidates_));
    std::int32_t rank = 0;
    for (const auto& [logprob, token] : best.tokens)
      if (logprob > -std::numeric_limits<float>::infinity())
        out.shown.push_back(
            {.node = node.value, .rank = rank++, .token = token, .logprob = logprob});
  }
  if (!started_) {
    // The list is filled to b beams with copies of the first one at -1e9. They matter where the
    // vocabulary is smaller than the number of candidates.
    while (out.beams.size() < num_beams_) {
      const auto beam = static_cast<std::int32_t>(out.beams.size());
      if (!heap.full() || heap.best().back().score <= FinishedPool::kEmpty / 2) {
        if (logprobs.empty()) score(live_.front());
        heap.add_row(beam, FinishedPool::kEmpty, logprobs);
      }
      out.beams.push_back(out.beams.front());
      out.best_of_beam.push_back(FinishedPool::kEmpty);
    }
  }
  out.candidates = heap.best();
  return out;
}

// The candidate's node: this step's draft where there is one.
NodeId BeamAcceptor::hang(const StepView& view, Expansion& expansion,
                          const BeamCandidate& candidate) const {
  const NodeId parent = expansion.beams[static_cast<std::size_t>(candidate.beam)];
  const TokenId token(candidate.token);
  const bool of_copy = candidate.beam > 0 && parent == expansion.beams.front();
  const NodeId node = of_copy
                          ? view.tree.add_copy(parent, token, Source::kBeam, candidate.logprob)
                          : view.tree.hang(parent, token, Source::kBeam, candidate.logprob).node;
  view.tree[node].logprob = candidate.logprob;
  view.tree[node].score = candidate.score;
  expansion.children.emplace_back(parent, candidate.token);
  return node;
}

// Rules 4, 5 and 8: sequences that finish in this step go to the pool.
void BeamAcceptor::finish(const StepView& view, Expansion& expansion, AcceptResult& result) {
  const int length = view.tree[live_.front()].depth + 1;
  const bool at_cap = length >= view.run.max_new_tokens;
  std::vector<FinishedSequence> finished;
  const std::size_t eligible = std::min(num_beams_, expansion.candidates.size());
  for (std::size_t rank = 0; rank < eligible; ++rank) {
    const BeamCandidate& c = expansion.candidates[rank];
    const bool eos = view.run.is_eos(c.token);
    if (!eos && !at_cap) continue;
    const NodeId node = hang(view, expansion, c);
    const float score = pool_.normalised(c.score, length);
    finished.push_back({node, score, eos ? "eos" : "length"});
    result.verdicts.push_back({.node = node.value,
                               .verdict = Verdict::kFinished,
                               .p = std::exp(c.logprob),
                               .rank = static_cast<std::int32_t>(rank),
                               .score = score,
                               .reason = eos ? Reason::kBeamEos : Reason::kBeamMaxTokens,
                               .value = c.score,
                               .count = length});
  }
  pool_.add(std::move(finished), result);
}

bool BeamAcceptor::is_pruned(const BeamCandidate& beam, float best_score, float best_logprob,
                             capture::VerdictRow& verdict) const {
  const auto cut = [&](Reason rule, double value, double limit) {
    verdict.reason = rule;
    verdict.value = static_cast<float>(value);
    verdict.threshold = static_cast<float>(limit);
    return true;
  };
  if (const double limit = prune_relative_ * best_score; prune_relative_ > 0 && beam.score <= limit)
    return cut(Reason::kPrunedRelative, beam.score, limit);
  if (const double limit = best_score - prune_absolute_; prune_absolute_ > 0 && beam.score <= limit)
    return cut(Reason::kPrunedAbsolute, beam.score, limit);
  if (const double limit = prune_relative_local_ * best_logprob;
      prune_relative_local_ > 0 && beam.logprob <= limit)
    return cut(Reason::kPrunedLocal, beam.logprob, limit);
  return false;
}

// Rules 6 and 7, then the pruning rules.
void BeamAcceptor::go_on(const StepView& view, Expansion& expansion, AcceptResult& result) {
  TokenTree& tree = view.tree;
  const int length = tree[live_.front()].depth + 1;
  const bool at_cap = length >= view.run.max_new_tokens;
  const std::vector<NodeId> level = std::exchange(live_, {});
  std::vector<BeamCandidate> live;
  const BeamCandidate* best_left_out = nullptr;
  for (const BeamCandidate& c : expansion.candidates) {
    if (at_cap || view.run.is_eos(c.token)) continue;
    if (live.size() < num_beams_) {
      live.push_back(c);
    } else if (best_left_out == nullptr) {
      best_left_out = &c;
    }
  }
  over_ = live.empty() || !pool_.may_improve(live.front().score, length);
  if (!over_) {
    float best_logprob = -std::numeric_limits<float>::infinity();
    for (const BeamCandidate& c : live) best_logprob = std::max(best_logprob, c.logprob);
    std::int32_t rank = 0;
    for (const BeamCandidate& c : live) {
      const NodeId node = hang(view, expansion, c);
      capture::VerdictRow verdict{.node = node.value};
      verdict.p = std::exp(c.logprob);
      verdict.score = c.score;
      if (&c == &live.front() || !is_pruned(c, live.front().score, best_logprob, verdict)) {
        verdict.verdict = Verdict::kKept;
        verdict.rank = rank++;
        verdict.gap = best_left_out ? c.score - best_left_out->score : 0;
        verdict.reason = best_left_out ? Reason::kBeamKept : Reason::kBeamKeptOfAll;
        verdict.threshold = best_left_out ? best_left_out->score : 0;
        verdict.count = static_cast<std::int32_t>(num_beams_);
        live_.push_back(node);
      } else {
        verdict.verdict = Verdict::kPruned;
        verdict.gap = live.front().score - c.score;
        tree[node].status = NodeStatus::kDead;
      }
      result.verdicts.push_back(verdict);
    }
  }

  // Beams that have no child on the next level.
  for (std::size_t beam = 0; beam < level.size(); ++beam) {
    const NodeId node = expansion.beams[beam];
    const bool goes_on = std::ranges::any_of(
        expansion.children, [&](const auto& child) { return child.first == node; });
    if (goes_on || node == TokenTree::root()) continue;
    capture::VerdictRow verdict{
        .node = node.value, .verdict = Verdict::kPruned, .score = tree[node].score};
    if (at_cap) {
      verdict.reason = Reason::kNoneLeftAtMaxTokens;
      verdict.count = static_cast<std::int32_t>(num_beams_);
    } else if (over_) {
      verdict.reason = Reason::kSearchOver;
      verdict.count = static_cast<std::int32_t>(num_beams_);
    } else {
      const float worst = live.back().score;
      verdict.gap = std::max(0.0f, worst - expansion.best_of_beam[beam]);
      verdict.reason = Reason::kBeamOutdone;
      verdict.value = expansion.best_of_beam[beam];
      verdict.threshold = worst;
      verdict.count = static_cast<std::int32_t>(live.size());
    }
    result.verdicts.push_back(verdict);
  }
}

void BeamAcceptor::advance(const StepView& view, AcceptResult& result) {
  const bool told = ahead_.has_value();
  Expansion expansion = told ? std::move(*ahead_) : expand(view);
  ahead_.reset();
  started_ = true;
  if (!expansion.candidates.empty()) result.emitted.push_back(expansion.candidates.front().token);
  finish(view, expansion, result);
  go_on(view, expansion, result);
  if (told) return;
  for (capture::CandidateRow& row : expansion.shown)
    row.chosen = std::ranges::find(expansion.children, std::pair(NodeId(row.node), row.token)) !=
                 expansion.children.end();
  result.candidates.insert(result.candidates.end(), expansion.shown.begin(), expansion.shown.end());
}

Outlook BeamAcceptor::preview(const StepView& view) {
  live_.assign(view.frontier.begin(), view.frontier.end());
  ahead_ = expand(view);
  return {.candidates = ahead_->shown, .stages = {}};
}

AcceptResult BeamAcceptor::accept(const StepView& view, Rng&) {
  AcceptResult result;
  live_.assign(view.frontier.begin(), view.frontier.end());
  const auto has_row = [&](NodeId node) { return view.row_of(node) >= 0; };
  std::vector<NodeId> drafts_used;
  for (bool all_drafted = true; all_drafted;) {
    advance(view, result);
    std::ranges::copy_if(live_, std::back_inserter(drafts_used), has_row);
    all_drafted = !live_.empty() && std::ranges::all_of(live_, has_row);
    if (all_drafted) result.accepted += static_cast<int>(live_.size());
  }
  result.frontier = live_;

  for (const FinishedSequence& sequence : result.finished) drafts_used.push_back(sequence.node);
  for (const NodeId draft : view.rows) {
    if (view.tree[draft].is_probe() ||
        std::ranges::find(view.frontier, draft) != view.frontier.end())
      continue;
    ++result.drafted;
    if (std::ranges::find(drafts_used, draft) != drafts_used.end()) continue;
    result.verdicts.push_back({.node = draft.value,
                               .verdict = Verdict::kRejected,
                               .reason = Reason::kDraftOutdone,
                               .count = static_cast<std::int32_t>(num_beams_)});
  }
  return result;
}

std::vector<FinishedSequence> BeamAcceptor::results(const TokenTree& tree) const {
  std::vector<FinishedSequence> all = pool_.sequences();
  if (!over_) {
    for (const NodeId node : live_)
      all.push_back({node, pool_.normalised(tree[node].score, tree[node].depth), "stopped"});
    std::ranges::stable_sort(all, std::ranges::greater{}, &FinishedSequence::score);
  }
  if (all.size() > num_return_sequences_) all.resize(num_return_sequences_);
  return all;
}

std::vector<Parameter> beam_parameters() {
  std::vector<Parameter> parameters = {
      integer(kNumBeams, "Beams", 3, 1, 256,
              "Texts that are kept alive side by side. 1 is greedy decoding."),
      number("length_penalty", "Length Penalty", 1.0, -10, 10,
             "A finished text scores sum of log p / (generated tokens)^length_penalty. Above 0 "
             "favours longer texts, below 0 shorter ones."),
      choice(
          "early_stopping", "Early Stopping", "false", {"true", "false", "never"},
          "When the search ends. true: once num_beams texts are finished. false: when the best "
          "live beam, at its length now, is no better than the worst of them. never: the same at "
          "the greatest possible length."),
      integer("num_return_sequences", "Returned Texts", 1, 1, 256,
              "Finished texts to return, best first; at most num_beams."),
      zero_is(
          "off",
          number(
              "prune_relative", "Relative Pruning", 0.0, 0, 1000,
              "A beam is pruned where score <= r_p * best score, r_p being this number. Scores are sums "
              "of log p, so below 0: r_p must be above 1 to leave anything but the best; 1.5 keeps beams "
              "less than 1.5 times as far below 0 as the best. 0 = off.")),
      zero_is(
          "off",
          number(
              "prune_absolute", "Absolute Pruning", 0.0, 0, 1000,
              "A beam is pruned where score <= best score - a_p, a_p being this number: where it is "
              "e^a_p times less probable than the best. 0 = off.")),
      zero_is(
          "off",
          number(
              "prune_relative_local", "Local Pruning", 0.0, 0, 1000,
              "A beam is pruned by its newest token alone, where log p <= r_pl * the best log p among "
              "the beams, r_pl being this number. Above 1, for the same reason. 0 = off.")),
  };
  for (auto& p : logits_processor_parameters()) parameters.push_back(std::move(p));
  return parameters;
}

}  // namespace triescope
