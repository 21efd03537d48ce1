#include "core/methods/head_runner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace triescope {

HeadRunner::HeadRunner(DraftHead& head, std::vector<std::int32_t> layers, const RunContext& run)
    : layers_(std::move(layers)),
      feedback_(head.feedback_layer()),
      prompt_(run.prompt),
      own_token_(head.config.own_token),
      runner_(*head.layers, run.prompt.subspan(1), {}, run.record_rows) {
  runner_.read_features({feedback_});
}

void HeadRunner::append_states(
    std::vector<float>& to,
    const std::function<std::span<const float>(std::int32_t layer)>& state_of) const {
  for (const std::int32_t layer : layers_) {
    const std::span<const float> state = state_of(layer);
    to.insert(to.end(), state.begin(), state.end());
  }
}

void HeadRunner::observe(const StepView& view) {
  if (view.step == 0) {
    const std::int32_t positions = view.tree.position(view.frontier.front()) + 1;
    for (std::int32_t at = 0; at < positions; ++at)
      append_states(prefill_states_,
                    [&](std::int32_t layer) { return view.feature_at(at, layer); });
    width_ = prefill_states_.size() / static_cast<std::size_t>(positions);
    return;
  }
  // What stands above the next frontier and has a row gave its children's states.
  for (NodeId node : view.next_frontier)
    for (node = view.tree[node].parent; view.row_of(node) >= 0; node = view.tree[node].parent) {
      std::vector<float>& states = text_states_[node];
      if (!states.empty()) break;  // another text has it too, and all above it
      const int row = view.row_of(node);
      append_states(states, [&](std::int32_t layer) { return view.feature(row, layer); });
    }
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
  prefill_states_ = {};
  text_states_.clear();
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
  if (node.valid())
    for (const auto* states : {&drafted_states_, &text_states_})
      if (const auto found = states->find(tree[node].parent); found != states->end())
        return found->second;
  const auto at = static_cast<std::size_t>(position) * width_;
  if (at + width_ > prefill_states_.size() || width_ == 0)
    throw Error(ErrorCode::kInvalidArgument,
                "draft head: expected the target's state at position " + std::to_string(position) +
                    "; found those of " +
                    std::to_string(width_ == 0 ? 0 : prefill_states_.size() / width_) +
                    " positions of the prompt and of " + std::to_string(text_states_.size()) +
                    " later tokens");
  return std::span(prefill_states_).subspan(at, width_);
}

}  // namespace triescope
