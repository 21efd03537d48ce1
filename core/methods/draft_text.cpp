#include "core/methods/draft_text.h"

#include <algorithm>
#include <limits>

namespace triescope {

std::span<const std::int32_t> DraftText::update(const DraftContext& context) {
  std::size_t old_size = tokens_.size();
  if (!started_) {
    started_ = true;
    tokens_.assign(context.run.prompt.begin(), context.run.prompt.end());
    prompt_tokens_ = tokens_.size();
    old_size = 0;
  }
  const TokenTree& tree = context.tree;
  NodeId node = context.frontier.front();
  const auto size = prompt_tokens_ + static_cast<std::size_t>(tree[node].depth);
  const std::size_t known = tokens_.size();
  tokens_.resize(std::max(size, known));
  for (std::size_t i = size; i > known; --i, node = tree[node].parent)
    tokens_[i - 1] = tree[node].token.value;
  return std::span<const std::int32_t>(tokens_).subspan(old_size);
}

int draft_budget(const RunContext& run) {
  const int told = run.settings.value("num_draft", 0);
  return told > 0 ? told : run.cheap_rows - 1;
}

bool is_eos(const RunContext& run, std::int32_t token) {
  return std::ranges::find(run.eos_token_ids, token) != run.eos_token_ids.end();
}

NodeId hang_chain(DraftContext& context, NodeId parent, std::span<const std::int32_t> tokens,
                  capture::Source source, std::vector<NodeId>& out) {
  TokenTree& tree = context.tree;
  const std::int32_t deepest = tree[context.frontier.front()].depth + context.room;
  for (const std::int32_t token : tokens) {
    if (tree[parent].depth >= deepest) break;
    NodeId node = tree.child(parent, TokenId(token));
    if (!node.valid()) {
      node = tree.add(parent, TokenId(token), source, std::numeric_limits<float>::quiet_NaN());
      out.push_back(node);
    }
    parent = node;
    if (is_eos(context.run, token)) break;
  }
  return parent;
}

}  // namespace triescope
