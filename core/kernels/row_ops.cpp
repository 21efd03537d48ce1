#include "core/kernels/row_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/kernels/cpu/table.h"

namespace triescope::kernels {

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
// Above this many, a heap needs fewer comparisons than a sorted list.
constexpr std::size_t kSortedList = 128;

std::int64_t length(std::span<const float> row) { return static_cast<std::int64_t>(row.size()); }

void check_sizes(const char* what, std::size_t in, std::size_t out) {
  if (in == out) return;
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + ": expected an output of " +
                                               std::to_string(in) + " values, found " +
                                               std::to_string(out));
}

// The largest x for which x + offset, rounded, does not exceed `score`, or a little less: values
// above it are compared exactly.
float threshold_for(float score, float offset) {
  if (offset == 0) return score;
  const float x = score - offset;
  const float slack = 4 * std::numeric_limits<float>::epsilon() *
                      (std::fabs(score) + std::fabs(offset) + std::fabs(x));
  return std::isfinite(x) ? x - slack : kMinusInfinity;
}

}  // namespace

float log_sum_exp(std::span<const float> row) {
  const CpuKernels& kernels = cpu_kernels();
  const float best = kernels.max(row.data(), length(row));
  if (best == kMinusInfinity) return best;
  return static_cast<float>(static_cast<double>(best) +
                            std::log(kernels.exp_sum(row.data(), length(row), best, nullptr)));
}

float log_softmax(std::span<const float> row, std::span<float> out) {
  check_sizes("log_softmax", row.size(), out.size());
  const float total = log_sum_exp(row);
  if (total == kMinusInfinity) {  // nothing is possible, so there is nothing to normalise
    std::ranges::fill(out, kMinusInfinity);
  } else {
    cpu_kernels().subtract(row.data(), total, length(row), out.data());
  }
  return total;
}

void softmax(std::span<const float> row, std::span<float> out) {
  check_sizes("softmax", row.size(), out.size());
  const CpuKernels& kernels = cpu_kernels();
  const float best = kernels.max(row.data(), length(row));
  if (best == kMinusInfinity) {
    std::ranges::fill(out, 0.0f);
    return;
  }
  const double sum = kernels.exp_sum(row.data(), length(row), best, out.data());
  kernels.scale(out.data(), static_cast<float>(1 / sum), length(row));
}

float largest(std::span<const float> row) {
  if (row.empty())
    throw Error(ErrorCode::kInvalidArgument, "largest: expected at least one value, found none");
  return cpu_kernels().max(row.data(), length(row));
}

std::int32_t argmax(std::span<const float> row) {
  if (row.empty())
    throw Error(ErrorCode::kInvalidArgument, "argmax: expected at least one value, found none");
  const float best = largest(row);
  return static_cast<std::int32_t>(std::find(row.begin(), row.end(), best) - row.begin());
}

std::vector<std::pair<float, std::int32_t>> top_k(std::span<const float> row, std::size_t k) {
  k = std::min(k, row.size());
  std::vector<std::pair<float, std::int32_t>> best;
  if (k > kSortedList) {
    for (std::size_t t = 0; t < row.size(); ++t)
      best.emplace_back(row[t], static_cast<std::int32_t>(t));
    std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(k), best.end(),
                      [](const auto& a, const auto& b) {
                        return a.first != b.first ? a.first > b.first : a.second < b.second;
                      });
    best.resize(k);
    return best;
  }
  JointTopK joint(k);
  joint.add_row(0, 0, row);
  for (const JointCandidate& c : joint.best()) best.emplace_back(c.score, c.token);
  return best;
}

JointTopK::JointTopK(std::size_t k) : k_(k) { best_.reserve(k + 1); }

// Offers come with ascending (row, token), so an equal score loses to an earlier one.
void JointTopK::offer(const JointCandidate& candidate) {
  if (full()) {
    if (!(candidate.score > best_.back().score)) return;
    best_.pop_back();
  }
  const auto at = std::upper_bound(
      best_.begin(), best_.end(), candidate,
      [](const JointCandidate& a, const JointCandidate& b) { return a.score > b.score; });
  best_.insert(at, candidate);
}

void JointTopK::add_values(std::int32_t index, float offset,
                           std::span<const std::pair<float, std::int32_t>> values) {
  if (k_ == 0) return;
  for (const auto& [value, token] : values) offer({value + offset, value, index, token});
}

void JointTopK::add_row(std::int32_t index, float offset, std::span<const float> row) {
  if (k_ == 0) return;
  const CpuKernels& kernels = cpu_kernels();
  const std::int64_t n = length(row);
  const auto offer_token = [&](std::int64_t t) {
    const float value = row[static_cast<std::size_t>(t)];
    offer({value + offset, value, index, static_cast<std::int32_t>(t)});
  };
  std::int64_t t = 0;
  for (; t < n && !full(); ++t) offer_token(t);
  while (t < n) {
    t = kernels.find_greater(row.data(), t, n, threshold_for(best_.back().score, offset));
    if (t < n) offer_token(t++);
  }
}

}  // namespace triescope::kernels
