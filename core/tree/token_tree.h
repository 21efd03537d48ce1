// The token tree: the one structure every method works on. Mask, position IDs and KV layout are
// derived from it.
//
// Node 0 is the root and stands for the whole prompt: token -1, depth 0. A node of depth d >= 1 has
// position(i) = prompt_tokens + d - 1; siblings share a position. visible(i) = prompt +
// ancestors(i) + i. Ids are dense, parents come before children, nothing is ever removed (dead
// nodes are marked): the tree is the history. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/capture/records.h"

namespace triescope {

enum class NodeStatus : std::uint8_t {
  kPending,  // hung; not been through a forward
  kLive,     // has KV; on a live path or still undecided in this step
  kDead,     // rejected, pruned, or left behind by all live paths
  kFinished  // ends a finished sequence; its KV is not needed any more
};

struct Node {
  TokenId token;
  NodeId parent;
  NodeId first_child, last_child, next_sibling;
  std::int32_t depth = 0;
  float logprob = 0;  // log p(token | path); NaN while unknown
  float score = 0;    // sum of logprob over the path; NaN while unknown
  float q = 1;        // probability the drafter really drew the token with
  SlotId slot;        // its KV, none while pending or after being freed
  NodeStatus status = NodeStatus::kPending;
  capture::Source source = capture::Source::kRoot;
};

class TokenTree {
 public:
  explicit TokenTree(std::int32_t prompt_tokens);

  std::int32_t prompt_tokens() const { return prompt_tokens_; }
  std::int32_t size() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id.value)]; }
  Node& operator[](NodeId id) { return nodes_[static_cast<std::size_t>(id.value)]; }
  static constexpr NodeId root() { return NodeId{0}; }

  // Hangs a new pending node; a child with the same token may exist (beam search re-adds none,
  // drafters share paths through child()). logprob NaN = unknown yet.
  NodeId add(NodeId parent, TokenId token, capture::Source source, float logprob, float q = 1.0f);
  // The first child of `parent` carrying `token` that is not dead; none if there is none.
  NodeId child(NodeId parent, TokenId token) const;

  std::int32_t position(NodeId id) const { return prompt_tokens_ + (*this)[id].depth - 1; }
  // Tokens from the root's child to `id`; root: empty.
  std::vector<TokenId> tokens_to(NodeId id) const;
  std::vector<NodeId> path_to(NodeId id) const;  // the same, as nodes
  bool is_ancestor_or_self(NodeId ancestor, NodeId id) const;

 private:
  std::int32_t prompt_tokens_;
  std::vector<Node> nodes_;
};

}  // namespace triescope
