// Errors, ids and random numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/rng.h"

namespace triescope {
namespace {

TEST_CASE("error: code and message survive being thrown, and every code has its exit code") {
  try {
    throw Error(ErrorCode::kNotSupported, "found X, expected Y");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()) == "found X, expected Y");
    CHECK(dynamic_cast<const Error&>(error).code() == ErrorCode::kNotSupported);
  }
  CHECK(exit_code(ErrorCode::kInvalidArgument) == 2);
  for (const auto code : {ErrorCode::kNotFound, ErrorCode::kCorruption, ErrorCode::kNotSupported})
    CHECK(exit_code(code) == 3);
  for (const auto code : {ErrorCode::kIoError, ErrorCode::kOutOfMemory, ErrorCode::kCuda})
    CHECK(exit_code(code) == 4);
  CHECK(exit_code(ErrorCode::kCancelled) == 130);
}

TEST_CASE("error: every code has a name of its own") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(ErrorCode::kCancelled); ++i)
    names.insert(to_string(static_cast<ErrorCode>(i)));
  CHECK(names.size() == 8);
  CHECK(names.count("unknown error") == 0);
}

TEST_CASE("ids: none by default, ordered, hashable, not mixed up") {
  CHECK_FALSE(NodeId().valid());
  CHECK(NodeId(0).valid());
  CHECK(NodeId(3) < NodeId(4));
  CHECK(std::unordered_set<SlotId>{SlotId(1), SlotId(1), SlotId(2)}.size() == 2);
  static_assert(!std::is_convertible_v<int, NodeId>);
  static_assert(!std::is_convertible_v<SlotId, NodeId>);
}

TEST_CASE("rng: the numbers of a seed never change") {
  // splitmix64 and xoshiro256**, computed in Python from the published definitions.
  Rng zero(0);
  CHECK(zero.next() == 0x99EC5F36CB75F2B4ULL);
  CHECK(zero.next() == 0xBF6E1F784956452AULL);
  CHECK(zero.next() == 0x1A5F849D4933E6E0ULL);
  CHECK(zero.next() == 0x6AA594F1262D2D2CULL);
  CHECK(zero.next() == 0xBBA5AD4A1F842E59ULL);
  for (int i = 5; i < 999; ++i) zero.next();
  CHECK(zero.next() == 0x7AAC8C483A2EDD2FULL);
  CHECK(Rng(0).uniform() == 0x1.33d8be6d96ebfp-1);
  Rng a(1), b(1), c(2);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const auto x = a.next();
    CHECK(x == b.next());
    differs |= x != c.next();
  }
  CHECK(differs);
}

TEST_CASE("rng: uniform is inside (0, 1) with the right mean and spread, and gumbel is finite") {
  Rng rng(42);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, gumbel = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    REQUIRE(u > 0);
    REQUIRE(u < 1);
    sum += u;
    squares += u * u;
    const double g = rng.gumbel();
    REQUIRE(std::isfinite(g));
    gumbel += g;
  }
  const double mean = sum / kDraws;
  // Within 5 standard errors.
  CHECK(std::abs(mean - 0.5) < 5 * std::sqrt(1.0 / 12 / kDraws));
  CHECK(squares / kDraws - mean * mean == doctest::Approx(1.0 / 12).epsilon(0.01));
  CHECK(std::abs(gumbel / kDraws - 0.5772156649) < 5 * std::sqrt(1.6449341 / kDraws));
}

}  // namespace
}  // namespace triescope
