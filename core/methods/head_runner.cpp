#include "core/methods/head_runner.h"

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

void HeadRunner::observe(const StepView& view) {
  const auto append = [&](const auto& state_of) {
    const std::size_t before = text_states_.size();
    for (const std::int32_t layer : layers_) {
      const std::span<const float> state = state_of(layer);
      text_states_.insert(text_states_.end(), state.begin(), state.end());
    }
    width_ = text_states_.size() - before;
  };
  if (view.step == 0) {
    const std::int32_t last = view.tree.position(view.frontier.front());
    for (std::int32_t at = 0; at <= last; ++at)
      append([&](std::int32_t layer) { return view.feature_at(at, layer); });
    return;
  }
  for (const NodeId node : view.text) {
    const int row = view.row_of(view.tree[node].parent);
    append([&](std::int32_t layer) { return view.feature(row, layer); });
  }
}

bool HeadRunner::advance(DraftContext& context) {
  const NodeId pending = context.frontier.front();
  if (!runner_.follows(context.tree, pending)) return false;
  drafted_states_.clear();
  runner_.read_inputs_from([this, &tree = context.tree](NodeId node, std::int32_t position) {
    return input_of(tree, node, position);
  });
  if (own_token_)
    runner_.read_tokens_from(
        [this, &tree = context.tree](NodeId node, std::int32_t position, std::int32_t) {
          return token_before(tree, node, position);
        });
  runner_.advance(context.tree, pending, context.stop, kept_depth_);
  kept_depth_ = context.tree[pending].depth;
  first_ = runner_.position(context.tree, pending) + 1;
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
    if (const auto drafted = drafted_states_.find(tree[node].parent);
        drafted != drafted_states_.end())
      return drafted->second;
  const auto at = static_cast<std::size_t>(position - first_) * width_;
  if (position < first_ || at + width_ > text_states_.size())
    throw Error(ErrorCode::kInvalidArgument,
                "draft head: expected the target's state at position " + std::to_string(position) +
                    "; found those of " +
                    std::to_string(width_ == 0 ? 0 : text_states_.size() / width_) +
                    " positions from " + std::to_string(first_) + " on");
  return std::span(text_states_).subspan(at, width_);
}

}  // namespace triescope
