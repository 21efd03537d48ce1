// Block verification, lossless: a chain of drafts drawn from Q is judged as one block, so that a draft which
// the target likes makes up for one before it that the target likes less. With p_0 = 1 and
//
//   p_i = min(1, p_{i-1} P(x_i) / Q(x_i))
//   S_i = sum over x of max(p_i P(x | x_1..x_i) - Q(x | x_1..x_i), 0)
//   h_i = S_i / (S_i + 1 - p_i) below the last draft, and p_i at the last
//
// a number u_i is drawn for every draft, and the block ends at the last i with u_i <= h_i: whatever the
// drafts before it drew, they are accepted with it. Then one token comes from norm(max(p_i P - Q, 0)), or
// from P after the whole chain. It never accepts fewer drafts on average than a draft at a time
// (verify_chain). Source: Sun et al., "Block Verification Accelerates Speculative Decoding", 2024,
// Algorithm 2.
#include <algorithm>

#include "core/verify/verify.h"

namespace triescope {
namespace {

using capture::Reason;

// A draft of the chain, judged.
struct BlockDraft {
  NodeId node;
  Distribution q;          // Q above it
  float p_x = 0, q_x = 0;  // of its token
  double joint = 1;        // p_i
  double reach = 0;        // h_i
  double u = 0;
  bool reaches() const { return u <= reach && reach > 0; }
};

// S_i: what scale * p has more than q.
double excess(const Distribution& p, const Distribution& q, double scale) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double rest = scale * static_cast<double>(p.probabilities[i]) -
                        static_cast<double>(q.probability(p.tokens[i]));
    if (rest > 0) sum += rest;
  }
  return sum;
}

// The chain below the root: of several drafts below a node the first drawn. A draft without a Proposal is
// deterministic, q = 1.
std::vector<BlockDraft> chain_of(const VerifyInput& input) {
  std::vector<BlockDraft> chain;
  for (NodeId above = input.root; !input.ends(above); above = chain.back().node) {
    const auto drafts = input.drafts_below(above);
    if (drafts.empty()) break;
    const Proposal* const proposal = input.view.proposal(above);
    const bool drawn = proposal != nullptr && !proposal->draws.empty();
    BlockDraft draft{.node = drawn ? proposal->draws.front() : drafts.front(), .q = {}};
    const std::int32_t token = input.tree()[draft.node].token.value;
    draft.q = drawn ? proposal->q : Distribution{{token}, {0.0f}, {1.0f}};
    draft.p_x = input.rows.distribution(above).probability(token);
    draft.q_x = draft.q.probability(token);
    chain.push_back(std::move(draft));
  }
  return chain;
}

void judge(const VerifyInput& input, std::vector<BlockDraft>& chain) {
  double joint = 1;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    BlockDraft& draft = chain[i];
    joint =
        draft.q_x > 0
            ? std::min(1.0, joint * static_cast<double>(draft.p_x) / static_cast<double>(draft.q_x))
            : 0.0;
    draft.joint = draft.reach = joint;
    // With p_i = 1, S_i / S_i: also where P and Q are the same there, and every later draft passes as well.
    if (i + 1 < chain.size() && joint < 1) {
      const double rest = excess(input.rows.distribution(draft.node), chain[i + 1].q, joint);
      draft.reach = rest / (rest + 1 - joint);
    }
    draft.u = input.rng.uniform();
  }
}

}  // namespace

Verification verify_block(const VerifyInput& input) {
  Verification result;
  std::vector<BlockDraft> chain = chain_of(input);
  judge(input, chain);
  std::size_t taken = chain.size();
  while (taken > 0 && !chain[taken - 1].reaches()) --taken;

  const NodeId last = taken == 0 ? input.root : chain[taken - 1].node;
  if (!input.ends(last)) {
    const Distribution& p = input.rows.distribution(last);
    const bool whole = taken == chain.size();
    if (!whole)
      result.drawn_from = residual(p, chain[taken].q, taken == 0 ? 1.0 : chain[taken - 1].joint);
    const Draw y = draw(whole ? p : *result.drawn_from, input.sampler, input.rng);
    result.next_token = y.token;
    result.next_p = y.p;
    result.next_u = y.u;
    result.next_reason = whole ? Reason::kDrawn : Reason::kDrawnFromBlock;
  }
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const BlockDraft& draft = chain[i];
    capture::VerdictRow row{.node = draft.node.value,
                            .verdict = capture::Verdict::kRejected,
                            .p = draft.p_x,
                            .q = draft.q_x,
                            .u = static_cast<float>(draft.u),
                            .reason = Reason::kBlockFallsShort,
                            .value = static_cast<float>(draft.joint),
                            .threshold = static_cast<float>(draft.reach)};
    if (i < taken) {
      row.verdict = capture::Verdict::kAccepted;
      row.reason = draft.reaches() ? Reason::kBlockReaches : Reason::kBlockGoesOn;
      result.path.push_back(draft.node);
    } else if (i == taken) {
      row.replacement = result.next_token;
    }
    result.verdicts.push_back(row);
  }
  return result;
}

}  // namespace triescope
