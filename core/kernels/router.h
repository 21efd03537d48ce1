// The router of a mixture of experts: which of a layer's experts a row goes through, and with which
// weights.
//
//   s = softmax(logits), or sigmoid(logits) one by one
//   the chosen: those with the largest s + selection_bias; of equal ones the lower index
//   weight of a chosen expert: s, divided by the sum of the chosen and sum_offset if `normalise`,
//   times `scale`, times its expert_scale
//
// With a softmax and `normalise` the weights are the softmax over the chosen logits alone (Mixtral,
// Granite, gpt-oss). A row's experts depend on that row's logits alone. Sources: transformers'
// *TopKRouter classes; "Auxiliary-Loss-Free Load Balancing" (arXiv 2408.15664) for the selection bias.
#pragma once

#include <cstdint>
#include <span>

namespace triescope::kernels {

enum class RouterScore : std::uint8_t { kSoftmax, kSigmoid };

struct RouterRule {
  RouterScore score = RouterScore::kSoftmax;
  std::span<const float> selection_bias = {};  // [experts] or empty
  bool normalise = false;
  float scale = 1, sum_offset = 0;
  std::span<const float> expert_scale = {};  // [experts] or empty
};

struct ChosenExpert {
  std::int32_t expert = 0;
  float weight = 0;
  bool operator==(const ChosenExpert&) const = default;
};

// Writes as many experts as `out` has room for, by ascending index. logits: [experts]; where one is
// NaN, the weights are. Thread-safe.
// Error{kInvalidArgument}: more room than experts, or a selection bias or scales of another size.
void choose_experts(std::span<const float> logits, const RouterRule& rule,
                    std::span<ChosenExpert> out);

}  // namespace triescope::kernels
