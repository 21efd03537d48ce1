// Verification: which of a step's draft nodes become text, and which token comes after them. One
// rule a file:
//
//   verify_greedy         exact   the text of greedy decoding verify_greedy.cpp
//   verify_deterministic  exact   the distribution of sampling; drafts with q = 1
//   verify_deterministic.cpp verify_chain          exact   the distribution of sampling; one
//   sampled draft a node    verify_chain.cpp verify_multi_round    exact   the distribution of
//   sampling; several sampled drafts      verify_multi_round.cpp verify_typical        lossy
//   Medusa's typical acceptance                               verify_typical.cpp verify_top_k lossy
//   a draft among the K best passes                           verify_top_k.cpp
//
// A rule reads the tree below `root` and the rows; it changes nothing but the random numbers. p is
// the target's distribution (after processors and warpers), q the one a draft was really drawn
// from, u a uniform number. Every rule stops at a node that ends the text (an EOS token, or
// max_new_tokens reached): there is no token after it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/accept/distribution.h"
#include "core/accept/model_rows.h"
#include "core/base/rng.h"
#include "core/capture/records.h"
#include "core/tree/token_tree.h"

namespace triescope {

// How drafts below one node were drawn, where they were: q, and the draws in their order. A token
// drawn twice appears twice (its node is shared).
struct Proposal {
  Distribution q;
  std::vector<NodeId> draws;
  bool replacement = true;  // drawn with replacement
};

enum class Sampler : std::uint8_t { kSoftmax, kGumbel };

struct VerifyInput {
  const TokenTree& tree;
  NodeId root;  // the pending node that the drafts hang below (the tree's root at prefill)
  ModelRows& rows;
  std::span<const std::int32_t> eos_token_ids;
  int max_new_tokens;
  Rng& rng;
  Sampler sampler = Sampler::kSoftmax;
  // Proposal of the drafts below a node; null or a null answer = deterministic drafts, q = 1.
  std::function<const Proposal*(NodeId)> proposal = {};
  float typical_epsilon = 0.09f;  // verify_typical
  float typical_delta = 0.3f;
  int top_k = 1;  // verify_top_k

  bool is_eos(std::int32_t token) const;
  // No token follows this node: it is an EOS, or the text has its full length.
  bool ends(NodeId node) const;
  // Children of a node that are drafts of this step, in draw order.
  std::vector<NodeId> drafts_below(NodeId node) const;
};

struct Verification {
  std::vector<NodeId> path;      // accepted drafts, top down
  std::int32_t next_token = -1;  // after them; -1: the last one ends the text
  float next_p = -1;             // of next_token, in the distribution it came from
  float next_u = -1;             // the uniform it was drawn with; -1 = none
  capture::Reason next_reason = capture::Reason::kNone;
  std::vector<capture::VerdictRow> verdicts;  // of the drafts that were looked at
};

using VerifyRule = Verification (*)(const VerifyInput&);

Verification verify_greedy(const VerifyInput& input);
Verification verify_deterministic(const VerifyInput& input);
Verification verify_chain(const VerifyInput& input);
Verification verify_multi_round(const VerifyInput& input);
Verification verify_typical(const VerifyInput& input);
Verification verify_top_k(const VerifyInput& input);

// Shared by the rules.
struct Draw {
  std::int32_t token = -1;
  float p = 0;
  float u = -1;  // -1 with Gumbel-max
};
Draw draw(const Distribution& distribution, Sampler sampler, Rng& rng);
// norm(max(0, p - q)): what is left of p once q had its chance. Where nothing is left but rounding:
// p.
Distribution residual(const Distribution& p, const Distribution& q);
// norm(q without the token): what draws without replacement go on with. Where nothing is left: q.
Distribution without(const Distribution& q, std::int32_t token);
// Of the paths from root over drafts that `accepted` marks: the longest, of equals the one with the
// larger sum of log p (the target's probability), then the first drawn.
std::vector<NodeId> longest_accepted_path(const VerifyInput& input,
                                          const std::function<bool(NodeId)>& accepted);

}  // namespace triescope
