#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/kernels/reference.h"
#include "core/kernels/tree_attention.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels {
namespace {

using test::random_values;

// Rows over `slots` slots: a prefix, and for every row a list of its own with `common` entries that
// all share.
struct Scene {
  AttentionShape shape;
  std::int64_t rows = 0;
  std::int32_t slots = 0;
  Precision precision = Precision::kF32;
  std::vector<float> q, keys, values;
  std::vector<std::uint16_t> keys_bf16, values_bf16;
  std::vector<std::vector<std::int32_t>> lists;  // of each row, prefix included

  Scene(AttentionShape s, std::int64_t row_count, int prefix, int common, int longest_own,
        Precision st, Rng& rng)
      : shape(s), rows(row_count), precision(st) {
    slots = prefix + common + static_cast<std::int32_t>(rows) * (longest_own + 1);
    q = random_values(rows * shape.heads * shape.head_dim, rng, 2.0f);
    keys = random_values(std::int64_t{slots} * shape.kv_heads * shape.head_dim, rng);
    values = random_values(std::int64_t{slots} * shape.kv_heads * shape.head_dim, rng);
    if (precision == Precision::kBF16) {
      keys = test::rounded_to_bf16(keys);
      values = test::rounded_to_bf16(values);
    }
    const auto order = test::shuffled(slots, rng);
    std::int32_t next = prefix + common;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<std::int32_t> list(order.begin(), order.begin() + prefix + common);
      const int own =
          1 + static_cast<int>(rng.next() % static_cast<std::uint64_t>(longest_own + 1));
      for (int i = 0; i < own; ++i) list.push_back(order[static_cast<std::size_t>(next++)]);
      lists.push_back(list);
    }
  }

  KvView view() {
    if (precision == Precision::kF32) return {keys.data(), values.data(), precision};
    keys_bf16 = test::to_bf16(keys);
    values_bf16 = test::to_bf16(values);
    return {keys_bf16.data(), values_bf16.data(), precision};
  }

  // Rows [begin, end) with the lists cut after `cut` entries into the prefix of all and own parts.
  std::vector<float> run(ThreadPool& pool, std::int64_t begin, std::int64_t end, std::size_t cut) {
    const std::vector<std::int32_t> prefix(
        lists[static_cast<std::size_t>(begin)].begin(),
        lists[static_cast<std::size_t>(begin)].begin() + static_cast<std::ptrdiff_t>(cut));
    std::vector<std::int32_t> own, offsets{0};
    for (std::int64_t r = begin; r < end; ++r) {
      const auto& list = lists[static_cast<std::size_t>(r)];
      own.insert(own.end(), list.begin() + static_cast<std::ptrdiff_t>(cut), list.end());
      offsets.push_back(static_cast<std::int32_t>(own.size()));
    }
    const std::int64_t width = shape.heads * shape.head_dim;
    std::vector<float> out(static_cast<std::size_t>((end - begin) * width));
    tree_attention(q.data() + begin * width, width, end - begin, view(), shape,
                   {.prefix = prefix, .own = own, .offsets = offsets}, out.data(), width, pool);
    return out;
  }
};

double worst_error(const std::vector<float>& got, const std::vector<float>& want) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::fabs(double{got[i]} - want[i]));
  return worst;
}

// By head: below all scores, among them, far above them.
constexpr float kSinks[] = {0.3f, -20, 2, 8, 0, 40, -1, 5};
constexpr double kTolerance = 1e-5 * 4.3;  // 1e-5 of the largest |V|; random_values stays below 4.3

TEST_CASE("tree attention agrees with libtorch: head sizes, groups, precisions, windows, softcap") {
  Rng rng(1);
  ThreadPool pool(2);
  const AttentionShape shapes[] = {
      {.heads = 9, .kv_heads = 3, .head_dim = 64, .scale = 0.125f},
      {.heads = 4, .kv_heads = 4, .head_dim = 80, .scale = 0.11f, .window = 10},
      {.heads = 6, .kv_heads = 2, .head_dim = 96, .scale = 0.1f, .softcap = 20},
      {.heads = 8, .kv_heads = 1, .head_dim = 128, .scale = 0.09f, .window = 70},
      {.heads = 2, .kv_heads = 1, .head_dim = 256, .scale = 0.0625f, .softcap = 50, .window = 33},
      {.heads = 3, .kv_heads = 3, .head_dim = 37, .scale = 0.16f},
      {.heads = 2, .kv_heads = 2, .head_dim = 2, .scale = 0.7f, .window = 1},
      {.heads = 8, .kv_heads = 2, .head_dim = 64, .scale = 0.125f, .window = 50, .sinks = kSinks},
      {.heads = 4, .kv_heads = 4, .head_dim = 40, .scale = 0.16f, .softcap = 9, .sinks = kSinks},
  };
  test::for_each_variant([&](const char* variant) {
    for (const AttentionShape& shape : shapes) {
      for (const auto& [rows, prefix, common] :
           {std::tuple{1, 0, 0}, {1, 100, 0}, {7, 65, 5}, {33, 31, 40}}) {
        for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
          Scene scene(shape, rows, prefix, common, 40, precision, rng);
          std::vector<std::int32_t> own, offsets{0};
          for (const auto& list : scene.lists) {
            own.insert(own.end(), list.begin(), list.end());
            offsets.push_back(static_cast<std::int32_t>(own.size()));
          }
          const auto got = scene.run(pool, 0, rows, static_cast<std::size_t>(prefix));
          const auto want = tree_attention_ref(scene.q.data(), rows, scene.keys.data(),
                                               scene.values.data(), scene.slots, shape,
                                               {.prefix = {}, .own = own, .offsets = offsets});
          CAPTURE(variant);
          CAPTURE(shape.head_dim);
          CAPTURE(rows);
          CHECK(worst_error(got, want) <= kTolerance);
        }
      }
    }
  });
}

TEST_CASE(
    "tree attention: a row's bits do not depend on other rows, on threads, or on where its list is cut into prefix and own part") {
  Rng rng(2);
  const std::int64_t most = 33;
  const int common = 70;
  for (const int window : {0, 50, 90}) {
    const AttentionShape shape{
        .heads = 6, .kv_heads = 2, .head_dim = 64, .scale = 0.125f, .window = window};
    for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
      Scene scene(shape, most, 0, common, 45, precision, rng);
      const std::int64_t width = shape.heads * shape.head_dim;
      test::for_each_variant([&](const char* variant) {
        ThreadPool one(1);
        std::vector<float> alone;
        for (std::int64_t r = 0; r < most; ++r) {
          const auto y = scene.run(one, r, r + 1, 0);
          alone.insert(alone.end(), y.begin(), y.end());
        }
        for (int threads = 1; threads <= 4; ++threads) {
          ThreadPool pool(threads);
          for (std::int64_t rows = 1; rows <= most; rows += threads) {
            const std::size_t cut = rng.next() % (common + 1);
            const auto y = scene.run(pool, 0, rows, cut);
            CAPTURE(variant);
            CAPTURE(window);
            CAPTURE(threads);
            CAPTURE(rows);
            CAPTURE(cut);
            REQUIRE(test::first_difference(y.data(), alone.data(), rows * width) == -1);
          }
        }
      });
    }
  }
}

TEST_CASE(
    "tree attention: a row has the bits it has among others, however many query heads share a K/V head") {
  Rng rng(12);
  ThreadPool pool(2);
  const std::int64_t rows = 12;
  const std::size_t common = 70;  // two blocks and a part of one
  for (int group = 1; group <= 9; ++group) {
    for (const int head_dim : {37, 64}) {
      for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
        const AttentionShape shape{
            .heads = 2 * group, .kv_heads = 2, .head_dim = head_dim, .scale = 0.125f};
        Scene scene(shape, rows, 0, static_cast<int>(common), 45, precision, rng);
        const std::int64_t width = shape.heads * shape.head_dim;
        test::for_each_variant([&](const char* variant) {
          const auto together = scene.run(pool, 0, rows, common);
          for (std::int64_t r = 0; r < rows; ++r) {
            CAPTURE(variant);
            CAPTURE(group);
            CAPTURE(head_dim);
            CAPTURE(r);
            const auto alone = scene.run(pool, r, r + 1, common);
            REQUIRE(test::first_difference(alone.data(), together.data() + r * width, width) == -1);
          }
        });
      }
    }
  }
}

TEST_CASE("tree attention: where slots lie does not change a bit") {
  Rng rng(3);
  ThreadPool pool(2);
  const AttentionShape shape{.heads = 9, .kv_heads = 3, .head_dim = 64, .scale = 0.125f};
  Scene scene(shape, 5, 40, 3, 20, Precision::kF32, rng);
  const std::size_t width = static_cast<std::size_t>(shape.kv_heads * shape.head_dim);
  const auto before = scene.run(pool, 0, 5, 40);
  // Order of the lists = order in memory, as after a prefill; then scattered again.
  for (const bool in_order : {true, false}) {
    std::vector<std::int32_t> to(static_cast<std::size_t>(scene.slots), -1);
    std::int32_t next = 0;
    for (const auto& list : scene.lists) {
      for (const std::int32_t s : list) {
        if (to[static_cast<std::size_t>(s)] < 0) to[static_cast<std::size_t>(s)] = next++;
      }
    }
    for (std::int32_t& t : to) t = t < 0 ? next++ : t;
    if (!in_order) to = test::shuffled(scene.slots, rng);
    Scene moved = scene;
    for (std::size_t s = 0; s < to.size(); ++s) {
      const std::size_t at = static_cast<std::size_t>(to[s]);
      std::copy_n(scene.keys.begin() + static_cast<std::ptrdiff_t>(s * width), width,
                  moved.keys.begin() + static_cast<std::ptrdiff_t>(at * width));
      std::copy_n(scene.values.begin() + static_cast<std::ptrdiff_t>(s * width), width,
                  moved.values.begin() + static_cast<std::ptrdiff_t>(at * width));
    }
    for (auto& list : moved.lists) {
      for (std::int32_t& s : list) s = to[static_cast<std::size_t>(s)];
    }
    const auto after = moved.run(pool, 0, 5, 40);
    CHECK(test::first_difference(before.data(), after.data(),
                                 static_cast<std::int64_t>(before.size())) == -1);
  }
}

TEST_CASE(
    "tree attention: causal prefill gives each row the bits it has as a list, whatever the chunk") {
  Rng rng(4);
  const std::int64_t rows = 150;
  for (const int window : {0, 40}) {
    const AttentionShape shape{
        .heads = 4, .kv_heads = 2, .head_dim = 64, .scale = 0.125f, .window = window};
    const std::int64_t width = shape.heads * shape.head_dim, slots = rows + 20;
    const auto q = random_values(rows * width, rng, 2.0f);
    const auto keys = random_values(slots * shape.kv_heads * shape.head_dim, rng);
    const auto values = random_values(slots * shape.kv_heads * shape.head_dim, rng);
    auto path = test::shuffled(static_cast<std::int32_t>(slots), rng);
    path.resize(static_cast<std::size_t>(rows));
    const KvView kv{keys.data(), values.data(), Precision::kF32};
    test::for_each_variant([&](const char* variant) {
      ThreadPool pool(3);
      std::vector<float> lists(static_cast<std::size_t>(rows * width)), causal(lists.size());
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int32_t offsets[] = {0, static_cast<std::int32_t>(r + 1)};
        tree_attention(q.data() + r * width, width, 1, kv, shape,
                       {.prefix = {}, .own = path, .offsets = offsets}, lists.data() + r * width,
                       width, pool);
      }
      for (const std::int64_t chunk : {rows, std::int64_t{64}, std::int64_t{7}}) {
        const std::span<const std::int32_t> all(path);
        for (std::int64_t begin = 0; begin < rows; begin += chunk) {
          const std::int64_t count = std::min(chunk, rows - begin);
          tree_attention(
              q.data() + begin * width, width, count, kv, shape,
              {.prefix = all.first(static_cast<std::size_t>(begin)),
               .own = all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)),
               .offsets = {}},
              causal.data() + begin * width, width, pool);
        }
        CAPTURE(variant);
        CAPTURE(chunk);
        CAPTURE(window);
        CHECK(test::first_difference(causal.data(), lists.data(), rows * width) == -1);
      }
      const auto want = tree_attention_ref(q.data(), rows, keys.data(), values.data(), slots, shape,
                                           {.prefix = {}, .own = path, .offsets = {}});
      CHECK(worst_error(causal, want) <= kTolerance);
    });
  }
}

TEST_CASE("tree attention: over long lists threads share a row's work, and no bit shows it") {
  Rng rng(77);
  ThreadPool one(1);
  for (const AttentionShape& shape :
       {AttentionShape{.heads = 9, .kv_heads = 3, .head_dim = 64, .scale = 0.125f},
        AttentionShape{.heads = 2, .kv_heads = 1, .head_dim = 80, .scale = 0.1f, .window = 1600},
        AttentionShape{.heads = 5, .kv_heads = 5, .head_dim = 20, .scale = 0.2f, .softcap = 30},
        AttentionShape{
            .heads = 8, .kv_heads = 4, .head_dim = 16, .scale = 0.25f, .sinks = kSinks}}) {
    for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
      for (const int prefix : {1530, 1900}) {
        for (const bool in_order : {false, true}) {
          Scene scene(shape, 3, prefix, 7, 50, precision, rng);
          if (in_order) {  // as a prompt's are
            for (auto& list : scene.lists) {
              for (int i = 0; i < prefix; ++i) list[static_cast<std::size_t>(i)] = i;
            }
          }
          test::for_each_variant([&](const char* variant) {
            for (const std::int64_t rows : {1, 2, 3}) {
              const auto cut = static_cast<std::size_t>(prefix);
              const auto expected = scene.run(one, 0, rows, cut);
              for (const int threads : {2, 3, 5, 8, 16}) {
                ThreadPool pool(threads);
                CAPTURE(variant);
                CAPTURE(shape.head_dim);
                CAPTURE(rows);
                CAPTURE(threads);
                CAPTURE(in_order);
                const auto got = scene.run(pool, 0, rows, cut);
                REQUIRE(test::first_difference(got.data(), expected.data(),
                                               static_cast<std::int64_t>(got.size())) == -1);
              }
            }
          });
        }
      }
    }
  }
}

// Values by hand: value row j of a list is j in K/V head 0 and 1000 + j in head 1.
TEST_CASE(
    "tree attention: a window of w averages the last w entries, in the kernel and in the reference") {
  ThreadPool pool(1);
  constexpr int kSlots = 40, kDim = 16;
  const std::vector<float> keys(kSlots * 2 * kDim, 0.5f);
  std::vector<float> values;
  for (int j = 0; j < kSlots; ++j)
    for (int i = 0; i < 2 * kDim; ++i)
      values.push_back(static_cast<float>(j + (i < kDim ? 0 : 1000)));
  std::vector<std::int32_t> path(kSlots);
  for (int j = 0; j < kSlots; ++j) path[static_cast<std::size_t>(j)] = j;
  const std::vector<float> q(4 * kDim, 1.0f);  // two query heads a K/V head: all scores equal
  for (const int window : {0, 1, 2, 15, 16, 31, 32, 33, 39, 40, 41}) {
    const AttentionShape shape{
        .heads = 4, .kv_heads = 2, .head_dim = kDim, .scale = 1, .window = window};
    for (const int length : {1, 2, 16, 17, 32, 33, 34, 40}) {
      const int seen = window > 0 ? std::min(window, length) : length;
      const double mean = length - 1 - (seen - 1) / 2.0;
      for (const int cut : {0, 1, 15, 16, length - 1}) {
        if (cut >= length) continue;
        CAPTURE(window);
        CAPTURE(length);
        CAPTURE(cut);
        const std::span<const std::int32_t> all(path);
        const std::int32_t offsets[] = {0, length - cut};
        const VisibleSlots visible{.prefix = all.first(static_cast<std::size_t>(cut)),
                                   .own = all.subspan(static_cast<std::size_t>(cut),
                                                      static_cast<std::size_t>(length - cut)),
                                   .offsets = offsets};
        std::vector<float> out(4 * kDim);
        tree_attention(q.data(), 4 * kDim, 1, {keys.data(), values.data(), Precision::kF32}, shape,
                       visible, out.data(), 4 * kDim, pool);
        const auto reference =
            tree_attention_ref(q.data(), 1, keys.data(), values.data(), kSlots, shape, visible);
        for (const auto& got : {out, reference}) {
          CHECK(got.front() == doctest::Approx(mean).epsilon(1e-6));
          CHECK(got[2 * kDim - 1] == doctest::Approx(mean).epsilon(1e-6));
          CHECK(got[2 * kDim] == doctest::Approx(1000 + mean).epsilon(1e-6));
          CHECK(got.back() == doctest::Approx(1000 + mean).epsilon(1e-6));
        }
      }
    }
  }
}

TEST_CASE("scores are scaled, then capped: two slots by hand") {
  ThreadPool pool(1);
  // q.k is 0 for slot 0 and 6 for slot 1; V is 0 and 1: the output is slot 1's share.
  const std::vector<float> q = {2, 0, 0, 0}, keys = {0, 1, 1, 1, 3, 0, 0, 0},
                           values = {0, 0, 0, 0, 1, 1, 1, 1};
  const std::int32_t own[] = {0, 1}, offsets[] = {0, 2};
  const auto share = [](double score) { return 1 / (1 + std::exp(-score)); };
  struct Setting {
    float scale, softcap;
    double score;
  };
  for (const Setting& s : {Setting{1, 0, 6},
                           {0.25f, 0, 1.5},
                           {0.25f, 2, 2 * std::tanh(0.75)},
                           {0.5f, 0.5f, 0.5 * std::tanh(6.0)},
                           {-0.25f, 1, -std::tanh(1.5)}}) {
    CAPTURE(s.scale);
    CAPTURE(s.softcap);
    const AttentionShape shape{
        .heads = 1, .kv_heads = 1, .head_dim = 4, .scale = s.scale, .softcap = s.softcap};
    const VisibleSlots visible{.prefix = {}, .own = own, .offsets = offsets};
    std::vector<float> out(4);
    tree_attention(q.data(), 4, 1, {keys.data(), values.data(), Precision::kF32}, shape, visible,
                   out.data(), 4, pool);
    for (const auto& got :
         {out, tree_attention_ref(q.data(), 1, keys.data(), values.data(), 2, shape, visible)})
      for (const float value : got) CHECK(value == doctest::Approx(share(s.score)).epsilon(1e-6));
  }
}

TEST_CASE(
    "tree attention: K and V are stored at their slots, fp32 exactly and bf16 rounded to nearest even") {
  Rng rng(5);
  const int dims = 12;
  const auto rows = random_values(3 * 20, rng);
  const std::int32_t slots[] = {4, 0, 2};
  std::vector<float> f(5 * dims, -1.0f);
  std::vector<std::uint16_t> b(5 * dims, 0);
  store_kv(rows.data(), 20, 3, dims, slots, Precision::kF32, f.data());
  store_kv(rows.data(), 20, 3, dims, slots, Precision::kBF16, b.data());
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < dims; ++i) {
      CHECK(f[static_cast<std::size_t>(slots[r] * dims + i)] ==
            rows[static_cast<std::size_t>(r * 20 + i)]);
      CHECK(b[static_cast<std::size_t>(slots[r] * dims + i)] ==
            float_to_bf16(rows[static_cast<std::size_t>(r * 20 + i)]));
    }
  }
  CHECK(f[static_cast<std::size_t>(dims)] == -1.0f);
}

TEST_CASE("tree attention: a row that sees nothing and heads that do not divide are refused") {
  ThreadPool pool(1);
  std::vector<float> data(256);
  const KvView kv{data.data(), data.data(), Precision::kF32};
  const std::int32_t offsets[] = {0, 0};
  const auto call = [&](AttentionShape shape) {
    tree_attention(data.data(), 64, 1, kv, shape, {.prefix = {}, .own = {}, .offsets = offsets},
                   data.data(), 64, pool);
  };
  CHECK_THROWS_AS(call({.heads = 1, .kv_heads = 1, .head_dim = 64, .scale = 1}), Error);
  CHECK_THROWS_AS(call({.heads = 3, .kv_heads = 2, .head_dim = 16, .scale = 1}), Error);
}

TEST_CASE("tree attention: lists that do not go with the rows are refused in words") {
  ThreadPool pool(1);
  std::vector<float> data(256);
  const KvView kv{data.data(), data.data(), Precision::kF32};
  const std::int32_t slots[] = {0, 1, 2};
  using Offsets = std::vector<std::int32_t>;
  const auto call = [&](const AttentionShape& shape, std::int64_t rows, std::size_t prefix,
                        std::size_t own, const Offsets& offsets) {
    tree_attention(data.data(), 16, rows, kv, shape,
                   {.prefix = std::span(slots).first(prefix),
                    .own = std::span(slots).first(own),
                    .offsets = offsets},
                   data.data(), 16, pool);
  };
  const AttentionShape one{.heads = 1, .kv_heads = 1, .head_dim = 16, .scale = 1};
  const auto refused = [&](const AttentionShape& shape, std::int64_t rows, std::size_t prefix,
                           std::size_t own, const Offsets& offsets) -> std::string {
    try {
      call(shape, rows, prefix, own, offsets);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string heads =
      "tree attention: expected query heads to be a multiple of key/value heads, found ";
  CHECK(refused({.heads = 3, .kv_heads = 2, .head_dim = 4, .scale = 1}, 1, 0, 1, {0, 1}) ==
        heads + "3 query heads, 2 key/value heads of 4");
  CHECK(refused({.heads = 0, .kv_heads = 1, .head_dim = 4, .scale = 1}, 1, 0, 1, {0, 1}) ==
        heads + "0 query heads, 1 key/value heads of 4");
  CHECK(refused({.heads = 1, .kv_heads = 0, .head_dim = 4, .scale = 1}, 1, 0, 1, {0, 1}) ==
        heads + "1 query heads, 0 key/value heads of 4");
  CHECK(refused({.heads = 1, .kv_heads = 1, .head_dim = 0, .scale = 1}, 1, 0, 1, {0, 1}) ==
        heads + "1 query heads, 1 key/value heads of 0");
  CHECK(refused(one, 2, 0, 1, {}) ==
        "tree attention: causal: expected a slot for each of 2 rows, found 1");
  CHECK(refused(one, 2, 0, 2, {}) == "");
  const std::string offsets = " (or they point past the end)";
  CHECK(refused(one, 2, 0, 3, {0, 3}) ==
        "tree attention: expected 3 offsets into the own slots, found 2" + offsets);
  CHECK(refused(one, 2, 0, 2, {0, 1, 3}) ==
        "tree attention: expected 3 offsets into the own slots, found 3" + offsets);
  CHECK(refused(one, 2, 0, 3, {0, 1, 3}) == "");
  const std::string nothing = "tree attention: expected row 1 to see at least one slot, found none";
  CHECK(refused(one, 2, 0, 1, {0, 1, 1}) == nothing);
  CHECK(refused(one, 2, 1, 1, {0, 1, 1}) == "");
  CHECK(refused(one, 2, 3, 2, {0, 2, 1}) == nothing);  // a list that ends before it begins
  CHECK(refused(one, 0, 0, 0, {}) == "");
}

}  // namespace
}  // namespace triescope::kernels
