#include "core/tree/token_tree.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace triescope {

TokenTree::TokenTree(std::int32_t prompt_tokens) : prompt_tokens_(prompt_tokens) {
  Node root;
  root.status = NodeStatus::kLive;
  nodes_.push_back(root);
}

NodeId TokenTree::add(NodeId parent, TokenId token, capture::Source source, float logprob,
                      float q) {
  if (!parent.valid() || parent.value >= size())
    throw Error(ErrorCode::kInvalidArgument, "token tree: expected a parent from 0 to " +
                                                 std::to_string(size() - 1) + ", found " +
                                                 std::to_string(parent.value));
  const NodeId id{size()};
  Node node;
  node.token = token;
  node.parent = parent;
  node.depth = (*this)[parent].depth + 1;
  node.logprob = logprob;
  node.score = (*this)[parent].score + logprob;  // NaN where either is unknown
  node.q = q;
  node.source = source;
  nodes_.push_back(node);

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
  for (NodeId id = (*this)[parent].first_child; id.valid(); id = (*this)[id].next_sibling)
    if ((*this)[id].token == token && (*this)[id].status != NodeStatus::kDead) return id;
  return {};
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

bool TokenTree::is_ancestor_or_self(NodeId ancestor, NodeId id) const {
  const std::int32_t depth = (*this)[ancestor].depth;
  while ((*this)[id].depth > depth) id = (*this)[id].parent;
  return id == ancestor;
}

}  // namespace triescope
