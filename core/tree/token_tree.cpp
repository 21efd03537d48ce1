#include "core/tree/token_tree.h"

#include <cmath>
#include <string>

#include "core/base/error.h"

namespace triescope {

using capture::NodeRole;

TokenTree::TokenTree(std::int32_t prompt_tokens) : prompt_tokens_(prompt_tokens) {
  Node root;
  root.status = NodeStatus::kLive;
  nodes_.push_back(root);
}

Hung TokenTree::hang(NodeId parent, TokenId token, capture::Source source, float logprob, float q) {
  return find_or_add(parent, token, NodeRole::kCandidate, source, logprob, q);
}

Hung TokenTree::hang_probe(NodeId parent, TokenId token, capture::Source source) {
  return find_or_add(parent, token, NodeRole::kProbe, source, kUnknownLogprob, 1);
}

Hung TokenTree::find_or_add(NodeId parent, TokenId token, NodeRole role, capture::Source source,
                            float logprob, float q) {
  if (!nodes_.contains(parent))
    throw Error(ErrorCode::kInvalidArgument, "token tree: expected a parent from 0 to " +
                                                 std::to_string(size() - 1) + ", found " +
                                                 std::to_string(parent.value));
  for (NodeId id = (*this)[parent].first_child; id.valid(); id = (*this)[id].next_sibling) {
    Node& there = (*this)[id];
    if (there.token != token || there.role != role || there.status == NodeStatus::kDead) continue;
    if (there.status != NodeStatus::kWithdrawn) return {id, false};
    there.status = NodeStatus::kPending;
    there.source = source;
    there.q = q;
    if (!std::isnan(logprob)) set_logprob(id, logprob);
    return {id, true};
  }
  return {add(parent, token, role, source, logprob, q), true};
}

NodeId TokenTree::add_copy(NodeId parent, TokenId token, capture::Source source, float logprob) {
  return add(parent, token, NodeRole::kCandidate, source, logprob, 1);
}

NodeId TokenTree::add(NodeId parent, TokenId token, NodeRole role, capture::Source source,
                      float logprob, float q) {
  if (role == NodeRole::kCandidate && (*this)[parent].is_probe())
    throw Error(ErrorCode::kInvalidArgument,
                "token tree: expected a candidate's parent to be a candidate, found node " +
                    std::to_string(parent.value) + " to be a probe, which never becomes text");
  Node node;
  node.token = token;
  node.parent = parent;
  node.depth = (*this)[parent].depth + 1;
  node.q = q;
  node.source = source;
  node.role = role;
  const NodeId id = nodes_.push_back(node);
  set_logprob(id, logprob);

  Node& above = (*this)[parent];
  if (above.last_child.valid()) {
    (*this)[above.last_child].next_sibling = id;
  } else {
    above.first_child = id;
  }
  above.last_child = id;
  return id;
}

NodeId TokenTree::child(NodeId parent, TokenId token) const {
  for (NodeId id = (*this)[parent].first_child; id.valid(); id = (*this)[id].next_sibling) {
    const Node& node = (*this)[id];
    if (node.token == token && !node.is_probe() && node.status != NodeStatus::kDead &&
        node.status != NodeStatus::kWithdrawn)
      return id;
  }
  return {};
}

void TokenTree::set_logprob(NodeId id, float logprob) {
  Node& node = (*this)[id];
  node.logprob = logprob;
  node.score = (*this)[node.parent].score + logprob;  // NaN where either is unknown
}

std::vector<NodeId> TokenTree::path_to(NodeId id) const {
  std::vector<NodeId> path(static_cast<std::size_t>((*this)[id].depth));
  for (auto at = path.rbegin(); at != path.rend(); ++at, id = (*this)[id].parent) *at = id;
  return path;
}

std::vector<TokenId> TokenTree::tokens_to(NodeId id) const {
  std::vector<TokenId> tokens(static_cast<std::size_t>((*this)[id].depth));
  for (auto at = tokens.rbegin(); at != tokens.rend(); ++at, id = (*this)[id].parent)
    *at = (*this)[id].token;
  return tokens;
}

}  // namespace triescope
