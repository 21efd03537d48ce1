#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/files/random_blocks.h"
#include "core/kernels/linear.h"
#include "core/kernels/reference.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels {
namespace {

using test::random_values;

std::vector<float> run(const PackedLinear& w, const std::vector<float>& x, std::int64_t rows,
                       ThreadPool& pool) {
  std::vector<float> y(static_cast<std::size_t>(rows * w.outputs()));
  linear(w, x.data(), w.inputs(), rows, y.data(), w.outputs(), pool);
  return y;
}

TEST_CASE("linear: it agrees with libtorch over odd sizes, precisions and variants") {
  Rng rng(1);
  ThreadPool pool(2);
  const std::int64_t sizes[][2] = {{1, 1},    {31, 7},    {32, 64},   {33, 65},
                                   {97, 513}, {192, 576}, {100, 1536}};
  test::for_each_variant([&](const char* variant) {
    for (const auto& [n, k] : sizes) {
      for (const std::int64_t rows : {1, 2, 5, 14, 15, 33}) {
        for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
          auto w = random_values(n * k, rng);
          const auto x = random_values(rows * k, rng);
          const auto bias = random_values(n, rng);
          PackedLinear packed(n, k, precision);
          packed.set_rows(0, n, w.data(), pool);
          packed.set_bias(0, n, bias.data());
          if (precision == Precision::kBF16) w = test::rounded_to_bf16(w);
          const auto y = run(packed, x, rows, pool);
          const auto want = linear_ref(w.data(), bias.data(), x.data(), rows, n, k);
          double worst = 0;
          for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t i = 0; i < n; ++i) {
              double size =
                  1e-6;  // the scale that rounding errors are measured on: sum |x| |w| + |bias|
              for (std::int64_t j = 0; j < k; ++j)
                size += std::fabs(double{x[r * k + j]} * w[i * k + j]);
              worst = std::max(worst, std::fabs(double{y[r * n + i]} - want[r * n + i]) /
                                          (size + std::fabs(bias[i])));
            }
          }
          CAPTURE(variant);
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(rows);
          CHECK(worst <= 5e-7);
        }
      }
    }
  });
}

TEST_CASE("linear: a linear layer's rounding errors stay small over long sums") {
  Rng rng(12);
  ThreadPool pool(1);
  const std::int64_t n = 96, k = 8192, rows = 6;
  const auto w = random_values(n * k, rng);
  const auto x = random_values(rows * k, rng);
  PackedLinear packed(n, k, Precision::kF32);
  packed.set_rows(0, n, w.data(), pool);
  const auto want = linear_ref(w.data(), nullptr, x.data(), rows, n, k);
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    const auto y = run(packed, x, rows, pool);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      error += (double{y[i]} - want[i]) * (double{y[i]} - want[i]);
      size += double{want[i]} * want[i];
    }
    // Chains of 128: 2.5e-7. Of 512: 4.3e-7; one chain over all of k: 1.6e-6.
    CAPTURE(std::sqrt(error / size));
    CHECK(std::sqrt(error / size) <= 3.2e-7);
  });
}

TEST_CASE(
    "linear: it gives a row the same bits whatever rows share the call and however many threads run") {
  Rng rng(2);
  ThreadPool one(1);
  const std::int64_t n = 200, k = 1100, most = 33;
  const auto w = random_values(n * k, rng), x = random_values(most * k, rng);
  test::for_each_variant([&](const char* variant) {
    for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
      PackedLinear packed(n, k, precision);
      packed.set_rows(0, n, w.data(), one);
      std::vector<float> alone;
      for (std::int64_t r = 0; r < most; ++r) {
        const auto y = run(packed, {x.begin() + r * k, x.begin() + (r + 1) * k}, 1, one);
        alone.insert(alone.end(), y.begin(), y.end());
      }
      for (int threads = 1; threads <= 4; ++threads) {
        ThreadPool pool(threads);
        for (std::int64_t rows = 1; rows <= most; ++rows) {
          const auto y = run(packed, x, rows, pool);
          CAPTURE(variant);
          CAPTURE(threads);
          CAPTURE(rows);
          REQUIRE(test::first_difference(y.data(), alone.data(), rows * n) == -1);
        }
      }
    }
  });
}

TEST_CASE(
    "linear: weights may come in any chunks, as fp32 or bf16, and rows read back as they went in") {
  Rng rng(3);
  ThreadPool pool(2);
  const std::int64_t n = 77, k = 130;
  const auto w = test::rounded_to_bf16(random_values(n * k, rng));
  const auto bits = test::to_bf16(w);
  ThreadPool one(1);  // has all panels of a chunk at once
  for (ThreadPool* const threads : {&pool, &one}) {
    for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
      PackedLinear packed(n, k, precision);
      // What lies behind a chunk is not the next rows.
      const auto chunk = [&](const auto& all, std::int64_t first, std::int64_t count) {
        auto rows = all;
        rows.assign(all.begin() + first * k, all.begin() + (first + count) * k);
        rows.resize(rows.size() + static_cast<std::size_t>(64 * k), 7);
        return rows;
      };
      packed.set_rows(40, 37, chunk(w, 40, 37).data(), *threads);
      packed.set_rows_bf16(0, 3, chunk(bits, 0, 3).data(), *threads);
      packed.set_rows(3, 37, chunk(w, 3, 37).data(), *threads);
      std::vector<float> row(static_cast<std::size_t>(k));
      for (std::int64_t i = 0; i < n; ++i) {
        CAPTURE(i);
        packed.read_row(i, row.data());
        REQUIRE(test::first_difference(row.data(), w.data() + i * k, k) == -1);
      }
    }
  }
}

TEST_CASE("linear: it can add to what is there, and leaves what lies beside its outputs alone") {
  Rng rng(4);
  ThreadPool pool(2);
  const std::int64_t n = 45, k = 64, rows = 3, stride = 60;
  PackedLinear packed(n, k, Precision::kF32);
  const auto w = random_values(n * k, rng), x = random_values(rows * k, rng);
  packed.set_rows(0, n, w.data(), pool);
  const auto plain = run(packed, x, rows, pool);
  const auto before = random_values(rows * stride, rng);
  auto y = before;
  linear(packed, x.data(), k, rows, y.data(), stride, pool, LinearMode::kAdd);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < stride; ++i) {
      const float want = i < n ? before[r * stride + i] + plain[r * n + i] : before[r * stride + i];
      REQUIRE(y[r * stride + i] == want);
    }
  }
}

TEST_CASE("linear: how far rows lie apart does not show: the sums have the same bits") {
  Rng rng(8);
  ThreadPool pool(2);
  constexpr std::int64_t kOutputs = 70, kInputs = 1024;
  const auto w = random_values(kOutputs * kInputs, rng);
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const auto type : {formats::GgmlType::kF32, formats::GgmlType::kBF16,
                            formats::GgmlType::kQ4_1, formats::GgmlType::kQ6_K}) {
      CAPTURE(formats::to_string(type));
      PackedLinear packed(std::array{PackedLinear::Part{kOutputs, type}}, kInputs);
      if (formats::block_elements(type) == 1) {
        packed.set_rows(0, kOutputs, w.data(), pool);
      } else {
        packed.set_stored_rows(0, kOutputs, formats::random_rows(type, kOutputs, kInputs, rng),
                               pool);
      }
      for (const std::int64_t rows : {1, 4, 5, 12, 28, 29, 33, 300}) {
        CAPTURE(rows);
        const auto x = random_values(rows * kInputs, rng);
        const auto out_of = [&](std::int64_t stride) {
          std::vector<float> apart(static_cast<std::size_t>(rows * stride), 1e30f);
          for (std::int64_t r = 0; r < rows; ++r)
            std::copy_n(x.begin() + r * kInputs, kInputs, apart.begin() + r * stride);
          std::vector<float> y(static_cast<std::size_t>(rows * kOutputs));
          linear(packed, apart.data(), stride, rows, y.data(), kOutputs, pool);
          return y;
        };
        const auto expected = out_of(kInputs + 3);
        CHECK(out_of(kInputs) == expected);        // a multiple of 2 KB
        CHECK(out_of(kInputs + 512) == expected);  // another
      }
    }
  });
}

TEST_CASE("linear: wrong sizes and rows outside a matrix are refused") {
  ThreadPool pool(1);
  CHECK_THROWS_AS(PackedLinear(0, 4, Precision::kF32), Error);
  PackedLinear packed(4, 4, Precision::kF32);
  const std::vector<float> rows(64);
  CHECK_THROWS_WITH_AS(PackedLinear(4, 0, Precision::kF32),
                       "linear layer: expected at least one output and one input, found 4 x 0",
                       Error);
  CHECK_THROWS_WITH_AS(packed.set_rows(3, 2, rows.data(), pool),
                       "PackedLinear::set_rows: expected rows within [0, 4), found [3, 5)", Error);
  CHECK_THROWS_WITH_AS(packed.set_rows(2, -1, rows.data(), pool),
                       "PackedLinear::set_rows: expected rows within [0, 4), found [2, 1)", Error);
  CHECK_THROWS_AS(packed.set_bias(-1, 2, rows.data()), Error);
  float out[4];
  CHECK_THROWS_AS(packed.read_row(4, out), Error);
}

}  // namespace
}  // namespace triescope::kernels
