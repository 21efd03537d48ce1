// TargetStates: the target's hidden states that a draft head will read, kept from the step that computed them to the
// head's next forward: all positions at prefill, then those of a step's accepted tokens, of every text that goes on
// (beams are several).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/method/step_view.h"

namespace triescope {

class TargetStates {
 public:
  // `layers`: the states of one row, in order.
  explicit TargetStates(std::vector<std::int32_t> layers) : layers_(std::move(layers)) {}

  // Keeps what the head will need of a step; Drafter::observe() calls it.
  void observe(const StepView& view);
  // [layers, hidden of the target]: the states of a node's row, or of a position of the prefill where the
  // node is none or has no row. Error{kInvalidArgument}: none are kept.
  std::span<const float> of(NodeId node, std::int32_t position) const;
  void forget();

 private:
  void append(std::vector<float>& to,
              const std::function<std::span<const float>(std::int32_t layer)>& state_of) const;

  std::vector<std::int32_t> layers_;
  std::vector<float> prefill_;  // [positions, layers, hidden]
  std::size_t width_ = 0;       // of one position
  std::unordered_map<NodeId, std::vector<float>> nodes_;
};

}  // namespace triescope
