// Linear layers that compute from weights as they lie in a file: the same bits as with those weights
// dequantised beforehand.
#include <doctest/doctest.h>

#include <string>

#include "core/base/error.h"
#include "core/files/random_blocks.h"
#include "core/kernels/linear.h"
#include "tests/unit/kernels/random_values.h"

namespace triescope::kernels {
namespace {

using formats::GgmlType;
using test::random_values;

PackedLinear stored(GgmlType type, std::int64_t outputs, std::int64_t inputs,
                    const std::vector<std::byte>& rows, ThreadPool& pool) {
  PackedLinear packed(std::array{PackedLinear::Part{outputs, type}}, inputs);
  packed.set_stored_rows(0, outputs, rows, pool);
  return packed;
}

PackedLinear plain(std::int64_t outputs, std::int64_t inputs, const std::vector<float>& rows,
                   ThreadPool& pool) {
  PackedLinear packed(outputs, inputs, Precision::kF32);
  packed.set_rows(0, outputs, rows.data(), pool);
  return packed;
}

std::vector<float> run(const PackedLinear& w, const std::vector<float>& x, std::int64_t rows,
                       ThreadPool& pool) {
  std::vector<float> y(static_cast<std::size_t>(rows * w.outputs()));
  linear(w, x.data(), w.inputs(), rows, y.data(), w.outputs(), pool);
  return y;
}

TEST_CASE(
    "stored weights: every stored type gives the bits of its dequantised weights, for 1 to 33 rows") {
  Rng rng(21);
  ThreadPool pool(2);
  // 2304 inputs: two stretches of decoded values and a chain that ends early; 45 outputs: a panel
  // that is not full.
  for (const GgmlType type : kernels::PackedLinear::types()) {
    for (const std::int64_t k : {256, 2304}) {
      const std::int64_t n = 45;
      const auto bytes = formats::random_rows(type, n, k, rng);
      const PackedLinear from_file = stored(type, n, k, bytes, pool);
      const PackedLinear widened = plain(n, k, formats::dequantised(type, bytes), pool);
      const auto x = random_values(33 * k, rng);
      test::for_each_variant([&](const char* variant) {
        for (std::int64_t rows = 1; rows <= 33; ++rows) {
          CAPTURE(formats::to_string(type));
          CAPTURE(variant);
          CAPTURE(rows);
          CAPTURE(k);
          const auto y = run(from_file, x, rows, pool), want = run(widened, x, rows, pool);
          REQUIRE(test::first_difference(y.data(), want.data(), rows * n) == -1);
        }
      });
    }
  }
}

TEST_CASE(
    "stored weights: a row has the bits it has alone however many share the call, in every type") {
  Rng rng(28);
  ThreadPool pool(2);
  // Around the numbers of rows from which weights are decoded for all and x is read where it is; 45
  // outputs are a panel that is not full, 1280 inputs two stretches of decoded values.
  const std::int64_t n = 45, k = 1280, most = 206;
  const auto x = random_values(most * k, rng);
  for (const GgmlType type : kernels::PackedLinear::types()) {
    const PackedLinear packed = stored(type, n, k, formats::random_rows(type, n, k, rng), pool);
    test::for_each_variant([&](const char* variant) {
      std::vector<float> alone(static_cast<std::size_t>(most * n));
      for (std::int64_t r = 0; r < most; ++r)
        linear(packed, x.data() + r * k, k, 1, alone.data() + r * n, n, pool);
      for (const std::int64_t rows : {7, 15, 17, 29, 42, 43, 57, 167, 169, 204, 205, 206}) {
        CAPTURE(formats::to_string(type));
        CAPTURE(variant);
        CAPTURE(rows);
        const auto y = run(packed, x, rows, pool);
        REQUIRE(test::first_difference(y.data(), alone.data(), rows * n) == -1);
      }
    });
  }
}

TEST_CASE("stored weights: types of 32 and 64 values need no whole number of chains") {
  Rng rng(22);
  ThreadPool pool(1);
  using enum GgmlType;
  for (const GgmlType type : {kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0, kIQ4_NL, kMXFP4, kNVFP4}) {
    for (const std::int64_t blocks : {1, 3, 5, 33}) {
      const std::int64_t n = 33, k = blocks * formats::block_elements(type);
      const auto bytes = formats::random_rows(type, n, k, rng);
      const PackedLinear from_file = stored(type, n, k, bytes, pool);
      const PackedLinear widened = plain(n, k, formats::dequantised(type, bytes), pool);
      const auto x = random_values(230 * k, rng);
      test::for_each_variant([&](const char* variant) {
        for (const std::int64_t rows : {1, 2, 3, 4, 5, 16, 31, 230}) {
          CAPTURE(formats::to_string(type));
          CAPTURE(variant);
          CAPTURE(rows);
          CAPTURE(k);
          const auto y = run(from_file, x, rows, pool), want = run(widened, x, rows, pool);
          REQUIRE(test::first_difference(y.data(), want.data(), rows * n) == -1);
        }
      });
    }
  }
}

TEST_CASE("stored weights: every byte that is a scale gives the bits of the dequantised values") {
  Rng rng(30);
  ThreadPool pool(1);
  struct Scales {
    GgmlType type;
    int bytes;       // of scales, at the beginning of a block
    unsigned codes;  // of which bits of a random byte of codes are taken, beside ...
    unsigned set;    // ... these
  };
  // 2 * 2^127 overflows a float, so MXFP4 gets the codes of +1 and -1 alone.
  for (const auto& [type, bytes, codes, set] :
       {Scales{GgmlType::kMXFP4, 1, 0x88, 0x11}, Scales{GgmlType::kNVFP4, 4, 0xff, 0}}) {
    CAPTURE(formats::to_string(type));
    const std::int64_t k = formats::block_elements(type), n = 256 / bytes;
    std::vector<std::byte> rows;
    for (std::int64_t row = 0; row < n; ++row)
      for (int at = 0; at < formats::block_bytes(type); ++at)
        rows.push_back(static_cast<std::byte>(
            at < bytes ? static_cast<unsigned>(row) * static_cast<unsigned>(bytes) +
                             static_cast<unsigned>(at)
                       : (static_cast<unsigned>(rng.uniform() * 256) & codes) | set));
    const auto want = formats::dequantised(type, rows);
    const PackedLinear packed = stored(type, n, k, rows, pool);
    std::vector<float> one(static_cast<std::size_t>(k)), row(static_cast<std::size_t>(k));
    test::for_each_variant([&](const char* variant) {
      CAPTURE(variant);
      for (std::int64_t i = 0; i < n; ++i) {
        packed.read_row(i, row.data());
        REQUIRE(test::first_difference(row.data(), want.data() + i * k, k) == -1);
      }
      for (std::int64_t at = 0; at < k; ++at) {
        one.assign(one.size(), 0.0f);
        one[static_cast<std::size_t>(at)] = 1;
        const auto y = run(packed, one, 1, pool);
        for (std::int64_t i = 0; i < n; ++i)
          REQUIRE(y[static_cast<std::size_t>(i)] == want[static_cast<std::size_t>(i * k + at)]);
      }
    });
  }
}

TEST_CASE("stored weights: every row reads back as its dequantised values") {
  Rng rng(23);
  ThreadPool pool(2);
  const std::int64_t n = 40, k = 512;
  for (const GgmlType type : kernels::PackedLinear::types()) {
    const auto bytes = formats::random_rows(type, n, k, rng);
    const auto want = formats::dequantised(type, bytes);
    const PackedLinear packed = stored(type, n, k, bytes, pool);
    std::vector<float> row(static_cast<std::size_t>(k));
    test::for_each_variant([&](const char* variant) {
      for (std::int64_t i = 0; i < n; ++i) {
        CAPTURE(formats::to_string(type));
        CAPTURE(variant);
        CAPTURE(i);
        packed.read_row(i, row.data());
        REQUIRE(test::first_difference(row.data(), want.data() + i * k, k) == -1);
      }
    });
  }
}

TEST_CASE(
    "stored weights: rows may come in any chunks, to one thread or several, packed by any instruction set") {
  Rng rng(25);
  const std::int64_t n = 77, k = 512;
  const std::pair<int, int> chunks[] = {{40, 37}, {0, 3}, {3, 37}};
  for (const GgmlType type : kernels::PackedLinear::types()) {
    const auto bytes = formats::random_rows(type, n, k, rng);
    const auto want = formats::dequantised(type, bytes);
    const std::size_t row_bytes = bytes.size() / static_cast<std::size_t>(n);
    for (const int threads : {1, 2}) {
      ThreadPool pool(threads);
      std::vector<PackedLinear> packed;
      test::for_each_variant([&](const char*) {
        PackedLinear& w = packed.emplace_back(std::array{PackedLinear::Part{n, type}}, k);
        for (const auto& [first, count] : chunks) {
          w.set_stored_rows(first, count,
                            std::span(bytes).subspan(static_cast<std::size_t>(first) * row_bytes,
                                                     static_cast<std::size_t>(count) * row_bytes),
                            pool);
        }
      });
      // All of them read by the best.
      std::vector<float> row(static_cast<std::size_t>(k));
      for (std::size_t variant = 0; variant < packed.size(); ++variant) {
        for (std::int64_t i = 0; i < n; ++i) {
          CAPTURE(formats::to_string(type));
          CAPTURE(threads);
          CAPTURE(variant);
          CAPTURE(i);
          packed[variant].read_row(i, row.data());
          REQUIRE(test::first_difference(row.data(), want.data() + i * k, k) == -1);
        }
      }
    }
  }
}

TEST_CASE(
    "stored weights: one call may fill several matrices, each from where the one before it ends") {
  Rng rng(26);
  ThreadPool pool(2);
  const std::int64_t k = 64;
  const auto first = formats::random_rows(GgmlType::kQ4_0, 40, k, rng),
             second = formats::random_rows(GgmlType::kQ8_0, 20, k, rng);
  auto values = formats::dequantised(GgmlType::kQ4_0, first);
  const auto more = formats::dequantised(GgmlType::kQ8_0, second);
  values.insert(values.end(), more.begin(), more.end());
  using Part = PackedLinear::Part;
  const Part parts[] = {{40, GgmlType::kQ4_0}, {20, GgmlType::kQ8_0}};
  PackedLinear packed(parts, k);
  // Rows 0 to 9 and 55 to 59, then those between.
  packed.set_stored_rows(0, 10, first, pool);
  packed.set_stored_rows(55, 5, std::span(second).last(5 * 68), pool);
  std::vector<std::byte> between(first.begin() + 10 * 36, first.end());
  between.insert(between.end(), second.begin(), second.begin() + 15 * 68);
  packed.set_stored_rows(10, 45, between, pool);
  std::vector<float> row(static_cast<std::size_t>(k));
  for (std::int64_t i = 0; i < 60; ++i) {
    CAPTURE(i);
    packed.read_row(i, row.data());
    REQUIRE(test::first_difference(row.data(), values.data() + i * k, k) == -1);
  }
  between.pop_back();
  CHECK_THROWS_WITH_AS(packed.set_stored_rows(10, 45, between, pool),
                       "PackedLinear::set_stored_rows: expected 1020 bytes of Q8_0, found 1019",
                       Error);
}

TEST_CASE(
    "stored weights: matrices of different types share a layer, each from a panel of its own") {
  Rng rng(24);
  ThreadPool pool(3);
  const std::int64_t k = 256, most_rows = 20;
  using enum GgmlType;
  const std::vector<PackedLinear::Part> parts = {
      {50, kQ4_1}, {7, kQ6_K}, {33, kF16}, {64, kF32}, {40, kQ4_0}};
  PackedLinear packed(parts, k);
  std::vector<float> dense;
  std::int64_t first = 0;
  for (const auto& [outputs, type] : parts) {
    const auto bytes = formats::random_rows(type, outputs, k, rng);
    const auto values = formats::dequantised(type, bytes);
    dense.insert(dense.end(), values.begin(), values.end());
    // In two pieces, the later one first.
    const std::int64_t cut = outputs / 3;
    const std::size_t bytes_before =
        static_cast<std::size_t>(cut) * bytes.size() / static_cast<std::size_t>(outputs);
    packed.set_stored_rows(first + cut, outputs - cut, std::span(bytes).subspan(bytes_before),
                           pool);
    packed.set_stored_rows(first, cut, std::span(bytes).first(bytes_before), pool);
    first += outputs;
  }
  const std::int64_t n = packed.outputs();
  CHECK(n == 194);
  const auto bias = random_values(n, rng);
  packed.set_bias(0, n, bias.data());
  PackedLinear one = plain(n, k, dense, pool);
  one.set_bias(0, n, bias.data());
  const auto x = random_values(most_rows * k, rng);
  // By one thread a part of blocks also meets what plain parts before it left in the scratch.
  ThreadPool alone(1);
  test::for_each_variant([&](const char* variant) {
    CAPTURE(variant);
    for (const std::int64_t rows : {1, 2, 6, 15, 16, 17, 20}) {
      CAPTURE(rows);
      const auto want = run(one, x, rows, pool);
      for (ThreadPool* const threads : {&pool, &alone}) {
        const auto y = run(packed, x, rows, *threads);
        CHECK(test::first_difference(y.data(), want.data(), rows * n) == -1);
      }
    }
  });
}

TEST_CASE(
    "stored weights: a matrix behind one whose panels end within a cache line is read whole") {
  Rng rng(29);
  ThreadPool pool(1);
  const std::int64_t k = 96;  // three blocks of 544 bytes a panel
  const std::vector<PackedLinear::Part> parts = {{20, GgmlType::kMXFP4}, {40, GgmlType::kQ8_0}};
  std::vector<std::byte> stored;
  std::vector<float> values;
  for (const auto& [outputs, type] : parts) {
    const auto bytes = formats::random_rows(type, outputs, k, rng);
    const auto widened = formats::dequantised(type, bytes);
    stored.insert(stored.end(), bytes.begin(), bytes.end());
    values.insert(values.end(), widened.begin(), widened.end());
  }
  const PackedLinear widened = plain(60, k, values, pool);
  const auto x = random_values(k, rng);
  test::for_each_variant([&](const char* variant) {
    PackedLinear packed(parts, k);
    packed.set_stored_rows(0, 60, stored, pool);
    CAPTURE(variant);
    std::vector<float> row(static_cast<std::size_t>(k));
    for (std::int64_t i = 0; i < 60; ++i) {
      packed.read_row(i, row.data());
      REQUIRE(test::first_difference(row.data(), values.data() + i * k, k) == -1);
    }
    const auto y = run(packed, x, 1, pool), want = run(widened, x, 1, pool);
    CHECK(test::first_difference(y.data(), want.data(), 60) == -1);
  });
}

TEST_CASE("stored weights: they take the room of their file, a few bytes a block more at most") {
  ThreadPool pool(1);
  const std::int64_t n = 64, k = 1024;
  for (const GgmlType type : kernels::PackedLinear::types()) {
    const PackedLinear packed(std::array{PackedLinear::Part{n, type}}, k);
    const double file =
        static_cast<double>(n * k / formats::block_elements(type)) * formats::block_bytes(type);
    CAPTURE(formats::to_string(type));
    CHECK(static_cast<double>(packed.bytes()) >= file);
    CHECK(static_cast<double>(packed.bytes()) <= file * 1.04);
  }
}

TEST_CASE(
    "stored weights: inputs that are not whole blocks, missing bytes and fp32 rows for blocks are refused") {
  ThreadPool pool(1);
  using Part = PackedLinear::Part;
  CHECK_THROWS_WITH_AS(PackedLinear(std::array{Part{4, GgmlType::kQ4_K}}, 576),
                       "linear layer of type Q4_K: expected a multiple of 256 inputs, found 576",
                       Error);
  PackedLinear packed(std::array{Part{4, GgmlType::kQ8_0}}, 64);
  const std::vector<std::byte> three(3 * 68);
  CHECK_THROWS_WITH_AS(packed.set_stored_rows(0, 4, three, pool),
                       "PackedLinear::set_stored_rows: expected 272 bytes of Q8_0, found 204",
                       Error);
  const std::vector<float> row(64);
  CHECK_THROWS_WITH_AS(packed.set_rows(0, 1, row.data(), pool),
                       "PackedLinear::set_rows: expected a matrix of F32 or BF16, found Q8_0; use "
                       "set_stored_rows",
                       Error);
}

}  // namespace
}  // namespace triescope::kernels
