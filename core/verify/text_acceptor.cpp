#include "core/verify/text_acceptor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>

#include "core/kernels/row_ops.h"
#include "core/verify/rule_table.h"

namespace triescope {
namespace {

using capture::Reason;
using capture::Source;
using capture::Verdict;
using capture::VerdictRow;

constexpr float kNoScore = std::numeric_limits<float>::quiet_NaN();

// The best `count` tokens of a node's row, according to the model itself.
std::vector<std::int32_t> best_of(ModelRows& rows, NodeId node, int count) {
  std::vector<std::int32_t> tokens;
  for (const auto& [score, token] : rows.raw(node).top_k(static_cast<std::size_t>(count)))
    tokens.push_back(token);
  return tokens;
}

void add_candidates(ModelRows& rows, NodeId node, std::int32_t chosen,
                    std::span<const std::int32_t> best, std::vector<capture::CandidateRow>& out) {
  for (std::size_t rank = 0; rank < best.size(); ++rank)
    out.push_back({.node = node.value,
                   .rank = static_cast<std::int32_t>(rank),
                   .token = best[rank],
                   .logprob = rows.logprob(node, best[rank]),
                   .chosen = best[rank] == chosen});
}

// The tokens whose stages are recorded: the node's best tokens and the drafts below it.
std::vector<std::int32_t> watched_tokens(std::vector<std::int32_t> tokens, const TokenTree& tree,
                                         const ModelRows& rows, NodeId node) {
  for (const NodeId draft : drafts_below(tree, rows, node))
    if (std::ranges::find(tokens, tree[draft].token.value) == tokens.end())
      tokens.push_back(tree[draft].token.value);
  return tokens;
}

// The distribution from which `drawn` was drawn, for these tokens. `noise` is where the numbers
// that Gumbel-max drew begin; null = it drew none, or they are unknown.
std::vector<capture::StageRow> drawn_stage(const Distribution& from, NodeId node,
                                           std::vector<std::int32_t> tokens, std::int32_t drawn,
                                           bool by_u, Rng* noise) {
  if (std::ranges::find(tokens, drawn) == tokens.end()) tokens.push_back(drawn);
  std::vector<capture::StageRow> rows;
  for (const std::int32_t token : tokens)
    rows.push_back({.node = node.value,
                    .stage = capture::Stage::kDrawn,
                    .token = token,
                    .p = from.probability(token)});
  const float log_sum = noise ? kernels::log_sum_exp(from.scores) : 0;
  double below = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double gumbel = noise ? noise->gumbel() : 0;
    const auto row = std::ranges::find(rows, from.tokens[i], &capture::StageRow::token);
    if (row != rows.end() && noise) {
      row->at = static_cast<float>(from.scores[i] - log_sum + gumbel);
    } else if (row != rows.end() && by_u) {
      row->at = static_cast<float>(below);
    }
    below += from.probabilities[i];
  }
  return rows;
}

// Adds verdicts for the drafts that the rule did not reach: below a refused one, or after the end
// of the text.
void add_missing_verdicts(const VerifyInput& input, std::span<const NodeId> drafts,
                          std::vector<VerdictRow>& verdicts) {
  std::unordered_map<NodeId, Verdict> known;
  for (const VerdictRow& row : verdicts) known[NodeId(row.node)] = row.verdict;
  for (const NodeId draft : drafts) {
    if (known.contains(draft)) continue;
    const NodeId parent = input.tree()[draft].parent;
    VerdictRow row{.node = draft.value, .verdict = Verdict::kRejected};
    row.p = std::exp(input.tree()[draft].logprob);
    const auto above = known.find(parent);
    if (above != known.end() && above->second == Verdict::kRejected) {
      row.reason = Reason::kParentRefused;
    } else if (input.ends(parent)) {
      row.reason = Reason::kAfterEnd;
    } else {
      row.reason = Reason::kNotReached;
    }
    known[draft] = Verdict::kRejected;
    verdicts.push_back(row);
  }
}

}  // namespace

TextAcceptor::TextAcceptor(const RunContext& run, VerifyRule rule)
    : processors_(run),
      warpers_(run.settings),
      rule_(rule),
      sampler_(sampler_of(run.settings)),
      // Only rules that a "verify" can name read the next three values.
      typical_epsilon_(static_cast<float>(run.settings.number_or("typical_epsilon", 0))),
      typical_delta_(static_cast<float>(run.settings.number_or("typical_delta", 0))),
      accept_top_k_(run.settings.integer_or("accept_top_k", 1)),
      candidates_(run.settings.integer_or("candidates", 0)) {}

int TextAcceptor::best_tokens() const {
  return draws() || processors_.any() ? 0 : std::max({candidates_, accept_top_k_, 1});
}

bool TextAcceptor::draws() const { return rule_ != verify_greedy && rule_ != verify_top_k; }

Outlook TextAcceptor::preview(const StepView& view) {
  Outlook outlook;
  shown_.clear();
  if (candidates_ == 0) return outlook;
  ModelRows rows(view, processors_, warpers_);
  const auto show = [&](NodeId node) {
    shown_.insert(node);
    auto best = best_of(rows, node, candidates_);
    add_candidates(rows, node, -1, best, outlook.candidates);
    const auto tokens = watched_tokens(std::move(best), view.tree, rows, node);
    for (const capture::StageRow& row : rows.stages(node, tokens, draws()))
      outlook.stages.push_back(row);
    if (const Proposal* proposal = view.proposal(node))
      for (const std::int32_t token : tokens)
        outlook.stages.push_back({.node = node.value,
                                  .stage = capture::Stage::kProposal,
                                  .token = token,
                                  .p = proposal->q.probability(token)});
  };
  for (const NodeId node : view.rows)
    if (std::ranges::find(view.frontier, node) != view.frontier.end() ||
        !drafts_below(view.tree, rows, node).empty())
      show(node);
  return outlook;
}

AcceptResult TextAcceptor::accept(const StepView& view, Rng& rng) {
  ModelRows rows(view, processors_, warpers_);
  // Drafts by the frontier node below which they hang; parents come first.
  std::unordered_map<NodeId, std::size_t> root_of;
  std::vector<std::vector<NodeId>> drafts(view.frontier.size());
  for (std::size_t i = 0; i < view.frontier.size(); ++i) root_of[view.frontier[i]] = i;
  for (const NodeId node : view.rows) {
    if (root_of.contains(node) || view.tree[node].is_probe()) continue;
    const std::size_t root = root_of.at(view.tree[node].parent);
    root_of[node] = root;
    drafts[root].push_back(node);
  }

  if (texts_.empty()) texts_.resize(view.frontier.size());
  AcceptResult result;
  std::size_t at = 0;
  for (Text& text : texts_) {
    if (!text.goes_on) continue;
    text = verify(view, rng, rows, view.frontier[at], drafts[at], result);
    ++at;
  }
  return result;
}

TextAcceptor::Text TextAcceptor::verify(const StepView& view, Rng& rng, ModelRows& rows,
                                        NodeId root, std::span<const NodeId> drafts,
                                        AcceptResult& result) const {
  TokenTree& tree = view.tree;
  const VerifyInput input{.view = view,
                          .root = root,
                          .rows = rows,
                          .rng = rng,
                          .sampler = sampler_,
                          .typical_epsilon = typical_epsilon_,
                          .typical_delta = typical_delta_,
                          .top_k = accept_top_k_};
  Rng noise = rng;  // the numbers that Gumbel-max is about to draw
  Verification verified = rule_(input);
  for (const NodeId draft : drafts)
    tree.set_logprob(draft, rows.logprob(tree[draft].parent, tree[draft].token.value));

  std::vector<VerdictRow> verdicts = std::move(verified.verdicts);
  result.drafted += static_cast<int>(drafts.size());
  result.accepted += static_cast<int>(verified.path.size());
  NodeId last = verified.path.empty() ? root : verified.path.back();
  for (const NodeId node : verified.path) result.emitted.push_back(tree[node].token.value);
  add_missing_verdicts(input, drafts, verdicts);
  if (verified.next_token >= 0) {
    const bool refused = !input.drafts_below(last).empty();
    const Source source = refused                  ? Source::kCorrected
                          : !verified.path.empty() ? Source::kBonus
                          : draws()                ? Source::kSampled
                                                   : Source::kGreedy;
    const TokenId token(verified.next_token);
    const float logprob = rows.logprob(last, verified.next_token);
    // A rule that draws again from the whole row may draw what it refused: another node.
    const NodeId next = tree.child(last, token).valid()
                            ? tree.add_copy(last, token, source, logprob)
                            : tree.hang(last, token, source, logprob).node;
    verdicts.push_back({.node = next.value,
                        .verdict = source == Source::kCorrected ? Verdict::kCorrected
                                   : source == Source::kBonus   ? Verdict::kBonus
                                                                : Verdict::kEmitted,
                        .p = verified.next_p,
                        .u = verified.next_u,
                        .rank = rows.rank(last, verified.next_token),
                        .score = tree[next].score,
                        .reason = verified.next_reason});
    if (candidates_ > 0 && draws()) {
      const Distribution& from =
          verified.drawn_from ? *verified.drawn_from : rows.distribution(last);
      // This rule draws once a node, from the root down; other rules draw other numbers in between.
      const bool noise_known = sampler_ == Sampler::kGumbel && rule_ == verify_deterministic;
      if (noise_known)
        for (const NodeId node : verified.path)
          for (std::size_t i = rows.distribution(tree[node].parent).size(); i > 0; --i)
            noise.gumbel();
      const auto tokens = watched_tokens(best_of(rows, last, candidates_), tree, rows, last);
      // A draft with no drafts below it: preview() could not know that the text would get there.
      if (!shown_.contains(last))
        for (const capture::StageRow& row : rows.stages(last, tokens, true))
          result.stages.push_back(row);
      for (const capture::StageRow& row :
           drawn_stage(from, last, tokens, verified.next_token, verified.next_u >= 0,
                       noise_known ? &noise : nullptr))
        result.stages.push_back(row);
    }
    result.emitted.push_back(verified.next_token);
    last = next;
  }

  Text text{.end = {last, kNoScore, "stopped"}};
  if (input.ends(last)) {
    const bool eos = view.run.is_eos(tree[last].token.value);
    text = {.end = {last, kNoScore, eos ? "eos" : "length"}, .goes_on = false};
    result.finished.push_back(text.end);
    verdicts.push_back({.node = last.value,
                        .verdict = Verdict::kFinished,
                        .score = tree[last].score,
                        .reason = eos ? Reason::kEos : Reason::kMaxTokens});
  } else {
    result.frontier.push_back(last);
  }
  result.verdicts.insert(result.verdicts.end(), std::make_move_iterator(verdicts.begin()),
                         std::make_move_iterator(verdicts.end()));

  if (candidates_ > 0) {
    // The token with which the text went on after each node that it passed.
    std::unordered_map<NodeId, std::int32_t> chosen{{root, verified.next_token}};
    for (const NodeId node : verified.path) {
      chosen[tree[node].parent] = tree[node].token.value;
      chosen[node] = verified.next_token;
    }
    const auto show = [&](NodeId node) {
      if (shown_.contains(node)) return;
      const auto at = chosen.find(node);
      if (at == chosen.end() && input.drafts_below(node).empty()) return;
      add_candidates(rows, node, at == chosen.end() ? -1 : at->second,
                     best_of(rows, node, candidates_), result.candidates);
    };
    show(root);
    for (const NodeId draft : drafts) show(draft);
  }
  return text;
}

std::vector<FinishedSequence> TextAcceptor::results(const TokenTree&) const {
  std::vector<FinishedSequence> all;
  for (const Text& text : texts_)
    if (text.end.node.valid()) all.push_back(text.end);
  return all;
}

VerifyRule deterministic_rule(const Settings& settings) {
  return rule_for(settings.text("verify"), Drafted::kChosen);
}

Sampler sampler_of(const Settings& settings) {
  return settings.has("sampler") && settings.text("sampler") == "gumbel" ? Sampler::kGumbel
                                                                         : Sampler::kSoftmax;
}

Parameter sampler_parameter() {
  return choice("sampler", "Sampler", "softmax", {"softmax", "gumbel"},
                "How a token is drawn: softmax, then the inverse of the running sum at a uniform "
                "u; or the argmax of logit + Gumbel noise, without a softmax. The distribution is "
                "the same.");
}

std::vector<Parameter> verify_parameters() {
  std::vector<Parameter> parameters = {
      choice(
          "verify", "Verification", "greedy",
          {"greedy", "sample", "chain", "block", "multi_round", "typical", "top_k"},
          "How drafts are checked. greedy: the text of greedy decoding, exactly. sample: the "
          "distribution of sampling, exactly (one y ~ p per node; a draft passes if it is y). "
          "multi_round: the same distribution, draft by draft against what is left of p. typical, "
          "top_k: lossy, the text may differ. chain, block: for one draft per node, drawn at random; "
          "block judges them together and accepts more."),
  };
  for (auto& p : warper_parameters()) parameters.push_back(std::move(p));
  parameters.push_back(sampler_parameter());
  parameters.push_back(
      number("typical_epsilon", "Typical Epsilon", kTypicalEpsilon, 0, 1,
             "With verify=typical a draft passes where p > min(epsilon, delta * e^(-entropy))."));
  parameters.push_back(
      number("typical_delta", "Typical Delta", kTypicalDelta, 0, 1,
             "With verify=typical, the delta of min(epsilon, delta * e^(-entropy))."));
  parameters.push_back(
      integer("accept_top_k", "Accepted Ranks", 1, 1, 1000,
              "With verify=top_k a draft passes where it is among the K best. 1 = greedy."));
  for (auto& p : logits_processor_parameters()) parameters.push_back(std::move(p));
  return parameters;
}

}  // namespace triescope
