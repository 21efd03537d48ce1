// The CUDA kernel that finds the log of the sum of exponentials and the best tokens of rows of logits,
// against the CPU twins: its own source on the CPU (always), and the module's on a GPU where one
// answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/kernels/row_ops.h"
#include "tests/unit/kernels/cuda_place.h"
// After the stand-in: the kernel itself.
#include "core/kernels/row_summary.cu"
#include "tests/support/skip.h"

namespace triescope::kernels {
namespace {

using namespace test;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Logits = RowSummaryInputs;

std::span<const float> row_of(const Logits& logits, int r) {
  return std::span(logits.x).subspan(static_cast<std::size_t>(r * logits.stride),
                                     static_cast<std::size_t>(logits.count));
}

// What lies between the rows: NaN.
Logits logits_of(const std::vector<Floats>& rows, int gap = 0) {
  Logits all;
  all.rows = static_cast<int>(rows.size());
  all.count = static_cast<int>(rows[0].size());
  all.stride = all.count + gap;
  for (const Floats& row : rows) {
    REQUIRE(row.size() == rows[0].size());
    all.x.insert(all.x.end(), row.begin(), row.end());
    all.x.insert(all.x.end(), static_cast<std::size_t>(gap), kNaN);
  }
  return all;
}

struct Summaries {
  Floats log_sum, values;
  std::vector<std::int32_t> tokens;
};

Summaries run(Logits logits, int k, const CudaModule* gpu) {
  logits.k = k;
  CudaArrays on(module_of(gpu));
  const auto rows = static_cast<std::size_t>(logits.rows),
             best = rows * static_cast<std::size_t>(k);
  const TriescopeRowSummary call = launched(logits, on, module_of(gpu));
  return {on.numbers<float>(call.log_sum, rows), on.numbers<float>(call.values, best),
          on.numbers<std::int32_t>(call.tokens, best)};
}

double ulp(float v) { return std::nextafter(std::fabs(v), kInfinity) - double{std::fabs(v)}; }

double exact_log_sum(std::span<const float> row) {
  const double largest = *std::ranges::max_element(row);
  double sum = 0;
  for (const float v : row) sum += std::exp(v - largest);
  return largest + std::log(sum);
}

// The best tokens are top_k's, value for value; the log-sum keeps to its contract.
void check_rows(Logits logits, int k, const CudaModule* gpu) {
  CAPTURE(logits.count);
  CAPTURE(k);
  logits.k = k;
  for (const auto part : {Logits::Part::kBest, Logits::Part::kLogSum}) {
    logits.compared = part;
    check_case(logits, gpu);
  }
  const Summaries got = run(logits, k, gpu);
  for (int r = 0; r < logits.rows; ++r) {
    CAPTURE(r);
    const std::span<const float> row = row_of(logits, r);
    const float sum = got.log_sum[static_cast<std::size_t>(r)], twin = log_sum_exp(row);
    if (twin == -kInfinity) {
      CHECK(sum == twin);
      continue;
    }
    CHECK(std::fabs(sum - exact_log_sum(row)) <= std::max(2e-6, 2 * ulp(twin)));
  }
}

Floats random_row(int count, Rng& rng) { return test::random_values(count, rng, 4.0f); }

void check_row_summary(const CudaModule* gpu) {
  Rng rng(31);
  for (const auto& [count, k] : {std::pair{1, 1},
                                 {5, 1},
                                 {5, 5},
                                 {255, 16},
                                 {255, 64},
                                 {4095, 2},
                                 {4095, 63},
                                 {4096, 64},
                                 {4097, 64},
                                 {4097, 16},
                                 {8200, 2},
                                 {49152, 16},
                                 {151936, 1},
                                 {151936, 64}}) {
    check_rows(logits_of({random_row(count, rng)}), k, gpu);
    if (count > 8200) continue;
    // Rows apart, and not at 16 bytes.
    check_rows(
        logits_of({random_row(count, rng), random_row(count, rng), random_row(count, rng)}, 3), k,
        gpu);
  }
}

// Logits as they come in 16 bits: many are equal. And rows of one value, of both zeros, of few
// tokens that are possible, of none, all in several parts.
void check_row_summary_ties(const CudaModule* gpu) {
  Rng rng(32);
  constexpr int kCount = 8200;
  Floats few_values = random_row(kCount, rng);
  for (float& v : few_values) v = std::round(v / 2);
  const Floats equal(kCount, 1.5f), none(kCount, -kInfinity);
  Floats zeros(kCount, 0.0f);
  for (std::size_t i = 0; i < zeros.size(); i += 3) zeros[i] = -0.0f;
  Floats one_possible = none, few_possible = none, at_ends = none;
  one_possible[kCount - 1] = -3;
  for (const std::size_t t : {7, 4095, 4096, 5000, 8191, 8192}) few_possible[t] = -1e4f;
  at_ends.front() = 2;
  at_ends.back() = 2;
  Floats steep(kCount), far(kCount, 3e38f);
  for (std::size_t i = 0; i < steep.size(); ++i) steep[i] = static_cast<float>(i) / 16;
  far[3] = -3e38f;
  const Logits all =
      logits_of({few_values, equal, none, zeros, one_possible, few_possible, at_ends, steep, far});
  for (const int k : {1, 2, 16}) check_rows(all, k, gpu);
  check_rows(logits_of({few_possible}), 64, gpu);
  check_rows(logits_of({Floats(64, -kInfinity), Floats(64, 0.0f)}), 64, gpu);
  check_rows(logits_of({Floats(2, -kInfinity)}), 1, gpu);
}

// A NaN leaves what is found sound: different tokens of the row, NaNs as if they were -inf.
void check_row_summary_nan(const CudaModule* gpu) {
  Rng rng(33);
  constexpr int kCount = 4100, kBest = 6;
  const Floats plain = random_row(kCount, rng);
  Floats one = plain, few(kCount, kNaN), infinite = plain, below(kCount, -kInfinity);
  one[17] = kNaN;
  few[4098] = 1;
  few[20] = -kInfinity;
  infinite[4099] = kInfinity;
  infinite[4] = kInfinity;
  below[4097] = kNaN;
  const std::vector<Floats> rows = {one, few, Floats(kCount, kNaN), infinite, below, plain};
  const Summaries got = run(logits_of(rows), kBest, gpu);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    CAPTURE(r);
    Floats sound = rows[r];
    for (float& v : sound) v = std::isnan(v) ? -kInfinity : v;
    const auto want = top_k(sound, kBest);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK(got.values[r * kBest + i] == want[i].first);
      CHECK(got.tokens[r * kBest + i] == want[i].second);
    }
    CHECK(std::isfinite(got.log_sum[r]) == (r == rows.size() - 1));
    CHECK(std::isnan(got.log_sum[r]) == (r < rows.size() - 1));
  }
}

void check_row_summary_alone(const CudaModule* gpu) {
  Rng rng(34);
  constexpr int kCount = 5003, kBest = 9;
  std::vector<Floats> rows;
  for (int r = 0; r < 5; ++r) rows.push_back(random_row(kCount, rng));
  rows[1].assign(kCount, kNaN);
  rows[3].assign(kCount, kInfinity);
  const Summaries together = run(logits_of(rows, 5), kBest, gpu);
  for (const std::size_t r : {0u, 2u, 4u}) {
    CAPTURE(r);
    const auto bits_from = [&](const Floats& values, std::size_t at, const Floats& alone) {
      return first_difference(values.data() + at, alone.data(),
                              static_cast<std::int64_t>(alone.size()));
    };
    const Summaries alone = run(logits_of({rows[r]}), kBest, gpu);
    CHECK(bits_from(together.log_sum, r, alone.log_sum) == -1);
    CHECK(bits_from(together.values, r * kBest, alone.values) == -1);
    CHECK(std::equal(alone.tokens.begin(), alone.tokens.end(),
                     together.tokens.begin() + static_cast<std::ptrdiff_t>(r * kBest)));
    // Nor does the sum depend on how many are asked for.
    CHECK(bits_from(together.log_sum, r, run(logits_of({rows[r]}), 1, gpu).log_sum) == -1);
  }
}

TEST_CASE("CUDA row summary: its source run on the CPU agrees with the CPU twins") {
  check_row_summary(nullptr);
}

TEST_CASE(
    "CUDA row summary: its source run on the CPU: equal and impossible tokens come in order of index") {
  check_row_summary_ties(nullptr);
}

TEST_CASE(
    "CUDA row summary: its source run on the CPU: a row alone has the bits it has in company") {
  check_row_summary_alone(nullptr);
}

TEST_CASE(
    "CUDA row summary: its source run on the CPU: a NaN shows in the sum, and the best are tokens") {
  check_row_summary_nan(nullptr);
}

TEST_CASE("CUDA row summary: it refuses what its contract excludes and launches nothing") {
  std::vector<float> x(300), log_sum(2), values(8);
  std::vector<std::int32_t> tokens(8);
  alignas(16) std::array<unsigned char, 1024> scratch{};
  TriescopeRowSummary call = {};
  call.x = x.data();
  call.row_stride = 150;
  call.log_sum = log_sum.data();
  call.values = values.data();
  call.tokens = tokens.data();
  call.rows = 2;
  call.count = 150;
  call.k = 4;
  call.scratch = scratch.data();
  call.scratch_bytes = triescope_cuda_row_summary_scratch(2, 150, 4);
  REQUIRE(call.scratch_bytes > 0);
  REQUIRE(call.scratch_bytes <= scratch.size());
  using Call = TriescopeRowSummary;
  check_refused(
      triescope_cuda_row_summary, call, [](Call& c) { c.rows = -1; }, [](Call& c) { c.k = 0; },
      [](Call& c) { c.k = kTriescopeRowSummaryBest + 1; }, [](Call& c) { c.count = 3; },
      [](Call& c) { c.count = 0; }, [](Call& c) { c.count = 151; },
      [](Call& c) { c.row_stride = c.count = kTriescopeRowSummaryTokens + 1; },
      [](Call& c) { c.x = nullptr; }, [](Call& c) { c.log_sum = nullptr; },
      [](Call& c) { c.values = nullptr; }, [](Call& c) { c.tokens = nullptr; },
      [](Call& c) { c.scratch = nullptr; }, [&](Call& c) { c.scratch = scratch.data() + 8; },
      [](Call& c) { --c.scratch_bytes; });
  call.rows = 0;
  call.x = nullptr;
  call.scratch = nullptr;
  call.scratch_bytes = 0;
  CHECK(triescope_cuda_row_summary(&call, nullptr) == 0);
  CHECK(::cuda_stand_in::launches.empty());
  CHECK(triescope_cuda_row_summary_scratch(0, 150, 4) == 0);
  CHECK(triescope_cuda_row_summary_scratch(2, 150, 65) == 0);
  CHECK(triescope_cuda_row_summary_scratch(2, 3, 4) == 0);
  // More than 4 GiB is told as well.
  CHECK(triescope_cuda_row_summary_scratch(1 << 20, kTriescopeRowSummaryTokens, 64) ==
        (std::size_t{1} << 26) * (8 + 64 * 8));
}

TEST_CASE("CUDA row summary: it takes two launches, the first a block for every row and part") {
  Rng rng(35);
  ::cuda_stand_in::launches.clear();
  ::cuda_stand_in::blocks.clear();
  run(logits_of({random_row(4097, rng), random_row(4097, rng), random_row(4097, rng)}), 1, nullptr);
  CHECK(::cuda_stand_in::launches == "summary_of_parts\nsummary_of_rows\n");
  CHECK(::cuda_stand_in::blocks == std::vector<long>{6, 3});
}

TEST_CASE("CUDA row summary: on the GPU it agrees with the CPU twins, row by row, and shows NaNs") {
  const char* missing = nullptr;
  const CudaModule* gpu = answering_gpu(missing);
  if (gpu == nullptr) TRIESCOPE_SKIP(missing);
  check_row_summary(gpu);
  check_row_summary_ties(gpu);
  check_row_summary_alone(gpu);
  check_row_summary_nan(gpu);
}

}  // namespace
}  // namespace triescope::kernels
