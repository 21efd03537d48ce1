#include "core/methods/layer_search.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/model/sublayers.h"

namespace triescope {
namespace {

constexpr std::size_t kMostKnown =
    64;                          // figures that the process knows: its work grows with the cube
constexpr int kPool = 96;        // lists at random, and as many neighbours, that it looks at
constexpr double kKappa = 2.5;   // bayes_opt's, which the published code runs
constexpr double kNoise = 0.01;  // variance of a figure over a few dozen tokens, of the kernel's 1

// Number of parts that are in one list and not in the other, both of one length.
int apart(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  int both = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    both += a[i] == b[j];
    const bool first = a[i] <= b[j], second = b[j] <= a[i];
    i += first;
    j += second;
  }
  return 2 * (static_cast<int>(a.size()) - both);
}

// Matérn kernel of smoothness 5/2 over lists as points of 0 and 1.
double kernel(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  const double length = std::sqrt(static_cast<double>(std::max<std::size_t>(a.size(), 1)));
  const double r = std::sqrt(5.0 * apart(a, b)) / length;
  return (1 + r + r * r / 3) * std::exp(-r);
}

// A Gaussian process with a constant mean: what it expects of a point, and how sure it is.
class Process {
 public:
  Process(std::vector<std::vector<double>> covariance, const std::vector<double>& figures)
      : size_(figures.size()), lower_(std::move(covariance)), alpha_(figures) {
    for (const double figure : figures) mean_ += figure / static_cast<double>(size_);
    for (double& value : alpha_) value -= mean_;
    // Cholesky: the lower triangle, in place.
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = lower_[i][j];
        for (std::size_t k = 0; k < j; ++k) sum -= lower_[i][k] * lower_[j][k];
        lower_[i][j] = i == j ? std::sqrt(std::max(sum, 1e-9)) : sum / lower_[j][j];
      }
    solve(alpha_);
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) alpha_[i] -= lower_[k][i] * alpha_[k];
      alpha_[i] /= lower_[i][i];
    }
  }

  // mean + kappa * deviation, given the kernel to every known point.
  double upper_bound(std::vector<double> to_known) const {
    double expected = mean_;
    for (std::size_t i = 0; i < size_; ++i) expected += to_known[i] * alpha_[i];
    solve(to_known);
    double variance = 1;
    for (const double value : to_known) variance -= value * value;
    return expected + kKappa * std::sqrt(std::max(variance, 0.0));
  }

 private:
  void solve(std::vector<double>& right) const {  // lower_ * x = right
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) right[i] -= lower_[i][k] * right[k];
      right[i] /= lower_[i][i];
    }
  }

  std::size_t size_;
  std::vector<std::vector<double>> lower_;
  std::vector<double> alpha_;
  double mean_ = 0;
};

}  // namespace

LayerSearch::LayerSearch(int layers, std::vector<std::int32_t> first, std::uint64_t seed)
    : layers_(layers), rng_(seed), best_(std::move(first)) {
  const int most = 2 * std::max(layers - 2, 0);
  if (best_.empty() || best_.size() > static_cast<std::size_t>(most))
    throw Error(
        ErrorCode::kInvalidArgument,
        "skip_search: expected 1 to " + std::to_string(most) + " parts of " +
            std::to_string(layers) +
            " layers to leave out, two a layer, and the first and the last layer stay; found " +
            std::to_string(best_.size()));
}

std::size_t LayerSearch::below(std::size_t count) {
  return std::min(static_cast<std::size_t>(rng_.uniform() * static_cast<double>(count)), count - 1);
}

std::vector<std::int32_t> LayerSearch::middle() const {
  return count_up(2 * (static_cast<std::size_t>(layers_) - 2), attention_of(1));
}

std::vector<std::int32_t> LayerSearch::at_random() {
  std::vector<std::int32_t> all = middle();
  for (std::size_t i = 0; i < best_.size(); ++i) std::swap(all[i], all[i + below(all.size() - i)]);
  all.resize(best_.size());
  std::ranges::sort(all);
  return all;
}

std::vector<std::int32_t> LayerSearch::neighbour() {
  // The list to begin with may lack parts of the first and last layer, which stay in those that are found.
  if (best_.front() < attention_of(1) || best_.back() >= attention_of(layers_ - 1))
    return at_random();
  std::vector<std::int32_t> list = best_, stay;
  for (const std::int32_t part : middle())
    if (std::ranges::find(list, part) == list.end()) stay.push_back(part);
  if (stay.empty()) return list;
  list[below(list.size())] = stay[below(stay.size())];
  std::ranges::sort(list);
  return list;
}

std::vector<std::int32_t> LayerSearch::promising() {
  std::vector<std::vector<double>> covariance;
  std::vector<double> figures;
  for (const Tried& one : tried_) {
    std::vector<double>& row = covariance.emplace_back();
    for (const Tried& other : tried_) row.push_back(kernel(one.left_out, other.left_out));
    row[figures.size()] += kNoise;
    figures.push_back(one.figure);
  }
  const Process process(std::move(covariance), figures);
  std::vector<std::int32_t> found;
  double highest = 0;
  for (int i = 0; i < 2 * kPool; ++i) {
    std::vector<std::int32_t> list = i < kPool ? at_random() : neighbour();
    std::vector<double> to_known;
    for (const Tried& one : tried_) to_known.push_back(kernel(list, one.left_out));
    const double bound = process.upper_bound(std::move(to_known));
    if (!found.empty() && bound <= highest) continue;
    highest = bound;
    found = std::move(list);
  }
  return found;
}

std::vector<std::int32_t> LayerSearch::next() {
  if (tries_ == 0) return best_;
  return tries_ % kBayesEvery == 0 ? promising() : at_random();
}

bool LayerSearch::report(const std::vector<std::int32_t>& left_out, double figure) {
  ++tries_;
  tried_.push_back({left_out, figure});
  if (tried_.size() > kMostKnown) tried_.pop_front();
  const bool better = figure > best_figure_;
  in_vain_ = better ? 0 : in_vain_ + 1;
  if (!better) return false;
  best_figure_ = figure;
  best_ = left_out;
  return true;
}

bool LayerSearch::done() const {
  return best_figure_ >= kGoodEnough || tries_ >= kMostTries || in_vain_ >= kPatience;
}

}  // namespace triescope
