// The router of a mixture of experts against its formula in doubles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/kernels/router.h"

using namespace triescope;
using namespace triescope::kernels;

namespace test_router {

struct Plain {
  std::vector<std::int32_t> experts;
  std::vector<double> weights;
};

Plain plain(const std::vector<float>& logits, const RouterRule& rule, std::size_t used) {
  std::vector<double> scores;
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit));
  for (const float logit : logits)
    scores.push_back(rule.score == RouterScore::kSoftmax
                         ? std::exp(static_cast<double>(logit)) / total
                         : 1 / (1 + std::exp(-static_cast<double>(logit))));
  std::vector<std::int32_t> order = count_up(logits.size());
  const auto ranked = [&](std::int32_t i) {
    const auto at = static_cast<std::size_t>(i);
    return scores[at] + (rule.selection_bias.empty() ? 0.0 : rule.selection_bias[at]);
  };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return ranked(a) > ranked(b); });
  Plain result;
  result.experts.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(used));
  std::ranges::sort(result.experts);
  double sum = rule.sum_offset;
  for (const std::int32_t expert : result.experts) sum += scores[static_cast<std::size_t>(expert)];
  for (const std::int32_t expert : result.experts) {
    const auto at = static_cast<std::size_t>(expert);
    result.weights.push_back(scores[at] / (rule.normalise ? sum : 1) * rule.scale *
                             (rule.expert_scale.empty() ? 1.0 : rule.expert_scale[at]));
  }
  return result;
}

// Every rule with and without each of its parts.
std::vector<RouterRule> all_rules(const std::vector<float>& bias,
                                  const std::vector<float>& scales) {
  std::vector<RouterRule> rules;
  for (const RouterScore score : {RouterScore::kSoftmax, RouterScore::kSigmoid})
    for (const bool normalise : {false, true})
      for (const float sum_offset : {0.0f, 0.5f})
        for (const bool biased : {false, true})
          for (const bool scaled : {false, true})
            rules.push_back(
                {.score = score,
                 .selection_bias = biased ? std::span<const float>(bias) : std::span<const float>(),
                 .normalise = normalise,
                 .scale = 2.5f,
                 .sum_offset = sum_offset,
                 .expert_scale =
                     scaled ? std::span<const float>(scales) : std::span<const float>()});
  return rules;
}

TEST_CASE("router: experts and weights are the formula's, for every rule") {
  Rng rng(5);
  for (const std::size_t experts : {1, 2, 7, 8, 60, 128}) {
    for (const std::size_t used : {std::size_t{1}, std::min<std::size_t>(experts, 2), experts}) {
      std::vector<float> logits, bias, scales;
      for (std::size_t i = 0; i < experts; ++i) {
        logits.push_back(static_cast<float>(4 * rng.uniform() - 2));
        bias.push_back(static_cast<float>(rng.uniform()));
        scales.push_back(static_cast<float>(3 * rng.uniform() - 1));
      }
      for (const RouterRule& rule : all_rules(bias, scales)) {
        std::vector<ChosenExpert> got(used);
        choose_experts(logits, rule, got);
        const Plain want = plain(logits, rule, used);
        for (std::size_t i = 0; i < used; ++i) {
          CHECK(got[i].expert == want.experts[i]);
          CHECK(got[i].weight == doctest::Approx(want.weights[i]).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("router: of equal scores the lower index is chosen, and experts come in order") {
  const std::vector<float> logits = {0, 1, 1, 1, 0};
  std::vector<ChosenExpert> got(2);
  choose_experts(logits, {.normalise = true}, got);
  CHECK(got == std::vector<ChosenExpert>{{1, 0.5f}, {2, 0.5f}});
  // A selection bias chooses; the weights stay those of the scores.
  const std::vector<float> bias = {1, 0, 0, 0, 1};
  choose_experts(logits, {.selection_bias = bias, .normalise = true}, got);
  CHECK(got == std::vector<ChosenExpert>{{0, 0.5f}, {4, 0.5f}});
}

TEST_CASE("router: an expert's own scale multiplies its weight and chooses nothing") {
  const std::vector<float> logits = {0, 1, 1, 1, 0}, scales = {9, 2, -4, 0.5f, 9};
  std::vector<ChosenExpert> got(2);
  choose_experts(logits, {.normalise = true, .scale = 3, .expert_scale = scales}, got);
  CHECK(got == std::vector<ChosenExpert>{{1, 3.0f}, {2, -6.0f}});
}

TEST_CASE("router: a NaN among the scores gives experts that exist, and NaN as their weights") {
  const std::vector<float> logits = {0, NAN, 1, NAN};
  std::vector<ChosenExpert> got(3);
  choose_experts(logits, {.normalise = true}, got);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].expert >= (i == 0 ? 0 : got[i - 1].expert + 1));
    CHECK(got[i].expert < 4);
    CHECK(std::isnan(got[i].weight));
  }
}

TEST_CASE("router: more experts than there are, or biases or scales of another size, are refused") {
  const std::vector<float> logits = {0, 1};
  std::vector<ChosenExpert> got(3);
  CHECK_THROWS_AS(choose_experts(logits, {}, got), Error);
  got.resize(1);
  const std::vector<float> bias = {0, 0, 0};
  CHECK_THROWS_AS(choose_experts(logits, {.selection_bias = bias}, got), Error);
  CHECK_THROWS_AS(choose_experts(logits, {.expert_scale = bias}, got), Error);
}

}  // namespace test_router
