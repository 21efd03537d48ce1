#include "core/kernels/router.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/kernels/activation.h"
#include "core/kernels/row_ops.h"

namespace triescope::kernels {

void choose_experts(std::span<const float> logits, const RouterRule& rule,
                    std::span<ChosenExpert> out) {
  const std::span<const float> bias = rule.selection_bias, scales = rule.expert_scale;
  const auto has_all = [&](std::span<const float> values) {
    return values.empty() || values.size() == logits.size();
  };
  if (out.size() > logits.size() || !has_all(bias) || !has_all(scales))
    throw Error(ErrorCode::kInvalidArgument,
                "router: expected to choose among " + std::to_string(out.size()) +
                    " experts or more, each with a bias or none and a scale or none; found " +
                    std::to_string(logits.size()) + " scores, " + std::to_string(bias.size()) +
                    " biases and " + std::to_string(scales.size()) + " scales");
  std::vector<float> scores(logits.size());
  if (rule.score == RouterScore::kSoftmax) {
    softmax(logits, scores);
  } else {
    std::ranges::transform(logits, scores.begin(), sigmoid);
  }
  std::vector<float> ranked = scores;
  for (std::size_t i = 0; i < bias.size(); ++i) ranked[i] += bias[i];
  // A network that overflowed still has experts; their weights are NaN.
  for (float& rank : ranked)
    if (std::isnan(rank)) rank = -std::numeric_limits<float>::infinity();
  const auto best = top_k(ranked, out.size());
  float sum = rule.sum_offset;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {best[i].second, scores[static_cast<std::size_t>(best[i].second)]};
    sum += out[i].weight;
  }
  for (ChosenExpert& chosen : out) {
    chosen.weight = (rule.normalise ? chosen.weight / sum : chosen.weight) * rule.scale;
    if (!scales.empty()) chosen.weight *= scales[static_cast<std::size_t>(chosen.expert)];
  }
  std::ranges::sort(out, {}, &ChosenExpert::expert);
}

}  // namespace triescope::kernels
