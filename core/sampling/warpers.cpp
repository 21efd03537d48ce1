#include "core/sampling/warpers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/kernels/row_ops.h"

namespace triescope {

using capture::Stage;

namespace {

// fp32 softmax of the finite scores.
std::vector<float> softmax(std::span<const float> scores) {
  std::vector<float> out(scores.size());
  kernels::softmax(scores, out);
  return out;
}

// Keeps the entries with keep[i], in their order.
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

// The k-th largest of the scores, in one pass: most scores lose against the k-th so far and cost
// one comparison.
float kth_largest(std::span<const float> scores, std::size_t k) {
  std::vector<float> best(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(k));
  std::ranges::make_heap(best, std::greater<>());  // smallest in front
  for (const float score : scores.subspan(k)) {
    if (score <= best.front()) continue;
    std::ranges::pop_heap(best, std::greater<>());
    best.back() = score;
    std::ranges::push_heap(best, std::greater<>());
  }
  return best.front();
}

// -sum p log p of a softmax.
double entropy_of(std::span<const float> p) {
  double entropy = 0;
  for (const float share : p)
    if (share > 0) entropy -= static_cast<double>(share) * std::log(share);
  return entropy;
}

void keep_top_k(Distribution& d, std::size_t k) {
  if (k >= d.size()) return;
  const float least = kth_largest(d.scores, k);
  std::vector<bool> keep(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) keep[i] = d.scores[i] >= least;
  filter(d, keep);
}

// transformers considers at most this many tokens.
constexpr std::size_t kTopHTokens = 100;

void keep_top_h(Distribution& d, double top_h) {
  auto order = count_up<std::size_t>(d.size());
  const std::size_t count = std::min(kTopHTokens, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](std::size_t i, std::size_t j) {
                              return d.scores[i] != d.scores[j] ? d.scores[i] > d.scores[j] : i > j;
                            });
  std::vector<float> best(count);
  for (std::size_t rank = 0; rank < count; ++rank) best[rank] = d.scores[order[rank]];
  const std::vector<float> p = softmax(best);
  const auto limit = static_cast<float>(entropy_of(p) * top_h);
  std::vector<bool> keep(d.size(), false);
  keep[order[0]] = true;
  // A token whose p underflows to 0 is never kept, and no token after it is.
  double sum = 0;
  for (std::size_t rank = 0; rank < count && p[rank] > 0; ++rank) {
    sum -= static_cast<double>(p[rank]) * std::log(p[rank]);
    if (!(static_cast<float>(sum) <= limit)) break;
    keep[order[rank]] = true;
  }
  filter(d, keep);
}

void keep_top_p(Distribution& d, double top_p, std::size_t min_keep) {
  const std::vector<float> p = softmax(d.scores);
  auto order = count_up<std::size_t>(d.size());
  const auto ascending = [&](std::size_t i, std::size_t j) {
    return d.scores[i] != d.scores[j] ? d.scores[i] < d.scores[j] : i < j;
  };
  // The comparison is in fp32, as on a float tensor; the running sum has more bits, as torch's
  // cumsum has.
  const auto limit = static_cast<float>(1 - top_p);
  std::vector<bool> keep(d.size(), true);
  const auto drop = [&](std::size_t rank) {
    if (rank + min_keep < order.size()) keep[order[rank]] = false;
  };
  // Bisects for where the sum of the smallest passes the limit: either the lower half goes as a
  // whole, or the cut lies in it.
  std::size_t low = 0, high = order.size();
  double sum = 0;
  const auto at = [&](std::size_t rank) {
    return order.begin() + static_cast<std::ptrdiff_t>(rank);
  };
  while (high - low > 64) {
    const std::size_t middle = low + (high - low) / 2;
    std::nth_element(at(low), at(middle), at(high), ascending);
    double half = 0;
    for (std::size_t rank = low; rank < middle; ++rank) half += p[order[rank]];
    if (static_cast<float>(sum + half) > limit) {
      high = middle;
      continue;
    }
    sum += half;
    low = middle;
  }
  std::sort(at(low), at(high), ascending);
  for (; low < high; ++low) {
    sum += p[order[low]];
    if (static_cast<float>(sum) > limit) break;
  }
  // Everything before `low` goes, except the min_keep best.
  if (low + min_keep > order.size())
    std::nth_element(order.begin(), at(order.size() - std::min(min_keep, order.size())),
                     order.end(), ascending);
  for (std::size_t rank = 0; rank < low; ++rank) drop(rank);
  filter(d, keep);
}

void keep_min_p(Distribution& d, double min_p, std::size_t min_keep) {
  const std::vector<float> p = softmax(d.scores);
  const float limit = static_cast<float>(min_p) * *std::ranges::max_element(p);
  std::vector<bool> keep(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) keep[i] = p[i] >= limit;
  if (min_keep > 1) {
    auto order = count_up<std::size_t>(d.size());
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return p[i]; });
    for (std::size_t rank = 0; rank < std::min(min_keep, order.size()); ++rank)
      keep[order[rank]] = true;
  }
  filter(d, keep);
}

void keep_typical(Distribution& d, double mass, std::size_t min_keep) {
  const std::vector<float> p = softmax(d.scores);
  std::vector<float> shifted(d.size());
  const double entropy = entropy_of(p);
  // Log-probabilities are computed from the scores, which is exact where p underflows to 0.
  const float log_sum = kernels::log_sum_exp(d.scores);
  for (std::size_t i = 0; i < d.size(); ++i)
    shifted[i] = std::abs(-(d.scores[i] - log_sum) - static_cast<float>(entropy));

  auto order = count_up<std::size_t>(d.size());
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

// Shared by epsilon_cutoff and eta_cutoff: keeps tokens whose p is at least the limit, and those
// that tie with the min_keep best.
void keep_probable(Distribution& d, std::span<const float> p, float limit, std::size_t min_keep) {
  const float least = kth_largest(d.scores, std::min(min_keep, d.size()));
  std::vector<bool> keep(d.size());
  for (std::size_t i = 0; i < d.size(); ++i) keep[i] = p[i] >= limit || d.scores[i] >= least;
  filter(d, keep);
}

void keep_epsilon(Distribution& d, double epsilon, std::size_t min_keep) {
  keep_probable(d, softmax(d.scores), static_cast<float>(epsilon), min_keep);
}

void keep_eta(Distribution& d, double eta, std::size_t min_keep) {
  const std::vector<float> p = softmax(d.scores);
  const auto epsilon = static_cast<float>(eta);
  const auto entropy = static_cast<float>(entropy_of(p));
  keep_probable(d, p, std::min(epsilon, std::sqrt(epsilon) * std::exp(-entropy)), min_keep);
}

// epsilon_cutoff and eta_cutoff take effect between 0 and 1.
bool is_cutoff(double value) { return value > 0 && value < 1; }

}  // namespace

Warpers::Warpers(const Settings& settings, int min_tokens_to_keep)
    : temperature_(static_cast<float>(settings.number_or("temperature", 1))),
      top_h_(settings.number_or("top_h", 0)),
      top_k_(settings.integer_or("top_k", 0)),
      top_p_(settings.number_or("top_p", 1)),
      min_p_(settings.number_or("min_p", 0)),
      typical_p_(settings.number_or("typical_p", 1)),
      epsilon_cutoff_(settings.number_or("epsilon_cutoff", 0)),
      eta_cutoff_(settings.number_or("eta_cutoff", 0)),
      min_tokens_to_keep_(static_cast<std::size_t>(std::max(1, min_tokens_to_keep))) {
  if (!(temperature_ > 0))
    throw Error(ErrorCode::kInvalidArgument,
                "temperature: expected a number above 0, found " + std::to_string(temperature_) +
                    "; for the best token each time take greedy decoding");
}

template <class After>
void Warpers::filter_all(Distribution& d, const After& after) const {
  if (top_h_ > 0) {
    keep_top_h(d, top_h_);
    after(Stage::kTopH);
  }
  if (top_k_ > 0) {
    keep_top_k(d, std::max(static_cast<std::size_t>(top_k_), min_tokens_to_keep_));
    after(Stage::kTopK);
  }
  if (top_p_ < 1) {
    keep_top_p(d, top_p_, min_tokens_to_keep_);
    after(Stage::kTopP);
  }
  if (min_p_ > 0) {
    keep_min_p(d, min_p_, min_tokens_to_keep_);
    after(Stage::kMinP);
  }
  if (typical_p_ < 1) {
    keep_typical(d, typical_p_, min_tokens_to_keep_);
    after(Stage::kTypicalP);
  }
  if (is_cutoff(epsilon_cutoff_)) {
    keep_epsilon(d, epsilon_cutoff_, min_tokens_to_keep_);
    after(Stage::kEpsilonCutoff);
  }
  if (is_cutoff(eta_cutoff_)) {
    keep_eta(d, eta_cutoff_, min_tokens_to_keep_);
    after(Stage::kEtaCutoff);
  }
}

Distribution Warpers::apply(std::span<const float> scores) const {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!std::isfinite(scores[i]) && scores[i] != kImpossible)
      throw Error(ErrorCode::kInvalidArgument,
                  "logits: expected finite scores, found " + std::to_string(scores[i]) +
                      " for token " + std::to_string(i) +
                      "; the model's weights or its number format are at fault");
  // Copying applies the first filter: dividing by the temperature keeps the order (and may make
  // scores equal).
  const std::size_t k =
      std::max(static_cast<std::size_t>(std::max(top_k_, 0)), min_tokens_to_keep_);
  const std::size_t most = top_h_ > 0 ? kTopHTokens : top_k_ > 0 ? k : scores.size();
  const bool cut = most < scores.size();
  const float least = cut ? kth_largest(scores, most) / temperature_ : kImpossible;
  Distribution d;
  d.tokens.reserve(cut ? most : scores.size());
  d.scores.reserve(cut ? most : scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const float score = scores[i] / temperature_;
    if (score < least || score == kImpossible) continue;
    d.tokens.push_back(static_cast<std::int32_t>(i));
    d.scores.push_back(score);
  }
  if (d.tokens.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "no token is possible here: no_repeat_ngram_size, bad_words_ids and min_new_tokens "
                "together forbid the whole vocabulary; loosen one of them");
  filter_all(d, [](Stage) {});
  d.probabilities = softmax(d.scores);
  return d;
}

std::vector<capture::StageRow> Warpers::stages(std::span<const float> scores,
                                               std::span<const std::int32_t> tokens) const {
  std::vector<capture::StageRow> rows;
  Distribution d;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] == -std::numeric_limits<float>::infinity()) continue;
    d.tokens.push_back(static_cast<std::int32_t>(i));
    d.scores.push_back(scores[i] / temperature_);
  }
  if (d.tokens.empty()) return rows;
  const auto note = [&](Stage stage) {
    const float log_sum = kernels::log_sum_exp(d.scores);
    for (const std::int32_t token : tokens) {
      const auto at = d.find(token);
      const float p = at < 0 ? 0 : std::exp(d.scores[static_cast<std::size_t>(at)] - log_sum);
      rows.push_back({.stage = stage, .token = token, .p = p});
    }
  };
  if (temperature_ != 1) note(Stage::kTemperature);
  filter_all(d, note);
  return rows;
}

std::vector<Parameter> warper_parameters() {
  Parameter temperature =
      number("temperature", "Temperature", 1.0, 0.01, 100,
             "Logits are divided by this: below 1 sharpens the distribution, above 1 flattens it.");
  temperature.below =
      "0 is greedy decoding: take the method greedy, or verify=greedy where drafts are checked";
  return {
      std::move(temperature),
      zero_is("off",
              number("top_h", "Top-H", 0.0, 0, 1,
                     "Of the 100 most likely tokens only the first whose terms -p log p reach this "
                     "share of their entropy stay (top-H). 0 = off.")),
      zero_is(
          "all",
          integer(
              "top_k", "Top-k", 50, 0, 10000000,
              "Only the k most likely tokens stay (and those that tie with the k-th). 0 = all.")),
      number("top_p", "Top-p", 1.0, 0, 1,
             "Only the smallest set of most likely tokens whose probabilities reach this sum "
             "stays. 1 = all."),
      zero_is(
          "all",
          number("min_p", "Min-p", 0.0, 0, 1,
                 "Only tokens with at least this share of the best token's probability stay. 0 = "
                 "all.")),
      number("typical_p", "Typical p", 1.0, 0.001, 1,
             "Only the tokens whose -log p lies closest to the entropy stay, until they reach "
             "this sum (locally typical sampling). 1 = all."),
      zero_is(
          "off",
          number("epsilon_cutoff", "Epsilon Cutoff", 0.0, 0, 1,
                 "Only tokens of at least this probability stay (epsilon sampling; 3e-4 to 9e-4 in "
                 "the paper). 0 and 1 = off.")),
      zero_is(
          "off",
          number("eta_cutoff", "Eta Cutoff", 0.0, 0, 1,
                 "Only tokens of at least the probability min(eta, sqrt(eta) * e^(-entropy)) stay "
                 "(eta sampling; 3e-4 to 4e-3 in the paper). 0 and 1 = off.")),
  };
}

}  // namespace triescope
