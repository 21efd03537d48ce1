// Verification: which of a step's draft nodes become text, and which token follows them. Each rule
// is in a file of the same name:
//
//   verify_greedy         exact   the text of greedy decoding
//   verify_deterministic  exact   the distribution of sampling; drafts with q = 1
//   verify_chain          exact   the distribution of sampling; one sampled draft a node
//   verify_block          exact   the same, a whole chain judged as one block
//   verify_published      lossy   the same without the residual (verify_chain.cpp): SPACE's
//   verify_multi_round    exact   the distribution of sampling; several sampled drafts a node
//   verify_typical        lossy   Medusa's typical acceptance
//   verify_top_k          lossy   a draft among the K best passes
//
// A rule reads the tree below `root` and the rows, and changes nothing but the random numbers. p is
// the target's distribution (after processors and warpers), q the one from which a draft was really
// drawn, u a uniform number. Every rule stops at a node that ends the text (an EOS token, or
// max_new_tokens reached): no token follows it. A forest is verified root by root.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/capture/records.h"
#include "core/method/step_view.h"
#include "core/sampling/model_rows.h"

namespace triescope {

enum class Sampler : std::uint8_t { kSoftmax, kGumbel };

// Typical acceptance's defaults (Medusa, section 3.3; the reference's posterior threshold and
// alpha).
inline constexpr double kTypicalEpsilon = 0.09, kTypicalDelta = 0.3;

// A node's children that are drafts of this step, in draw order; probes are not drafts.
std::vector<NodeId> drafts_below(const TokenTree& tree, const ModelRows& rows, NodeId node);

struct VerifyInput {
  const StepView& view;
  NodeId root;  // the pending node below which the drafts hang (the tree's root at prefill)
  ModelRows& rows;
  Rng& rng;
  Sampler sampler = Sampler::kSoftmax;
  float typical_epsilon = static_cast<float>(kTypicalEpsilon);  // for verify_typical
  float typical_delta = static_cast<float>(kTypicalDelta);
  int top_k = 1;  // for verify_top_k

  const TokenTree& tree() const { return view.tree; }
  // Whether no token follows this node: it is an EOS, or the text has its full length.
  bool ends(NodeId node) const;
  std::vector<NodeId> drafts_below(NodeId node) const {
    return triescope::drafts_below(tree(), rows, node);
  }
};

struct Verification {
  std::vector<NodeId> path;      // accepted drafts, top down
  std::int32_t next_token = -1;  // the token after them; -1: the last one ends the text
  float next_p = -1;             // p of next_token in the distribution it came from
  float next_u = -1;             // the uniform number that drew it; -1 = none
  capture::Reason next_reason = capture::Reason::kNone;
  // The distribution that next_token was drawn from, where it is not the row's own.
  std::optional<Distribution> drawn_from = {};
  std::vector<capture::VerdictRow> verdicts;  // for the drafts that were checked
};

using VerifyRule = Verification (*)(const VerifyInput&);

Verification verify_greedy(const VerifyInput& input);
Verification verify_deterministic(const VerifyInput& input);
Verification verify_chain(const VerifyInput& input);
Verification verify_block(const VerifyInput& input);
Verification verify_published(const VerifyInput& input);
Verification verify_multi_round(const VerifyInput& input);
Verification verify_typical(const VerifyInput& input);
Verification verify_top_k(const VerifyInput& input);

// The rules share the following.
struct Draw {
  std::int32_t token = -1;
  float p = 0;
  float u = -1;  // -1 with Gumbel-max
};
Draw draw(const Distribution& distribution, Sampler sampler, Rng& rng);
// norm(max(0, scale * p - q)): what is left of p once q had its chance; p where only rounding is left.
Distribution residual(const Distribution& p, const Distribution& q, double scale = 1);
// norm(q without the token): draws without replacement go on with it; q where nothing is left.
Distribution without(const Distribution& q, std::int32_t token);
// The longest path from root over drafts that `accepted` marks. Among paths of one length, the
// larger sum of log p (the target's probability) wins, then the one drawn first.
std::vector<NodeId> longest_accepted_path(const VerifyInput& input,
                                          const std::function<bool(NodeId)>& accepted);

}  // namespace triescope
