#include "core/methods/head_runner.h"

#include <algorithm>
#include <utility>

namespace triescope {

HeadRunner::HeadRunner(DraftHead& head, std::vector<std::int32_t> layers, const RunContext& run)
    : target_(std::move(layers)),
      feedback_(head.feedback_layer()),
      prompt_(run.prompt),
      own_token_(head.config.own_token),
      runner_(*head.layers, run.prompt.subspan(1), {}, run.record_rows) {
  runner_.read_features({feedback_});
}

bool HeadRunner::advance(DraftContext& context) {
  if (!std::ranges::all_of(context.frontier,
                           [&](NodeId pending) { return runner_.follows(context.tree, pending); }))
    return false;
  drafted_states_.clear();
  runner_.read_inputs_from([this, &tree = context.tree](NodeId node, std::int32_t position) {
    return input_of(tree, node, position);
  });
  if (own_token_)
    runner_.read_tokens_from(
        [this, &tree = context.tree](NodeId node, std::int32_t position, std::int32_t) {
          return token_before(tree, node, position);
        });
  runner_.advance(context.tree, context.frontier, context.stop, kept_depth_);
  kept_depth_ = context.tree[context.frontier.front()].depth;
  target_.forget();
  keep_states();
  return true;
}

void HeadRunner::forward(const DraftContext& context, std::span<const NodeId> drafts) {
  runner_.forward(context.tree, drafts, context.stop);
  keep_states();
}

std::size_t HeadRunner::levels_below(const DraftContext& context) const {
  return static_cast<std::size_t>(runner_.levels_below(context.tree, context.frontier.front()));
}

void HeadRunner::keep_states() {
  const std::span<const NodeId> rows = runner_.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const float> given = state(static_cast<int>(i));
    drafted_states_[rows[i]].assign(given.begin(), given.end());
  }
}

std::int32_t HeadRunner::token_before(const TokenTree& tree, NodeId node,
                                      std::int32_t position) const {
  if (!node.valid()) return prompt_[static_cast<std::size_t>(position)];
  const NodeId parent = tree[node].parent;
  return tree[parent].depth > 0 ? tree[parent].token.value : prompt_.back();
}

std::span<const float> HeadRunner::input_of(const TokenTree& tree, NodeId node,
                                            std::int32_t position) const {
  const NodeId parent = node.valid() ? tree[node].parent : NodeId();
  if (const auto found = drafted_states_.find(parent); found != drafted_states_.end())
    return found->second;
  return target_.of(parent, position);
}

}  // namespace triescope
