// Speculative sampling over a chain, lossless. A draft x is accepted iff u < min(1, p(x)/q(x)). The
// first rejection emits y ~ norm(max(0, p - q)) and stops; if all are accepted, one more token is
// drawn from p. Without a proposal a draft is deterministic, q = 1. Source: Leviathan, Kalman,
// Matias, "Fast Inference from Transformers via Speculative Decoding", 2023, Algorithm 1; Chen et
// al., "Accelerating Large Language Model Decoding with Speculative Sampling", 2023, Algorithm 2. A
// chain has one draft below a node; where there are more, only the first drawn counts
// (verify_multi_round checks all).
#include <algorithm>

#include "core/verify/verify.h"

namespace triescope {
namespace {

using capture::Reason;

enum class AfterRefusal { kResidual, kWholeRow };

Verification along_chain(const VerifyInput& input, AfterRefusal after) {
  Verification result;
  const auto emit = [&](const Distribution& from, Reason reason) {
    const Draw y = draw(from, input.sampler, input.rng);
    result.next_token = y.token;
    result.next_p = y.p;
    result.next_u = y.u;
    result.next_reason = reason;
  };
  NodeId v = input.root;
  while (!input.ends(v)) {
    const Distribution& p = input.rows.distribution(v);
    const Proposal* proposal = input.view.proposal(v);
    const auto drafts = input.drafts_below(v);
    if (drafts.empty()) {
      emit(p, Reason::kDrawn);
      break;
    }
    const NodeId draft =
        proposal && !proposal->draws.empty() ? proposal->draws.front() : drafts.front();
    const std::int32_t token = input.tree()[draft].token.value;
    const Distribution point{{token}, {0.0f}, {1.0f}};
    const Distribution& q = proposal ? proposal->q : point;
    const float p_x = p.probability(token), q_x = q.probability(token);
    const double u = input.rng.uniform();
    const double chance = q_x > 0 ? std::min(1.0, static_cast<double>(p_x) / q_x) : 0.0;
    capture::VerdictRow row{.node = draft.value,
                            .p = p_x,
                            .q = q_x,
                            .u = static_cast<float>(u),
                            .threshold = static_cast<float>(chance)};
    if (u < chance) {
      row.verdict = capture::Verdict::kAccepted;
      row.reason = Reason::kBelowRatio;
      result.verdicts.push_back(row);
      result.path.push_back(draft);
      v = draft;
      continue;
    }
    if (after == AfterRefusal::kResidual) {
      result.drawn_from = residual(p, q);
      emit(*result.drawn_from, Reason::kDrawnFromResidual);
    } else {
      emit(p, Reason::kDrawn);
    }
    row.verdict = capture::Verdict::kRejected;
    row.replacement = result.next_token;
    row.reason = Reason::kNotBelowRatio;
    result.verdicts.push_back(row);
    break;
  }
  return result;
}

}  // namespace

Verification verify_chain(const VerifyInput& input) {
  return along_chain(input, AfterRefusal::kResidual);
}

Verification verify_published(const VerifyInput& input) {
  return along_chain(input, AfterRefusal::kWholeRow);
}

}  // namespace triescope
