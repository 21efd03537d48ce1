#include "core/accept/warpers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/error.h"

namespace triescope {
namespace {

double number_or(const nlohmann::json& settings, const char* name, double otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() || found->is_null() ? otherwise : found->get<double>();
}

// fp32 softmax of the finite scores.
std::vector<float> softmax(std::span<const float> scores) {
  const float best = *std::ranges::max_element(scores);
  std::vector<float> out(scores.size());
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) sum += out[i] = std::exp(scores[i] - best);
  for (float& p : out) p /= static_cast<float>(sum);
  return out;
}

// Keeps the entries with keep[i]; order stays.
void filter(Distribution& d, const std::vector<bool>& keep) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    d.tokens[to] = d.tokens[i];
    d.scores[to] = d.scores[i];
    ++to;
  }
  d.tokens.resize(to);
  d.scores.resize(to);
}

void keep_top_k(Distribution& d, std::size_t k) {
  if (k >= d.size()) return;
  std::vector<float> values = d.scores;
  const auto kth = values.begin() + static_cast<std::ptrdiff_t>(k) - 1;
  std::nth_element(values.begin(), kth, values.end(), std::greater<>());
  std::vector<bool> keep(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) keep[i] = d.scores[i] >= *kth;
  filter(d, keep);
}

void keep_top_p(Distribution& d, double top_p, std::size_t min_keep) {
  const std::vector<float> p = softmax(d.scores);
  std::vector<std::size_t> order(d.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return d.scores[i]; });
  // The comparison happens in fp32, as on a float tensor; the running sum has more bits, as torch's
  // cumsum has.
  const auto limit = static_cast<float>(1 - top_p);
  std::vector<bool> keep(d.size(), true);
  double sum = 0;
  for (std::size_t rank = 0; rank + min_keep < order.size(); ++rank) {
    sum += p[order[rank]];
    if (static_cast<float>(sum) > limit) break;
    keep[order[rank]] = false;
  }
  filter(d, keep);
}

void keep_min_p(Distribution& d, double min_p, std::size_t min_keep) {
  const std::vector<float> p = softmax(d.scores);
  const float limit = static_cast<float>(min_p) * *std::ranges::max_element(p);
  std::vector<bool> keep(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) keep[i] = p[i] >= limit;
  if (min_keep > 1) {
    std::vector<std::size_t> order(d.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return p[i]; });
    for (std::size_t rank = 0; rank < std::min(min_keep, order.size()); ++rank)
      keep[order[rank]] = true;
  }
  filter(d, keep);
}

void keep_typical(Distribution& d, double mass, std::size_t min_keep) {
  const std::vector<float> p = softmax(d.scores);
  std::vector<float> shifted(d.size());
  double entropy = 0;
  for (std::size_t i = 0; i < d.size(); ++i)
    if (p[i] > 0) entropy -= static_cast<double>(p[i]) * std::log(p[i]);
  // Log-probabilities from the scores: exact where p underflows to 0.
  const float best = *std::ranges::max_element(d.scores);
  double sum = 0;
  for (const float s : d.scores) sum += std::exp(s - best);
  const float log_sum = best + static_cast<float>(std::log(sum));
  for (std::size_t i = 0; i < d.size(); ++i)
    shifted[i] = std::abs(-(d.scores[i] - log_sum) - static_cast<float>(entropy));

  std::vector<std::size_t> order(d.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return shifted[i]; });
  const auto limit = static_cast<float>(mass);
  std::size_t last = 0;
  double cumulative = 0;
  for (; last < order.size(); ++last) {
    cumulative += p[order[last]];
    if (!(static_cast<float>(cumulative) < limit)) break;
  }
  last = std::min(last, order.size() - 1);
  const float threshold = shifted[order[last]];
  std::vector<bool> keep(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) keep[i] = shifted[i] <= threshold;
  for (std::size_t rank = 0; rank < std::min(min_keep, order.size()); ++rank)
    keep[order[rank]] = true;
  filter(d, keep);
}

}  // namespace

Warpers::Warpers(const nlohmann::json& settings, int min_tokens_to_keep)
    : min_tokens_to_keep_(static_cast<std::size_t>(std::max(1, min_tokens_to_keep))) {
  if (!settings.is_object()) return;
  temperature_ = static_cast<float>(number_or(settings, "temperature", 1));
  top_k_ = static_cast<int>(number_or(settings, "top_k", 0));
  top_p_ = number_or(settings, "top_p", 1);
  min_p_ = number_or(settings, "min_p", 0);
  typical_p_ = number_or(settings, "typical_p", 1);
  if (!(temperature_ > 0))
    throw Error(ErrorCode::kInvalidArgument,
                "temperature: expected a number above 0, found " + std::to_string(temperature_) +
                    "; for the best token each time take greedy decoding");
}

Distribution Warpers::apply(std::span<const float> scores) const {
  Distribution d;
  d.tokens.reserve(scores.size());
  d.scores.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == -std::numeric_limits<float>::infinity()) continue;
    if (!std::isfinite(scores[i]))
      throw Error(ErrorCode::kInvalidArgument,
                  "logits: expected finite scores, found " + std::to_string(scores[i]) +
                      " for token " + std::to_string(i) +
                      "; the model's weights or its number format are at fault");
    d.tokens.push_back(static_cast<std::int32_t>(i));
    d.scores.push_back(scores[i]);
  }
  if (d.tokens.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "no token is possible here: no_repeat_ngram_size, bad_words_ids and min_new_tokens "
                "together "
                "forbid the whole vocabulary; loosen one of them");
  if (temperature_ != 1.0f)
    for (float& s : d.scores) s /= temperature_;
  if (top_k_ > 0) keep_top_k(d, std::max(static_cast<std::size_t>(top_k_), min_tokens_to_keep_));
  if (top_p_ < 1) keep_top_p(d, top_p_, min_tokens_to_keep_);
  if (min_p_ > 0) keep_min_p(d, min_p_, min_tokens_to_keep_);
  if (typical_p_ < 1) keep_typical(d, typical_p_, min_tokens_to_keep_);
  d.probabilities = softmax(d.scores);
  return d;
}

std::vector<Parameter> warper_parameters() {
  return {
      {.name = "temperature",
       .kind = ParameterKind::kNumber,
       .default_value = 1.0,
       .minimum = 0.01,
       .maximum = 100,
       .choices = {},
       .help =
           "Logits are divided by this: below 1 sharpens the distribution, above 1 flattens it."},
      {.name = "top_k",
       .kind = ParameterKind::kInteger,
       .default_value = 50,
       .minimum = 0,
       .maximum = 10000000,
       .choices = {},
       .help = "Only the k most likely tokens stay (and those level with the k-th). 0 = all."},
      {.name = "top_p",
       .kind = ParameterKind::kNumber,
       .default_value = 1.0,
       .minimum = 0,
       .maximum = 1,
       .choices = {},
       .help = "Only the smallest set of most likely tokens whose probabilities reach this sum "
               "stays. 1 = all."},
      {.name = "min_p",
       .kind = ParameterKind::kNumber,
       .default_value = 0.0,
       .minimum = 0,
       .maximum = 1,
       .choices = {},
       .help =
           "Only tokens with at least this share of the best token's probability stay. 0 = all."},
      {.name = "typical_p",
       .kind = ParameterKind::kNumber,
       .default_value = 1.0,
       .minimum = 0.001,
       .maximum = 1,
       .choices = {},
       .help = "Only the tokens whose -log p lies closest to the entropy stay, until they reach "
               "this sum "
               "(locally typical sampling). 1 = all."},
  };
}

}  // namespace triescope
