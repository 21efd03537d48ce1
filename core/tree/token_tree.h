// The token tree: the one structure that every method works on. Mask, position IDs and KV layout
// are derived from it.
//
// Node 0 is the root and stands for the whole prompt: token -1, depth 0. A node of depth d >= 1 has
// position(i) = prompt_tokens + d - 1; siblings share a position. visible(i) = prompt +
// ancestors(i) + i. Ids are dense, parents come before children, nothing is ever removed (dead
// nodes are marked): the tree is the history. Not thread-safe.
//
// A candidate may become text. A probe never does: it is a row that a method wants computed for
// what it says (SPACE's mask tokens). All nodes below a probe are probes. Rows, slots, positions
// and visibility are the same for both.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/id_vector.h"
#include "core/base/ids.h"
#include "core/capture/records.h"

namespace triescope {

enum class NodeStatus : std::uint8_t {
  kPending,   // hung; waits for its forward
  kLive,      // has KV; on a live path or still undecided in this step
  kDead,      // rejected, pruned, or left behind by all live paths
  kFinished,  // ends a finished sequence; its KV is no longer needed
  kWithdrawn  // drafted, but not sent to the target; if hung again, it is pending again
};

struct Node {
  TokenId token;
  NodeId parent;
  NodeId first_child, last_child, next_sibling;
  std::int32_t depth = 0;
  float logprob = 0;  // log p(token | path), or kUnknownLogprob
  float score = 0;    // sum of logprob over the path, or kUnknownLogprob
  float q = 1;        // probability with which the drafter really drew the token
  NodeStatus status = NodeStatus::kPending;
  capture::Source source = capture::Source::kRoot;
  capture::NodeRole role = capture::NodeRole::kCandidate;

  bool is_probe() const { return role == capture::NodeRole::kProbe; }
};

// The logprob or score of a node that no row of the target has reached yet.
inline constexpr float kUnknownLogprob = std::numeric_limits<float>::quiet_NaN();

// The node that hang() found or made.
struct Hung {
  NodeId node;
  bool is_new = false;
};

class TokenTree {
 public:
  explicit TokenTree(std::int32_t prompt_tokens);

  std::int32_t prompt_tokens() const { return prompt_tokens_; }
  std::int32_t size() const { return nodes_.size(); }
  const Node& operator[](NodeId id) const { return nodes_[id]; }
  Node& operator[](NodeId id) { return nodes_[id]; }
  static constexpr NodeId root() { return NodeId{0}; }

  // Finds the candidate below `parent` that carries `token`, or hangs it as a new pending node: a
  // path is one node. A dead child is history and is not found. A withdrawn one is found, and
  // becomes pending with this source and q. Otherwise source, logprob (or kUnknownLogprob) and q
  // are for a new node only: a node that was there keeps its own. Error{kInvalidArgument}: no such
  // parent, or it is a probe.
  Hung hang(NodeId parent, TokenId token, capture::Source source, float logprob, float q = 1.0f);
  // Like hang(), for a probe, below any node. A probe and a candidate with one token are two nodes.
  Hung hang_probe(NodeId parent, TokenId token, capture::Source source);
  // Adds a second node for a path that has one: beam search over a vocabulary smaller than its
  // candidates goes on with copies of one beam. hang() and child() find the older node.
  NodeId add_copy(NodeId parent, TokenId token, capture::Source source, float logprob);
  // The candidate below `parent` that carries `token`, unless it is dead or withdrawn; else none.
  NodeId child(NodeId parent, TokenId token) const;

  // Sets log p(token | path) of a node, once it is known, and the node's score.
  void set_logprob(NodeId id, float logprob);

  std::int32_t position(NodeId id) const { return prompt_tokens_ + (*this)[id].depth - 1; }
  // Tokens from the root's child to `id`; empty for the root.
  std::vector<TokenId> tokens_to(NodeId id) const;
  std::vector<NodeId> path_to(NodeId id) const;  // the same, as nodes

 private:
  Hung find_or_add(NodeId parent, TokenId token, capture::NodeRole role, capture::Source source,
                   float logprob, float q);
  NodeId add(NodeId parent, TokenId token, capture::NodeRole role, capture::Source source,
             float logprob, float q);

  std::int32_t prompt_tokens_;
  IdVector<NodeId, Node> nodes_;
};

}  // namespace triescope
