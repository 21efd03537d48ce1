// The gated half of an MLP: the bits of its two linear layers and the activation, one after another.
#include "core/kernels/gated_linear.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/files/random_blocks.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels {
namespace {

using formats::GgmlType;
using test::random_values;

// gate and up of the given types, `dim` outputs each, with a bias or without.
PackedLinear random_pair(GgmlType gate, GgmlType up, std::int64_t dim, std::int64_t inputs,
                         bool bias, Rng& rng, ThreadPool& pool) {
  PackedLinear packed(std::array{PackedLinear::Part{dim, gate}, PackedLinear::Part{dim, up}},
                      inputs);
  packed.set_stored_rows(0, dim, formats::random_rows(gate, dim, inputs, rng), pool);
  packed.set_stored_rows(dim, dim, formats::random_rows(up, dim, inputs, rng), pool);
  if (bias) packed.set_bias(0, 2 * dim, random_values(2 * dim, rng).data());
  return packed;
}

// gate and up in full, then their product: [rows, dim].
std::vector<float> in_steps(const PackedLinear& w, ActivationKind kind, const float* x,
                            std::int64_t x_stride, std::int64_t rows, ThreadPool& pool) {
  const std::int64_t dim = w.outputs() / 2;
  std::vector<float> both(static_cast<std::size_t>(rows * 2 * dim)),
      out(static_cast<std::size_t>(rows * dim));
  linear(w, x, x_stride, rows, both.data(), 2 * dim, pool);
  gated_activation(kind, both.data(), both.data() + dim, 2 * dim, rows, dim, out.data(), dim, pool);
  return out;
}

TEST_CASE("gated linear: a gated linear layer has the bits of its steps") {
  Rng rng(31);
  // 301 outputs: ten panels, the last not full; 45: fewer panels than threads.
  const std::int64_t inputs = 512, y_stride = 320, x_stride = 528;
  for (const auto& [gate, up] : {std::pair{GgmlType::kF32, GgmlType::kF32},
                                 {GgmlType::kQ4_1, GgmlType::kQ4_1},
                                 {GgmlType::kQ4_K, GgmlType::kQ6_K},
                                 {GgmlType::kBF16, GgmlType::kQ8_0}}) {
    for (const std::int64_t dim : {301, 45}) {
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        const PackedLinear w = random_pair(gate, up, dim, inputs, dim == 45, rng, pool);
        // 300 rows: three panels at once; 1100: one, beyond what is meant to be kept.
        for (const std::int64_t rows : {1, 2, 9, 15, 17, 43, 300, 1100}) {
          const ActivationKind kind = rows == 2   ? ActivationKind::kGelu
                                      : rows == 9 ? ActivationKind::kGeluTanh
                                                  : ActivationKind::kSilu;
          const auto x = random_values(rows * x_stride, rng);
          test::for_each_variant([&](const char* variant) {
            CAPTURE(formats::to_string(gate));
            CAPTURE(variant);
            CAPTURE(dim);
            CAPTURE(threads);
            CAPTURE(rows);
            const auto want = in_steps(w, kind, x.data(), x_stride, rows, pool);
            std::vector<float> y(static_cast<std::size_t>(rows * y_stride), 7.0f);
            gated_linear(w, kind, x.data(), x_stride, rows, y.data(), y_stride, pool);
            for (std::int64_t r = 0; r < rows; ++r) {
              REQUIRE(test::first_difference(y.data() + r * y_stride, want.data() + r * dim, dim) ==
                      -1);
              REQUIRE(std::all_of(y.begin() + r * y_stride + dim, y.begin() + (r + 1) * y_stride,
                                  [](float v) { return v == 7.0f; }));
            }
          });
        }
      }
    }
  }
}

TEST_CASE("a gated linear layer: no rows, other parts") {
  ThreadPool pool(2);
  Rng rng(5);
  const PackedLinear pair = random_pair(GgmlType::kF32, GgmlType::kF32, 40, 32, false, rng, pool);
  const auto x = random_values(32, rng);
  std::vector<float> y(80, 3.0f);
  gated_linear(pair, ActivationKind::kSilu, x.data(), 32, 0, y.data(), 40, pool);
  CHECK(y == std::vector<float>(80, 3.0f));

  const PackedLinear one(80, 32, Precision::kF32);
  const PackedLinear unequal(std::array{PackedLinear::Part{40}, PackedLinear::Part{36}}, 32);
  for (const PackedLinear* w : {&one, &unequal}) {
    CHECK_THROWS_WITH_AS(
        gated_linear(*w, ActivationKind::kSilu, x.data(), 32, 1, y.data(), 40, pool),
        doctest::Contains("expected gate and up as two parts of as many outputs"), Error);
  }
  CHECK(y == std::vector<float>(80, 3.0f));
}

}  // namespace
}  // namespace triescope::kernels
