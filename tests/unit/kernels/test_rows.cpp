#include <doctest/doctest.h>

#include <cmath>

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/base/error.h"
#include "core/kernels/activation.h"
#include "core/kernels/cpu/table.h"
#include "core/kernels/norm.h"
#include "core/kernels/reference.h"
#include "core/kernels/rope.h"
#include "core/kernels/row_ops.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels {
namespace {

using test::random_values;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// |got - want| <= relative * |want| + absolute, at every place
void check_close(const std::vector<float>& got, const std::vector<float>& want, double relative,
                 double absolute) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::fabs(double{got[i]} - want[i]) /
                                (relative * std::fabs(double{want[i]}) + absolute));
  }
  CHECK(worst <= 1.0);
}

TEST_CASE("rows: norms agree with libtorch over odd widths") {
  Rng rng(1);
  ThreadPool pool(2);
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const std::int64_t dim : {1, 3, 16, 63, 64, 576, 577}) {
      for (const std::int64_t rows : {1, 5, 64}) {
        CAPTURE(dim);
        const auto x = random_values(rows * dim, rng, 3.0f), w = random_values(dim, rng),
                   b = random_values(dim, rng);
        std::vector<float> out(x.size());
        for (const bool plus_one : {false, true}) {
          rms_norm(x.data(), dim, {rows, dim}, w.data(), 1e-5f, plus_one, out.data(), dim, pool);
          check_close(out, rms_norm_ref(x.data(), rows, dim, w.data(), 1e-5f, plus_one), 1e-6,
                      1e-6);
        }
        rms_norm(x.data(), dim, {rows, dim}, nullptr, 1e-5f, false, out.data(), dim, pool);
        check_close(out, rms_norm_ref(x.data(), rows, dim, nullptr, 1e-5f, false), 1e-6, 1e-6);
        if (dim == 1) continue;  // its variance is 0
        layer_norm(x.data(), dim, {rows, dim}, w.data(), b.data(), 1e-5f, out.data(), dim, pool);
        check_close(out, layer_norm_ref(x.data(), rows, dim, w.data(), b.data(), 1e-5f), 3e-6,
                    3e-6);
      }
    }
  });
}

TEST_CASE("rows: a norm in place, of every head, gives the bits of the norm of that head") {
  Rng rng(2);
  ThreadPool pool(2);
  const int heads = 3, head_dim = 20;
  const auto x = random_values(4 * 70, rng), w = random_values(head_dim, rng);
  auto y = x;
  rms_norm_heads(y.data(), 70, 4, heads, head_dim, w.data(), 1e-6f, false, pool);
  for (int r = 0; r < 4; ++r) {
    for (int h = 0; h < heads; ++h) {
      float one[head_dim];
      const float* from = x.data() + r * 70 + h * head_dim;
      rms_norm(from, head_dim, {1, head_dim}, w.data(), 1e-6f, false, one, head_dim, pool);
      CHECK(test::first_difference(one, y.data() + r * 70 + h * head_dim, head_dim) == -1);
    }
    CHECK(y[static_cast<std::size_t>(r * 70 + 60)] == x[static_cast<std::size_t>(r * 70 + 60)]);
  }
}

TEST_CASE(
    "rows: epsilon is added to the mean of the squares, under the root: small values by hand") {
  ThreadPool pool(1);
  // Mean of the squares 0.01, variance 0.01: with an epsilon of 0.03 the divisor is 0.2.
  const std::vector<float> x = {0.1f, -0.1f, 0.1f, -0.1f}, w = {1, 2, -1, 0.5f}, b = {0, 1, 0, -1};
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    std::vector<float> out(4);
    rms_norm(x.data(), 4, {1, 4}, w.data(), 0.03f, false, out.data(), 4, pool);
    check_close(out, {0.5f, -1, -0.5f, -0.25f}, 1e-6, 1e-7);
    check_close(out, rms_norm_ref(x.data(), 1, 4, w.data(), 0.03f, false), 1e-6, 1e-7);
    rms_norm(x.data(), 4, {1, 4}, w.data(), 0.03f, true, out.data(), 4, pool);
    check_close(out, {1, -1.5f, 0, -0.75f}, 1e-6, 1e-7);
    check_close(out, rms_norm_ref(x.data(), 1, 4, w.data(), 0.03f, true), 1e-6, 1e-7);
    layer_norm(x.data(), 4, {1, 4}, w.data(), b.data(), 0.03f, out.data(), 4, pool);
    check_close(out, {0.5f, 0, -0.5f, -1.25f}, 1e-6, 1e-7);
    check_close(out, layer_norm_ref(x.data(), 1, 4, w.data(), b.data(), 0.03f), 1e-6, 1e-7);
    // Two heads in a row of six: their own sums, the same weights.
    std::vector<float> heads = {0.1f, -0.1f, 0.3f, 0.3f, 7, 7};
    rms_norm_heads(heads.data(), 6, 1, 2, 2, w.data(), 0.03f, false, pool);
    const float second = 0.3f / std::sqrt(0.12f);
    check_close(heads, {0.5f, -1, second, 2 * second, 7, 7}, 1e-6, 1e-7);
    heads = {0.1f, -0.1f};
    rms_norm_heads(heads.data(), 2, 1, 1, 2, w.data(), 0.03f, true, pool);
    check_close(heads, {1, -1.5f}, 1e-6, 1e-7);
  });
}

TEST_CASE("rows: norms of many rows, shared among threads, with strides, are those of each row") {
  Rng rng(11);
  ThreadPool pool(3);
  const std::int64_t rows = 70, dim = 300, stride = 310, out_stride = 305;
  const auto x = random_values(rows * stride, rng), w = random_values(dim, rng),
             b = random_values(dim, rng);
  std::vector<float> rms(static_cast<std::size_t>(rows * out_stride), -7.0f), layer = rms;
  rms_norm(x.data(), stride, {rows, dim}, w.data(), 1e-2f, false, rms.data(), out_stride, pool);
  layer_norm(x.data(), stride, {rows, dim}, w.data(), b.data(), 1e-2f, layer.data(), out_stride,
             pool);
  std::vector<float> one(static_cast<std::size_t>(dim));
  for (std::int64_t r = 0; r < rows; ++r) {
    rms_norm(x.data() + r * stride, dim, {1, dim}, w.data(), 1e-2f, false, one.data(), dim, pool);
    REQUIRE(test::first_difference(rms.data() + r * out_stride, one.data(), dim) == -1);
    REQUIRE(rms[static_cast<std::size_t>(r * out_stride + dim)] == -7.0f);
    layer_norm(x.data() + r * stride, dim, {1, dim}, w.data(), b.data(), 1e-2f, one.data(), dim,
               pool);
    REQUIRE(test::first_difference(layer.data() + r * out_stride, one.data(), dim) == -1);
    REQUIRE(layer[static_cast<std::size_t>(r * out_stride + dim)] == -7.0f);
  }
}

TEST_CASE(
    "rows: activations of many rows, shared among threads, with strides, leave the rest alone") {
  Rng rng(12);
  ThreadPool pool(3);
  const std::int64_t rows = 40, dim = 300, stride = 2 * dim + 5, out_stride = dim + 3;
  const auto both = random_values(rows * stride, rng);
  for (const auto kind :
       {ActivationKind::kSilu, ActivationKind::kGeluTanh, ActivationKind::kGelu}) {
    std::vector<float> out(static_cast<std::size_t>(rows * out_stride), -7.0f);
    gated_activation(kind, both.data(), both.data() + dim, stride, rows, dim, out.data(),
                     out_stride, pool);
    auto in_place = both;
    activation(kind, in_place.data(), stride, rows, dim, pool);
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* gate = both.data() + r * stride;
      const float* got = out.data() + r * out_stride;
      check_close({got, got + dim}, gated_activation_ref(kind, gate, gate + dim, dim), 3e-6, 1e-6);
      REQUIRE(got[dim] == -7.0f);
      const float* alone = in_place.data() + r * stride;
      check_close({alone, alone + dim}, gated_activation_ref(kind, gate, nullptr, dim), 3e-6, 1e-6);
      REQUIRE(test::first_difference(alone + dim, gate + dim, stride - dim) == -1);
    }
  }
}

TEST_CASE("activations by hand: silu, gelu and its tanh form are three functions") {
  ThreadPool pool(1);
  const auto at_one_and_minus_two = [&](ActivationKind kind) {
    std::vector<float> x = {1, -2};
    activation(kind, x.data(), 2, 1, 2, pool);
    return x;
  };
  check_close(at_one_and_minus_two(ActivationKind::kSilu), {0.731058579f, -0.238405844f}, 1e-6, 0);
  check_close(at_one_and_minus_two(ActivationKind::kGelu), {0.841344746f, -0.045500264f}, 2e-6, 0);
  check_close(at_one_and_minus_two(ActivationKind::kGeluTanh), {0.841191991f, -0.045402306f}, 2e-6,
              0);
}

TEST_CASE(
    "activations by hand: the clamped one cuts the gate above, up on both sides, and adds 1") {
  const auto swish = [](double g) { return g / (1 + std::exp(-1.702 * g)); };
  const std::vector<float> gate = {1, 9, -9, 0.5f, 2}, up = {0.5f, 2, -3, 9, -9};
  std::vector<float> both = gate, out(gate.size());
  both.insert(both.end(), up.begin(), up.end());
  ThreadPool pool(1);
  const std::vector<double> expected = {swish(1) * 1.5, swish(7) * 3, swish(-9) * -2,
                                        swish(0.5) * 8, swish(2) * -6};
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    gated_activation(ActivationKind::kClampedSwiglu, both.data(), both.data() + 5, 10, 1, 5,
                     out.data(), 5, pool);
    for (std::size_t i = 0; i < out.size(); ++i)
      CHECK(out[i] == doctest::Approx(expected[i]).epsilon(2e-6));
  });
}

TEST_CASE("rows: activations agree with libtorch, far from zero too") {
  Rng rng(3);
  ThreadPool pool(2);
  const std::int64_t n = 1003;
  auto gate = random_values(n, rng, 4.0f);
  gate[0] = 0;
  gate[1] = 90;
  gate[2] = -90;
  gate[3] = 1e-6f;
  gate[4] = -2000;
  const auto up = random_values(n, rng);
  std::vector<float> both = gate, out(gate.size());
  both.insert(both.end(), up.begin(), up.end());
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const auto kind :
         {ActivationKind::kSilu, ActivationKind::kGeluTanh, ActivationKind::kGelu}) {
      gated_activation(kind, both.data(), both.data() + n, 2 * n, 1, n, out.data(), n, pool);
      // gelu: 1 + erf cancels far below zero, to 1e-7 of |x|
      check_close(out, gated_activation_ref(kind, gate.data(), up.data(), n), 3e-6, 1e-6);
      auto in_place = gate;
      activation(kind, in_place.data(), n, 1, n, pool);
      check_close(in_place, gated_activation_ref(kind, gate.data(), nullptr, n), 3e-6, 1e-6);
    }
  });
}

TEST_CASE("rows: softcap keeps the digits of small scores: within 5e-7 of each, whatever the cap") {
  Rng rng(31);
  std::vector<float> scores = random_values(1003, rng, 40.0f);
  for (std::size_t i = 0; i < 500; ++i) scores[i] *= 1e-3f;
  scores[0] = 0;
  scores[1] = 1e-30f;
  scores[2] = -4000;
  for (const float cap : {1.0f, 30.0f, 50.0f}) {
    // Where the two formulas of tanh meet.
    for (int i = -8; i <= 8; ++i)
      scores[static_cast<std::size_t>(20 + i)] = 0.625f * cap * (1 + static_cast<float>(i) * 6e-8f);
    test::for_each_variant([&](const char* variant) {
      CAPTURE(variant);
      CAPTURE(cap);
      auto capped = scores;
      softcap(capped.data(), cap, static_cast<std::int64_t>(capped.size()));
      for (std::size_t i = 0; i < capped.size(); ++i) {
        const double want = cap * std::tanh(double{scores[i]} / cap);
        CAPTURE(scores[i]);
        REQUIRE(std::fabs(capped[i] - want) <= 5e-7 * std::fabs(want));
      }
      float odd[] = {std::nanf(""), 1, 2};
      softcap(odd, cap, 3);
      CHECK(std::isnan(odd[0]));
    });
  }
}

TEST_CASE(
    "rows: rope rotates half-split pairs and leaves the rest; interleaved pairs rotate the same") {
  Rng rng(4);
  const int heads = 3, rows = 4;
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const auto& [head_dim, dims] : {std::pair{64, 64}, {80, 32}, {10, 6}}) {
      const int half = dims / 2, stride = heads * head_dim;
      std::vector<float> cos(static_cast<std::size_t>(rows * half)), sin(cos.size()), frequency;
      for (int i = 0; i < half; ++i)
        frequency.push_back(
            std::pow(10000.0f, -2.0f * static_cast<float>(i) / static_cast<float>(dims)));
      for (int r = 0; r < rows; ++r)
        for (int i = 0; i < half; ++i) {
          const auto at = static_cast<std::size_t>(r * half + i);
          const float angle =
              static_cast<float>(100 * r + 7) * frequency[static_cast<std::size_t>(i)];
          cos[at] = std::cos(angle);
          sin[at] = std::sin(angle);
        }
      CHECK(cos[0] == doctest::Approx(std::cos(7.0)));
      const auto x = random_values(rows * stride, rng);
      auto rotated = x;
      rope(rotated.data(), stride, rows, heads, head_dim, dims, cos.data(), sin.data());
      check_close(rotated, rope_ref(x.data(), rows, heads, head_dim, dims, cos.data(), sin.data()),
                  1e-6, 1e-6);
      auto woven = x;
      for (int h = 0; h < rows * heads; ++h) {
        for (int i = 0; i < half; ++i) {
          woven[static_cast<std::size_t>(h * head_dim + 2 * i)] =
              x[static_cast<std::size_t>(h * head_dim + i)];
          woven[static_cast<std::size_t>(h * head_dim + 2 * i + 1)] =
              x[static_cast<std::size_t>(h * head_dim + half + i)];
        }
      }
      rope_interleaved(woven.data(), stride, rows, heads, head_dim, dims, cos.data(), sin.data());
      for (int h = 0; h < rows * heads; ++h) {
        for (int i = 0; i < half; ++i) {
          REQUIRE(woven[static_cast<std::size_t>(h * head_dim + 2 * i)] ==
                  rotated[static_cast<std::size_t>(h * head_dim + i)]);
          REQUIRE(woven[static_cast<std::size_t>(h * head_dim + 2 * i + 1)] ==
                  rotated[static_cast<std::size_t>(h * head_dim + half + i)]);
        }
      }
    }
  });
}

TEST_CASE("rows: log-softmax agrees with libtorch, over long rows, far values and removed tokens") {
  Rng rng(5);
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const std::int64_t n : {1, 2, 15, 17, 4096, 4097, 49152}) {
      auto row = random_values(n, rng, 8.0f);
      if (n > 2) row[1] = -kInfinity;
      if (n > 16) row[9] = 60;
      std::vector<float> out(row.size());
      const float total = log_softmax(row, out);
      CHECK(total == log_sum_exp(row));
      for (std::size_t i = 0; i < row.size(); ++i) REQUIRE(out[i] == row[i] - total);
      std::vector<float> in_place = row;
      log_softmax(in_place, in_place);
      CHECK(in_place == out);
      const auto want = log_softmax_ref(row.data(), n);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i] == -kInfinity) {
          REQUIRE(out[i] == -kInfinity);
        } else {
          REQUIRE(std::fabs(double{out[i]} - want[i]) <= 1e-6 + 2.5e-7 * std::fabs(want[i]));
        }
      }
      double sum = 0;
      softmax(row, out);
      for (const float p : out) sum += p;
      CHECK(sum == doctest::Approx(1.0).epsilon(1e-6));
    }
    std::vector<float> none(40, -kInfinity);
    CHECK(log_sum_exp(none) == -kInfinity);
    std::vector<float> nothing(none.size());
    CHECK(log_softmax(none, nothing) == -kInfinity);
    CHECK(nothing == none);
    CHECK_THROWS_AS(log_softmax(none, std::span<float>(none).first(3)), Error);
  });
}

TEST_CASE("top-k and argmax: best first, ties go to the lowest index, removed tokens last") {
  Rng rng(6);
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const std::int64_t n : {1, 5, 16, 33, 1000, 49152}) {
      auto row = random_values(n, rng);
      for (float& v : row) v = std::round(v * 8) / 8;  // many ties
      if (n > 4) row[2] = row[4] = -kInfinity;
      for (const std::int64_t k : {1, 2, 7, 50, 128, 129, 2000}) {
        CAPTURE(n);
        CAPTURE(k);
        CHECK(top_k(row, static_cast<std::size_t>(k)) == top_k_ref(row.data(), n, k));
      }
      CHECK(argmax(row) == top_k_ref(row.data(), n, 1)[0].second);
      CHECK(largest(row) == top_k_ref(row.data(), n, 1)[0].first);
    }
    const std::vector<float> none(20, -kInfinity);
    CHECK(largest(none) == -kInfinity);
    CHECK(argmax(none) == 0);
    CHECK(top_k(none, 3)[2].second == 2);
  });
}

TEST_CASE("rows: joint top-k over rows with offsets equals sorting all sums") {
  Rng rng(7);
  const std::size_t size = 3001;
  const std::vector<float> offsets = {-3.25f, -1e3f, -2.5f, -3.25f};
  auto rows = random_values(static_cast<std::int64_t>(size * offsets.size()), rng, 2.0f);
  for (float& v : rows) v = std::round(v * 64) / 64;
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const std::size_t k :
         {std::size_t{1}, std::size_t{18}, std::size_t{100}, std::size_t{200}}) {
      JointTopK joint(k);
      for (std::size_t r = 0; r < offsets.size(); ++r)
        joint.add_row(static_cast<std::int32_t>(r), offsets[r],
                      std::span<const float>(rows).subspan(r * size, size));
      CHECK(joint.full());
      const std::vector<JointCandidate>& best = joint.best();
      std::vector<JointCandidate> all;
      for (std::size_t r = 0; r < offsets.size(); ++r) {
        for (std::size_t t = 0; t < size; ++t) {
          const float value = rows[r * size + t];
          all.push_back({value + offsets[r], value, static_cast<std::int32_t>(r),
                         static_cast<std::int32_t>(t)});
        }
      }
      std::stable_sort(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.score > b.score; });
      REQUIRE(best.size() == k);
      for (std::size_t i = 0; i < k; ++i) {
        REQUIRE(best[i].score == all[i].score);
        REQUIRE(best[i].value == all[i].value);
        REQUIRE(best[i].row == all[i].row);
        REQUIRE(best[i].token == all[i].token);
      }
    }
  });
}

TEST_CASE("rows: softmax by hand; where nothing is possible nothing has a share") {
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    const std::vector<float> row = {2, -kInfinity, 2, 2 + std::log(2.0f)};
    std::vector<float> out(row.size(), 7);
    softmax(row, out);
    CHECK(out[0] == doctest::Approx(0.25).epsilon(1e-6));
    CHECK(out[1] == 0);
    CHECK(out[2] == out[0]);
    CHECK(out[3] == doctest::Approx(0.5).epsilon(1e-6));
    softmax(std::vector<float>(4, -kInfinity), out);
    CHECK(out == std::vector<float>(4, 0.0f));
    // Beyond a block of 4096, each at its place.
    std::vector<float> far(5000, -kInfinity), shares(5000, 7);
    far[4999] = 3;
    softmax(far, shares);
    CHECK(shares[4999] == 1);
    CHECK(std::count(shares.begin(), shares.end(), 0.0f) == 4999);
  });
}

TEST_CASE("rows: what has no answer is refused in words") {
  std::vector<float> row(3), out(2);
  CHECK_THROWS_WITH_AS(softmax(row, out), "softmax: expected an output of 3 values, found 2",
                       Error);
  CHECK_THROWS_WITH_AS(log_softmax(row, out),
                       "log_softmax: expected an output of 3 values, found 2", Error);
  CHECK_THROWS_WITH_AS(argmax({}), "argmax: expected at least one value, found none", Error);
  CHECK_THROWS_WITH_AS(largest({}), "largest: expected at least one value, found none", Error);
  CHECK(top_k(row, 0).empty());
  CHECK(top_k({}, 4).empty());
}

TEST_CASE("joint top-k by hand: ties go to the earlier row, then to the lower token") {
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    const auto list = [](const JointTopK& joint) {
      std::vector<std::tuple<float, float, int, int>> all;
      for (const JointCandidate& c : joint.best())
        all.emplace_back(c.score, c.value, c.row, c.token);
      return all;
    };
    using List = decltype(list(JointTopK(1)));
    JointTopK joint(3);
    joint.add_row(4, -1, std::vector<float>{2, 1});
    CHECK_FALSE(joint.full());
    CHECK(list(joint) == List{{1, 2, 4, 0}, {0, 1, 4, 1}});
    joint.add_row(5, 0, std::vector<float>{0, 1, 1, 0, 1});
    CHECK(joint.full());
    CHECK(list(joint) == List{{1, 2, 4, 0}, {1, 1, 5, 1}, {1, 1, 5, 2}});
    // A row without any chance fills the list, and gives way to whatever comes.
    JointTopK late(2);
    late.add_row(0, -kInfinity, std::vector<float>{3, 4, 5});
    CHECK(list(late) == List{{-kInfinity, 3, 0, 0}, {-kInfinity, 4, 0, 1}});
    late.add_row(1, -kInfinity, std::vector<float>{9});
    late.add_row(2, -2, std::vector<float>{-kInfinity, -7, -kInfinity});
    CHECK(list(late) == List{{-9, -7, 2, 1}, {-kInfinity, 3, 0, 0}});
    late.add_row(3, -kInfinity, std::vector<float>{9, 9});
    CHECK(list(late) == List{{-9, -7, 2, 1}, {-kInfinity, 3, 0, 0}});
    JointTopK none(0);
    none.add_row(0, 0, std::vector<float>{1});
    CHECK(none.best().empty());
  });
}

TEST_CASE(
    "rows: the best of a row is found at every place, below zero too, and what exceeds a bound after") {
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    const CpuKernels& kernels = cpu_kernels();
    for (const std::int64_t n : {1, 3, 4, 5, 15, 16, 17, 33}) {
      for (std::int64_t at = 0; at < n; ++at) {
        CAPTURE(n);
        CAPTURE(at);
        std::vector<float> row(static_cast<std::size_t>(n), -5.0f);
        row[static_cast<std::size_t>(at)] = -2;
        CHECK(argmax(row) == at);
        CHECK(kernels.max(row.data(), n) == -2);
        CHECK(kernels.find_greater(row.data(), 0, n, -2) == n);
        for (std::int64_t from = 0; from <= n; ++from)
          CHECK(kernels.find_greater(row.data(), from, n, -5) == (from <= at ? at : n));
      }
    }
  });
}

}  // namespace
}  // namespace triescope::kernels
