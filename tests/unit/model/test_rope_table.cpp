// The rotary table against the published formulas in doubles, for every kind, pair by pair.
#include <doctest/doctest.h>

#include "core/model/rope_table.h"
#include "tests/unit/model/plain_transformer.h"

namespace triescope::test {
namespace {

using formats::RopeConfig;
using formats::RopeKind;

struct Angles {
  std::vector<float> cos, sin;
};

Angles angles(const RopeTable& table, int position, int length) {
  Angles a;
  a.cos.resize(static_cast<std::size_t>(table.dims() / 2));
  a.sin.resize(a.cos.size());
  table.fill(position, length, a.cos, a.sin);
  return a;
}

void check_table(const RopeConfig& config, std::initializer_list<int> lengths) {
  const RopeTable table(config);
  REQUIRE(table.dims() == config.dims);
  for (const int length : lengths) {
    for (const int position : {0, 1, 7, length - 1}) {
      CAPTURE(length);
      CAPTURE(position);
      const Angles got = angles(table, position, length);
      for (int i = 0; i < config.dims / 2; ++i) {
        CAPTURE(i);
        const double angle = position * plain_frequency(config, i, length);
        const auto at = static_cast<std::size_t>(i);
        // fp32: an angle is right to 2e-7 of itself.
        const double tolerance = 1e-6 + 4e-7 * angle;
        CHECK(std::abs(got.cos[at] - config.attention_factor * std::cos(angle)) <= tolerance);
        CHECK(std::abs(got.sin[at] - config.attention_factor * std::sin(angle)) <= tolerance);
      }
    }
  }
}

RopeConfig config_of(RopeKind kind) {
  RopeConfig config;
  config.kind = kind;
  config.dims = 16;
  config.theta = 10000;
  config.factor = 4;
  config.original_context = 32;
  return config;
}

TEST_CASE("rope table: default, by hand and by the formula; GGUF's divisors divide") {
  RopeConfig config = config_of(RopeKind::kDefault);
  check_table(config, {1, 20, 200});
  config.dims = 4;  // frequencies 1 and 1/100
  const Angles by_hand = angles(RopeTable(config), 3, 4);
  CHECK(by_hand.cos[0] == doctest::Approx(-0.9899924966).epsilon(1e-7));
  CHECK(by_hand.sin[0] == doctest::Approx(0.1411200081).epsilon(1e-7));
  CHECK(by_hand.cos[1] == doctest::Approx(0.9995500337).epsilon(1e-7));
  CHECK(by_hand.sin[1] == doctest::Approx(0.0299955002).epsilon(1e-7));
  config.divisors = {2, 0.5};
  check_table(config, {20});
}

TEST_CASE("rope table: linear divides every frequency by the factor") {
  check_table(config_of(RopeKind::kLinear), {1, 20, 200});
}

TEST_CASE("rope table: dynamic stretches the base from the first token past the original context") {
  const RopeConfig config = config_of(RopeKind::kDynamic);
  check_table(config, {1, 31, 32, 33, 34, 200});
  const RopeTable table(config);
  const RopeTable plain(config_of(RopeKind::kDefault));
  CHECK(angles(table, 7, 32).cos == angles(plain, 7, 32).cos);
  CHECK(angles(table, 7, 33).cos != angles(plain, 7, 33).cos);
}

TEST_CASE("rope table: llama3 keeps fast pairs, slows slow ones, and blends between") {
  RopeConfig config = config_of(RopeKind::kLlama3);
  config.dims = 32;
  config.theta = 500;
  config.low_freq_factor = 1;
  config.high_freq_factor = 4;
  check_table(config, {1, 20, 200});
  int kept = 0, slowed = 0, blended = 0;  // of all three there are some
  for (int i = 0; i < 16; ++i) {
    const double ratio = plain_frequency(config, i, 1) / std::pow(500, -2.0 * i / 32);
    ratio == 1 ? ++kept : std::abs(ratio - 0.25) < 1e-12 ? ++slowed : ++blended;
  }
  CHECK(kept > 0);
  CHECK(slowed > 0);
  CHECK(blended > 0);
}

TEST_CASE("rope table: yarn, its ramp cut to whole pairs or not, and the attention factor") {
  RopeConfig config = config_of(RopeKind::kYarn);
  config.dims = 32;
  config.theta = 1000;
  config.original_context = 512;
  config.attention_factor = 1.25;
  check_table(config, {1, 20, 200});
  config.truncate = false;
  check_table(config, {20});
  const Angles at_zero = angles(RopeTable(config), 0, 1);
  CHECK(at_zero.cos[0] == 1.25f);
  CHECK(at_zero.sin[0] == 0.0f);
}

TEST_CASE("rope table: longrope takes the long factors from the first token past the original") {
  RopeConfig config = config_of(RopeKind::kLongRope);
  config.dims = 8;
  config.short_factor = {1, 1.5, 2, 2.5};
  config.long_factor = {3, 4, 5, 6};
  config.attention_factor = 1.1;
  check_table(config, {1, 31, 32, 33, 200});
  const RopeTable table(config);
  CHECK(angles(table, 7, 32).cos == angles(table, 7, 8).cos);
  CHECK(angles(table, 7, 33).cos != angles(table, 7, 32).cos);
}

TEST_CASE("rope table: pairs that are not rotated stay, the others have their place among all") {
  RopeConfig config = config_of(RopeKind::kDefault);
  config.dims = 32;
  const Angles all = angles(RopeTable(config), 9, 10);
  config.rotated_pairs = 5;
  const Angles some = angles(RopeTable(config), 9, 10);
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(some.cos[i] == (i < 5 ? all.cos[i] : 1.0f));
    CHECK(some.sin[i] == (i < 5 ? all.sin[i] : 0.0f));
  }
}

}  // namespace
}  // namespace triescope::test
