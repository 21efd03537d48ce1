#include "core/methods/target_states.h"

#include <string>

#include "core/base/error.h"

namespace triescope {

void TargetStates::append(
    std::vector<float>& to,
    const std::function<std::span<const float>(std::int32_t layer)>& state_of) const {
  for (const std::int32_t layer : layers_) {
    const std::span<const float> state = state_of(layer);
    to.insert(to.end(), state.begin(), state.end());
  }
}

void TargetStates::observe(const StepView& view) {
  if (view.step == 0) {
    const std::int32_t positions = view.tree.position(view.frontier.front()) + 1;
    for (std::int32_t at = 0; at < positions; ++at)
      append(prefill_, [&](std::int32_t layer) { return view.feature_at(at, layer); });
    width_ = prefill_.size() / static_cast<std::size_t>(positions);
    return;
  }
  // The nodes above the next frontier that have a row.
  for (NodeId node : view.next_frontier)
    for (node = view.tree[node].parent; view.row_of(node) >= 0; node = view.tree[node].parent) {
      std::vector<float>& states = nodes_[node];
      if (!states.empty()) break;  // another text has it too, and all above it
      const int row = view.row_of(node);
      append(states, [&](std::int32_t layer) { return view.feature(row, layer); });
    }
}

std::span<const float> TargetStates::of(NodeId node, std::int32_t position) const {
  if (const auto found = nodes_.find(node); found != nodes_.end()) return found->second;
  const auto from = static_cast<std::size_t>(position) * width_;
  if (from + width_ > prefill_.size() || width_ == 0)
    throw Error(
        ErrorCode::kInvalidArgument,
        "draft head: expected the target's state at position " + std::to_string(position) +
            "; found those of " + std::to_string(width_ == 0 ? 0 : prefill_.size() / width_) +
            " positions of the prompt and of " + std::to_string(nodes_.size()) + " later tokens");
  return std::span(prefill_).subspan(from, width_);
}

void TargetStates::forget() {
  prefill_ = {};
  nodes_.clear();
}

}  // namespace triescope
