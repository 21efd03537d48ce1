#include "core/accept/text_acceptor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>

#include "core/base/error.h"
#include "core/kernels/row_ops.h"

namespace triescope {
namespace {

using capture::Reason;
using capture::Source;
using capture::Verdict;
using capture::VerdictRow;

constexpr float kNoScore = std::numeric_limits<float>::quiet_NaN();

void set_logprob(TokenTree& tree, NodeId id, float logprob) {
  Node& node = tree[id];
  node.logprob = logprob;
  const Node& parent = tree[node.parent];
  node.score = (parent.depth == 0 ? 0.0f : parent.score) + logprob;
}

// The best `count` tokens of a node's row, as the model itself sees them.
void add_candidates(ModelRows& rows, NodeId node, std::int32_t chosen, int count,
                    std::vector<capture::CandidateRow>& out) {
  const auto best = kernels::top_k(rows.raw(node), static_cast<std::size_t>(count));
  for (std::size_t rank = 0; rank < best.size(); ++rank)
    out.push_back({.node = node.value,
                   .rank = static_cast<std::int32_t>(rank),
                   .token = best[rank].second,
                   .logprob = rows.logprob(node, best[rank].second),
                   .chosen = best[rank].second == chosen});
}

// Verdicts for the drafts that the rule never came to: below a refused one, or after the end of the
// text.
void add_missing_verdicts(const VerifyInput& input, std::span<const NodeId> drafts,
                          std::vector<VerdictRow>& verdicts) {
  std::unordered_map<NodeId, Verdict> known;
  for (const VerdictRow& row : verdicts) known[NodeId(row.node)] = row.verdict;
  for (const NodeId draft : drafts) {
    if (known.contains(draft)) continue;
    const NodeId parent = input.tree[draft].parent;
    VerdictRow row{.node = draft.value, .verdict = Verdict::kRejected};
    row.p = std::exp(input.tree[draft].logprob);
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

TextAcceptor::TextAcceptor(const RunContext& run, VerifyRule rule, ProposalOf proposal_of)
    : processors_(run), warpers_(run.settings), rule_(rule), proposal_of_(std::move(proposal_of)) {
  const auto& s = run.settings;
  if (!s.is_object()) return;
  if (s.value("sampler", std::string("softmax")) == "gumbel") sampler_ = Sampler::kGumbel;
  typical_epsilon_ = s.value("typical_epsilon", typical_epsilon_);
  typical_delta_ = s.value("typical_delta", typical_delta_);
  accept_top_k_ = s.value("accept_top_k", accept_top_k_);
  candidates_ = s.value("candidates", candidates_);
}

AcceptResult TextAcceptor::accept(AcceptContext& context) {
  TokenTree& tree = context.tree;
  ModelRows rows(context, processors_, warpers_);
  const VerifyInput input{.tree = tree,
                          .root = context.frontier.front(),
                          .rows = rows,
                          .eos_token_ids = context.run.eos_token_ids,
                          .max_new_tokens = context.run.max_new_tokens,
                          .rng = context.rng,
                          .sampler = sampler_,
                          .proposal = proposal_of_,
                          .typical_epsilon = typical_epsilon_,
                          .typical_delta = typical_delta_,
                          .top_k = accept_top_k_};
  Verification verified = rule_(input);

  std::vector<NodeId> drafts;
  for (const NodeId node : context.rows)
    if (node != input.root) drafts.push_back(node);
  for (const NodeId draft : drafts)
    set_logprob(tree, draft, rows.logprob(tree[draft].parent, tree[draft].token.value));

  AcceptResult result;
  result.drafted = static_cast<int>(drafts.size());
  result.accepted = static_cast<int>(verified.path.size());
  result.verdicts = std::move(verified.verdicts);
  add_missing_verdicts(input, drafts, result.verdicts);

  NodeId last = verified.path.empty() ? input.root : verified.path.back();
  for (const NodeId node : verified.path) result.emitted.push_back(tree[node].token.value);
  if (verified.next_token >= 0) {
    const bool refused = !input.drafts_below(last).empty();
    const bool sampled = rule_ != verify_greedy && rule_ != verify_top_k;
    const Source source = refused                  ? Source::kCorrected
                          : !verified.path.empty() ? Source::kBonus
                          : sampled                ? Source::kSampled
                                                   : Source::kGreedy;
    const float logprob = rows.logprob(last, verified.next_token);
    const NodeId next = tree.add(last, TokenId(verified.next_token), source, logprob);
    set_logprob(tree, next, logprob);
    result.verdicts.push_back({.node = next.value,
                               .verdict = source == Source::kCorrected ? Verdict::kCorrected
                                          : source == Source::kBonus   ? Verdict::kBonus
                                                                       : Verdict::kEmitted,
                               .p = verified.next_p,
                               .u = verified.next_u,
                               .rank = rows.rank(last, verified.next_token),
                               .score = tree[next].score,
                               .reason = verified.next_reason});
    result.emitted.push_back(verified.next_token);
    last = next;
  }
  last_ = last;

  if (input.ends(last)) {
    const bool eos = input.is_eos(tree[last].token.value);
    finished_ = {{last, kNoScore, eos ? "eos" : "length"}};
    result.finished = finished_;
    result.verdicts.push_back({.node = last.value,
                               .verdict = Verdict::kFinished,
                               .score = tree[last].score,
                               .reason = eos ? Reason::kEos : Reason::kMaxTokens});
  } else {
    result.frontier = {last};
  }

  if (candidates_ > 0) {
    // What the text went on with after each node it passed.
    std::unordered_map<NodeId, std::int32_t> chosen{{input.root, verified.next_token}};
    for (std::size_t i = 0; i < verified.path.size(); ++i) {
      chosen[tree[verified.path[i]].parent] = tree[verified.path[i]].token.value;
      chosen[verified.path[i]] = verified.next_token;
    }
    for (const NodeId node : context.rows) {
      const auto at = chosen.find(node);
      if (at == chosen.end() && input.drafts_below(node).empty()) continue;
      add_candidates(rows, node, at == chosen.end() ? -1 : at->second, candidates_,
                     result.candidates);
    }
  }
  return result;
}

std::vector<FinishedSequence> TextAcceptor::results(const TokenTree&, const RunContext&) const {
  if (!finished_.empty()) return finished_;
  if (!last_.valid()) return {};
  return {{last_, kNoScore, "stopped"}};
}

VerifyRule deterministic_rule(const nlohmann::json& settings) {
  const std::string name = settings.value("verify", std::string("greedy"));
  if (name == "greedy") return verify_greedy;
  if (name == "sample") return verify_deterministic;
  if (name == "typical") return verify_typical;
  if (name == "top_k") return verify_top_k;
  throw Error(ErrorCode::kInvalidArgument,
              "verify: expected greedy, sample, typical or top_k, found \"" + name + "\"");
}

Parameter sampler_parameter() {
  return {.name = "sampler",
          .kind = ParameterKind::kChoice,
          .default_value = "softmax",
          .choices = {"softmax", "gumbel"},
          .help =
              "How a token is drawn: softmax, then the inverse of the running sum at a uniform u; "
              "or the argmax of "
              "logit + Gumbel noise, without a softmax. The distribution is the same."};
}

std::vector<Parameter> verify_parameters() {
  std::vector<Parameter> parameters = {
      {.name = "verify",
       .kind = ParameterKind::kChoice,
       .default_value = "greedy",
       .choices = {"greedy", "sample", "typical", "top_k"},
       .help =
           "greedy: the text of greedy decoding, exactly. sample: the distribution of sampling, "
           "exactly (y ~ p once "
           "a node; a draft passes where y is it). typical, top_k: lossy, the text may differ."},
  };
  for (auto& p : warper_parameters()) parameters.push_back(std::move(p));
  parameters.push_back(sampler_parameter());
  parameters.push_back(
      {.name = "typical_epsilon",
       .kind = ParameterKind::kNumber,
       .default_value = 0.09,
       .minimum = 0,
       .maximum = 1,
       .choices = {},
       .help = "verify=typical: a draft passes where p > min(epsilon, delta * e^(-entropy))."});
  parameters.push_back({.name = "typical_delta",
                        .kind = ParameterKind::kNumber,
                        .default_value = 0.3,
                        .minimum = 0,
                        .maximum = 1,
                        .choices = {},
                        .help = "verify=typical: see typical_epsilon."});
  parameters.push_back(
      {.name = "accept_top_k",
       .kind = ParameterKind::kInteger,
       .default_value = 1,
       .minimum = 1,
       .maximum = 1000,
       .choices = {},
       .help = "verify=top_k: a draft passes where it is among the K best. 1 = greedy."});
  for (auto& p : logits_processor_parameters()) parameters.push_back(std::move(p));
  return parameters;
}

}  // namespace triescope
