#include "core/methods/draft_text.h"

#include <algorithm>

#include "core/capture/metric_names.h"

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

NodeId hang_chain(DraftContext& context, NodeId parent, std::span<const std::int32_t> tokens,
                  capture::Source source, std::vector<NodeId>& out) {
  TokenTree& tree = context.tree;
  const std::int32_t deepest = tree[context.frontier.front()].depth + context.room;
  for (const std::int32_t token : tokens) {
    if (tree[parent].depth >= deepest) break;
    const Hung hung = tree.hang(parent, TokenId(token), source, kUnknownLogprob);
    if (hung.is_new) out.push_back(hung.node);
    parent = hung.node;
    if (context.run.is_eos(token)) break;
  }
  return parent;
}

NgramTrie::Answer chain_answer(const DraftContext& context, int matched_tokens,
                               std::span<const std::int32_t> tokens) {
  NgramTrie::Answer answer;
  answer.matched_tokens = matched_tokens;
  for (const std::int32_t token : tokens) {
    const auto depth = static_cast<std::int32_t>(answer.nodes.size()) + 1;
    if (depth > context.room) break;
    answer.nodes.push_back({token, depth - 2, depth, 0});
    if (context.run.is_eos(token)) break;
  }
  return answer;
}

std::vector<NodeId> hang_answer(DraftContext& context, const NgramTrie::Answer& answer,
                                Drafts& drafts) {
  std::vector<NodeId> nodes;  // by index in the answer
  for (const NgramTrie::Continuation& found : answer.nodes) {
    const NodeId parent =
        found.parent < 0 ? context.frontier.front() : nodes[static_cast<std::size_t>(found.parent)];
    const Hung hung =
        context.tree.hang(parent, TokenId(found.token), capture::Source::kDraft, kUnknownLogprob);
    if (hung.is_new) drafts.sent.push_back(hung.node);
    nodes.push_back(hung.node);
  }
  if (!context.run.record_rows || nodes.empty()) return nodes;
  drafts.figures.push_back({.node = nodes.front().value,
                            .name = std::string(capture::kMatchedTokens),
                            .value = static_cast<double>(answer.matched_tokens)});
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (answer.nodes[i].frequency > 0)
      drafts.figures.push_back({.node = nodes[i].value,
                                .name = std::string(capture::kPlaces),
                                .value = static_cast<double>(answer.nodes[i].frequency)});
  return nodes;
}

void note_list(Drafts& drafts, const std::string& title, std::span<const ListedToken> tokens) {
  const std::string name = std::string(capture::kTokenList) + title;
  for (const ListedToken& listed : tokens)
    drafts.figures.push_back(
        {.node = listed.node.value, .name = name, .value = static_cast<double>(listed.token)});
}

}  // namespace triescope
