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
// Above this many, a heap's worth of comparisons beats keeping a sorted list.
constexpr std::size_t kSortedList = 128;

std::int64_t length(std::span<const float> row) { return static_cast<std::int64_t>(row.size()); }

void check_sizes(const char* what, std::size_t in, std::size_t out) {
  if (in == out) return;
  throw Error(ErrorCode::kInvalidArgument, std::string(what) + ": expected an output of " +
                                               std::to_string(in) + " values, found " +
                                               std::to_string(out));
}

// Keeps the k best of what is offered, in order. Offers come with ascending (row, token), so an
// equal score loses to what is there.
class BestList {
 public:
  explicit BestList(std::size_t k) : k_(k) { list_.reserve(k + 1); }

  bool full() const { return list_.size() == k_; }
  float worst() const { return list_.back().score; }
  void offer(JointCandidate c) {
    if (full()) {
      if (!(c.score > worst())) return;
      list_.pop_back();
    }
    const auto at = std::upper_bound(
        list_.begin(), list_.end(), c,
        [](const JointCandidate& a, const JointCandidate& b) { return a.score > b.score; });
    list_.insert(at, c);
  }
  std::vector<JointCandidate> take() { return std::move(list_); }

 private:
  std::size_t k_;
  std::vector<JointCandidate> list_;
};

bool better(const JointCandidate& a, const JointCandidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.row != b.row ? a.row < b.row : a.token < b.token;
}

// The largest x for which x + offset, rounded, does not exceed `score`, or a little less: what is
// above it is compared exactly.
float threshold_for(float score, float offset) {
  if (offset == 0) return score;
  const float x = score - offset;
  const float slack = 4 * std::numeric_limits<float>::epsilon() *
                      (std::fabs(score) + std::fabs(offset) + std::fabs(x));
  return std::isfinite(x) ? x - slack : kMinusInfinity;
}

std::vector<JointCandidate> best_of_all(std::span<const float> rows, std::size_t size,
                                        std::span<const float> offsets, std::size_t k) {
  std::vector<JointCandidate> all;
  all.reserve(rows.size());
  for (std::size_t r = 0; r < offsets.size(); ++r) {
    for (std::size_t t = 0; t < size; ++t) {
      all.push_back({rows[r * size + t] + offsets[r], static_cast<std::int32_t>(r),
                     static_cast<std::int32_t>(t)});
    }
  }
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k), all.end(), better);
  all.resize(k);
  return all;
}

}  // namespace

float log_sum_exp(std::span<const float> row) {
  const CpuKernels& kernels = cpu_kernels();
  const float best = kernels.max(row.data(), length(row));
  if (best == kMinusInfinity) return best;
  return static_cast<float>(static_cast<double>(best) +
                            std::log(kernels.exp_sum(row.data(), length(row), best, nullptr)));
}

void log_softmax(std::span<const float> row, std::span<float> out) {
  check_sizes("log_softmax", row.size(), out.size());
  const float total = log_sum_exp(row);
  if (total == kMinusInfinity) {  // nothing possible: nothing to normalise
    std::ranges::fill(out, kMinusInfinity);
    return;
  }
  for (std::size_t i = 0; i < row.size(); ++i) out[i] = row[i] - total;
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

std::int32_t argmax(std::span<const float> row) {
  if (row.empty())
    throw Error(ErrorCode::kInvalidArgument, "argmax: expected at least one value, found none");
  const float best = cpu_kernels().max(row.data(), length(row));
  return static_cast<std::int32_t>(std::find(row.begin(), row.end(), best) - row.begin());
}

std::vector<std::pair<float, std::int32_t>> top_k(std::span<const float> row, std::size_t k) {
  const float no_offset = 0;
  std::vector<std::pair<float, std::int32_t>> best;
  for (const JointCandidate& c : top_k_joint(row, row.size(), {&no_offset, 1}, k))
    best.emplace_back(c.score, c.token);
  return best;
}

std::vector<JointCandidate> top_k_joint(std::span<const float> rows, std::size_t size,
                                        std::span<const float> offsets, std::size_t k) {
  check_sizes("top_k_joint", offsets.size() * size, rows.size());
  k = std::min(k, rows.size());
  if (k == 0) return {};
  if (k > kSortedList) return best_of_all(rows, size, offsets, k);
  const CpuKernels& kernels = cpu_kernels();
  BestList best(k);
  const auto n = static_cast<std::int64_t>(size);
  for (std::size_t r = 0; r < offsets.size(); ++r) {
    const float* row = rows.data() + r * size;
    const auto offer = [&](std::int64_t t) {
      best.offer({row[t] + offsets[r], static_cast<std::int32_t>(r), static_cast<std::int32_t>(t)});
    };
    std::int64_t t = 0;
    for (; t < n && !best.full(); ++t) offer(t);
    while (t < n) {
      t = kernels.find_greater(row, t, n, threshold_for(best.worst(), offsets[r]));
      if (t < n) offer(t++);
    }
  }
  return best.take();
}

}  // namespace triescope::kernels
