#include "core/accept/beam.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"

namespace triescope {

using capture::Reason;
using capture::Source;
using capture::Verdict;

// What one step found, before anything is decided.
struct BeamAcceptor::Expansion {
  std::vector<BeamCandidate> candidates;  // rule 3, best first
  std::vector<NodeId>
      beams;  // by beam index: the node it stands at (the first one several times at the start)
  std::vector<float> best_of_beam;           // by beam index: score of its best continuation
  std::vector<capture::CandidateRow> shown;  // best tokens of every row
  std::vector<std::pair<NodeId, std::int32_t>> children;  // (parent, token) that went into the tree
};

BeamAcceptor::BeamAcceptor(const RunContext& run)
    : processors_(run),
      num_beams_(run.settings.value("num_beams", std::size_t{3})),
      num_return_sequences_(run.settings.value("num_return_sequences", std::size_t{1})),
      prune_relative_(run.settings.value("prune_relative", 0.0)),
      prune_absolute_(run.settings.value("prune_absolute", 0.0)),
      prune_relative_local_(run.settings.value("prune_relative_local", 0.0)),
      candidates_(run.settings.value("candidates", std::size_t{0})),
      eos_token_ids_(run.eos_token_ids),
      // One beam is greedy decoding: the first finished sequence ends it.
      pool_(static_cast<int>(num_beams_), run.settings.value("length_penalty", 1.0),
            num_beams_ == 1 ? EarlyStopping::kTrue
                            : early_stopping_from_string(
                                  run.settings.value("early_stopping", std::string("false"))),
            run.max_new_tokens) {
  if (num_return_sequences_ > num_beams_)
    throw Error(ErrorCode::kInvalidArgument, "num_return_sequences: expected at most num_beams (" +
                                                 std::to_string(num_beams_) + "); found " +
                                                 std::to_string(num_return_sequences_));
}

bool BeamAcceptor::is_eos(std::int32_t token) const {
  return std::ranges::find(eos_token_ids_, token) != eos_token_ids_.end();
}

// Log-probs of a row as the search sees them [vocab].
void BeamAcceptor::score_row(const AcceptContext& context, int row, std::span<float> out) const {
  const auto logits = context.logits(row);
  if (!processors_.any()) {
    log_softmax(logits, out);
    return;
  }
  const NodeId node = context.rows[static_cast<std::size_t>(row)];
  std::vector<std::int32_t> tokens(context.run.prompt.begin(), context.run.prompt.end());
  for (const TokenId token : context.tree.tokens_to(node)) tokens.push_back(token.value);
  const int generated = context.tree[node].depth;
  if (num_beams_ == 1) {
    std::ranges::copy(logits, out.begin());
    processors_.apply(tokens, generated, out);
    log_softmax(out, out);
  } else {
    log_softmax(logits, out);
    processors_.apply(tokens, generated, out);
  }
}

void BeamAcceptor::expand(const AcceptContext& context, Expansion& out) const {
  const TokenTree& tree = context.tree;
  const auto vocab = static_cast<std::size_t>(context.run.vocab_size);
  const std::size_t wanted = std::max<std::size_t>(2, 1 + eos_token_ids_.size()) * num_beams_;
  CandidateHeap heap(wanted);
  std::vector<float> logprobs(vocab);
  for (const NodeId node : context.frontier) {
    const auto beam = static_cast<std::int32_t>(out.beams.size());
    const float score = tree[node].score;
    score_row(context, context.row_of(node), logprobs);
    heap.add_row(beam, score, logprobs);
    out.beams.push_back(node);
    out.best_of_beam.push_back(score + *std::ranges::max_element(logprobs));

    CandidateHeap shown(std::min(candidates_, vocab));
    shown.add_row(0, 0.0f, logprobs);
    std::int32_t rank = 0;
    for (const BeamCandidate& c : shown.best())
      out.shown.push_back(
          {.node = node.value, .rank = rank++, .token = c.token, .logprob = c.logprob});
  }
  if (!started_) {
    // b copies of the first beam, all but one at -1e9. They matter where the vocabulary is smaller
    // than the candidates.
    while (out.beams.size() < num_beams_) {
      const auto beam = static_cast<std::int32_t>(out.beams.size());
      if (!heap.full() || heap.best().back().score <= FinishedPool::kEmpty / 2)
        heap.add_row(beam, FinishedPool::kEmpty, logprobs);
      out.beams.push_back(out.beams.front());
      out.best_of_beam.push_back(FinishedPool::kEmpty);
    }
  }
  out.candidates.assign(heap.best().begin(), heap.best().end());
}

// Rules 4, 5, 8: what finishes in this step goes to the pool.
void BeamAcceptor::finish(AcceptContext& context, Expansion& expansion, AcceptResult& result) {
  TokenTree& tree = context.tree;
  const int length = tree[context.frontier.front()].depth + 1;
  const bool at_cap = length >= context.run.max_new_tokens;
  const std::size_t eligible = std::min(num_beams_, expansion.candidates.size());
  for (std::size_t rank = 0; rank < eligible; ++rank) {
    const BeamCandidate& c = expansion.candidates[rank];
    const bool eos = is_eos(c.token);
    if (!eos && !at_cap) continue;
    const NodeId parent = expansion.beams[static_cast<std::size_t>(c.beam)];
    const NodeId node = tree.add(parent, TokenId(c.token), Source::kBeam, c.logprob);
    tree[node].score = c.score;
    expansion.children.emplace_back(parent, c.token);
    const float score = pool_.normalised(c.score, length);
    result.finished.push_back({node, score, eos ? "eos" : "length"});
    result.verdicts.push_back({.node = node.value,
                               .verdict = Verdict::kFinished,
                               .p = std::exp(c.logprob),
                               .rank = static_cast<std::int32_t>(rank),
                               .score = score,
                               .reason = eos ? Reason::kBeamEos : Reason::kBeamMaxTokens,
                               .value = c.score,
                               .count = length});
  }
  for (const FinishedSequence& lost : pool_.add(result.finished))
    result.verdicts.push_back({.node = lost.node.value,
                               .verdict = Verdict::kPruned,
                               .score = lost.score,
                               .gap = std::max(0.0f, pool_.worst() - lost.score),
                               .reason = Reason::kBetterFinished,
                               .threshold = pool_.worst(),
                               .count = static_cast<std::int32_t>(num_beams_)});
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
void BeamAcceptor::go_on(AcceptContext& context, Expansion& expansion, AcceptResult& result) {
  TokenTree& tree = context.tree;
  const int length = tree[context.frontier.front()].depth + 1;
  const bool at_cap = length >= context.run.max_new_tokens;
  std::vector<BeamCandidate> live;
  const BeamCandidate* best_left_out = nullptr;
  for (const BeamCandidate& c : expansion.candidates) {
    if (at_cap || is_eos(c.token)) continue;
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
      const NodeId parent = expansion.beams[static_cast<std::size_t>(c.beam)];
      const NodeId node = tree.add(parent, TokenId(c.token), Source::kBeam, c.logprob);
      tree[node].score = c.score;
      expansion.children.emplace_back(parent, c.token);
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
        result.frontier.push_back(node);
      } else {
        verdict.verdict = Verdict::kPruned;
        verdict.gap = live.front().score - c.score;
        tree[node].status = NodeStatus::kDead;
      }
      result.verdicts.push_back(verdict);
    }
  }

  // Beams that nothing goes on from.
  for (std::size_t beam = 0; beam < context.frontier.size(); ++beam) {
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

AcceptResult BeamAcceptor::accept(AcceptContext& context) {
  AcceptResult result;
  Expansion expansion;
  expand(context, expansion);
  started_ = true;
  if (!expansion.candidates.empty()) result.emitted = {expansion.candidates.front().token};
  finish(context, expansion, result);
  go_on(context, expansion, result);
  live_ = result.frontier;

  for (capture::CandidateRow& row : expansion.shown)
    row.chosen = std::ranges::find(expansion.children, std::pair(NodeId(row.node), row.token)) !=
                 expansion.children.end();
  result.candidates = std::move(expansion.shown);
  return result;
}

std::vector<FinishedSequence> BeamAcceptor::results(const TokenTree& tree,
                                                    const RunContext&) const {
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
      {.name = "num_beams",
       .kind = ParameterKind::kInteger,
       .default_value = 3,
       .minimum = 1,
       .maximum = 256,
       .choices = {},
       .help = "Texts that are kept alive side by side. 1 is greedy decoding."},
      {.name = "length_penalty",
       .kind = ParameterKind::kNumber,
       .default_value = 1.0,
       .minimum = -10,
       .maximum = 10,
       .choices = {},
       .help = "A finished text scores sum of log p / (generated tokens)^length_penalty. Above 0 "
               "favours longer "
               "texts, below 0 shorter ones."},
      {.name = "early_stopping",
       .kind = ParameterKind::kChoice,
       .default_value = "false",
       .choices = {"true", "false", "never"},
       .help =
           "true: stop once num_beams texts are finished. false: stop when the best live beam, at "
           "its length now, "
           "is no better than the worst of them. never: the same at the greatest possible length."},
      {.name = "num_return_sequences",
       .kind = ParameterKind::kInteger,
       .default_value = 1,
       .minimum = 1,
       .maximum = 256,
       .choices = {},
       .help = "Finished texts to return, best first; at most num_beams."},
      {.name = "prune_relative",
       .kind = ParameterKind::kNumber,
       .default_value = 0.0,
       .minimum = 0,
       .maximum = 1000,
       .choices = {},
       .help = "r_p: a beam goes where score <= r_p * best score. Scores are sums of log p, so "
               "below 0: r_p must be "
               "above 1 to leave anything but the best, and 1.5 keeps beams up to half as far "
               "again from 0. 0 = off."},
      {.name = "prune_absolute",
       .kind = ParameterKind::kNumber,
       .default_value = 0.0,
       .minimum = 0,
       .maximum = 1000,
       .choices = {},
       .help = "a_p: a beam goes where score <= best score - a_p, that is where it is e^a_p times "
               "less probable than "
               "the best. 0 = off."},
      {.name = "prune_relative_local",
       .kind = ParameterKind::kNumber,
       .default_value = 0.0,
       .minimum = 0,
       .maximum = 1000,
       .choices = {},
       .help = "r_pl: as prune_relative, on log p of the newest token alone: it goes where log p "
               "<= r_pl * the best "
               "log p among the beams. Above 1, for the same reason. 0 = off."},
  };
  for (auto& p : logits_processor_parameters()) parameters.push_back(std::move(p));
  return parameters;
}

}  // namespace triescope
