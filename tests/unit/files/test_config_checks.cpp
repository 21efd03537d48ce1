// What validate() accepts and refuses, each limit from both sides.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace test_config_checks {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// A good configuration, changed.
template <class Change>
std::string refused(Change change) {
  ModelConfig config = config_of("llama");
  change(config);
  try {
    validate(config, "the file");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kCorruption);
    const std::string message = error.what();
    CHECK(message.starts_with("the file: "));
    return message.substr(std::string("the file: ").size());
  }
  return "";
}

// The same of its rope, whose 16 dimensions make 8 frequencies.
template <class Change>
std::string refused_rope(RopeKind kind, Change change) {
  return refused([&](ModelConfig& config) {
    RopeConfig& rope = config.ropes[0];
    rope.kind = kind;
    rope.original_context = 64;
    rope.short_factor.assign(8, 1.0);
    rope.long_factor.assign(8, 2.0);
    change(rope);
  });
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("config checks: sizes are accepted up to their limits and refused past them, by name") {
  const auto limits = [](int ModelConfig::*field, int low, int high, const std::string& name) {
    CAPTURE(name);
    const auto at = [&](int value) {
      return refused([&](ModelConfig& config) { config.*field = value; });
    };
    const std::string expected = "expected " + name + " from " + std::to_string(low) + " to " +
                                 std::to_string(high) + ", found ";
    CHECK(at(low).find(expected) == std::string::npos);
    CHECK(at(high).find(expected) == std::string::npos);
    CHECK(at(low - 1) == expected + std::to_string(low - 1));
    CHECK(at(high + 1) == expected + std::to_string(high + 1));
  };
  limits(&ModelConfig::hidden, 1, 1 << 17, "hidden size");
  limits(&ModelConfig::heads, 1, 1 << 12, "attention heads");
  limits(&ModelConfig::kv_heads, 1, 4, "key/value heads");
  limits(&ModelConfig::head_dim, 1, 1024, "head_dim");
  limits(&ModelConfig::intermediate, 1, 1 << 20, "intermediate size");
  limits(&ModelConfig::vocab_size, 1, 1 << 24, "vocabulary size");
  limits(&ModelConfig::context, 1, 1 << 28, "context length");
  CHECK(refused([](ModelConfig& config) { config.layers.resize(1024); }) == "");
  CHECK(refused([](ModelConfig& config) { config.layers.resize(1025); }) ==
        "expected layers from 1 to 1024, found 1025");
  CHECK(refused([](ModelConfig& config) { config.layers.clear(); }) ==
        "expected layers from 1 to 1024, found 0");
  CHECK(refused([](ModelConfig& config) { config.kv_heads = 3; }) ==
        "expected attention heads (4) to be a multiple of key/value heads (3)");
}

TEST_CASE(
    "config checks: epsilon and soft caps may be 0, scales may not; none may be negative or infinite") {
  const auto with = [](float ModelConfig::*field, double value) {
    return refused([&](ModelConfig& config) { config.*field = static_cast<float>(value); });
  };
  const std::string epsilon = "expected a norm epsilon of 0 or more";
  CHECK(with(&ModelConfig::norm_eps, 0) == "");
  CHECK(with(&ModelConfig::norm_eps, -1e-6) == epsilon);
  CHECK(with(&ModelConfig::norm_eps, kInfinity) == epsilon);
  for (const auto field : {&ModelConfig::attention_scale, &ModelConfig::embedding_scale})
    for (const double value : {0.0, -1.0, kInfinity})
      CHECK(with(field, value) == "expected scales above 0");
  for (const auto field : {&ModelConfig::attention_softcap, &ModelConfig::logit_softcap}) {
    CHECK(with(field, 0) == "");
    CHECK(with(field, 30) == "");
    for (const double value : {-1.0, kInfinity, static_cast<double>(NAN)})
      CHECK(with(field, value) == "expected soft caps of 0 or more");
  }
}

TEST_CASE("config checks: a layer names a rope that is there or none; its window is not negative") {
  const auto with = [](int window, int rope) {
    return refused([&](ModelConfig& config) { config.layers[2] = {window, rope}; });
  };
  CHECK(with(0, 0) == "");
  CHECK(with(1, -1) == "");
  CHECK(with(0, 1) == "no such rope");
  CHECK(with(0, -2) == "no such rope");
  CHECK(with(-1, 0) == "expected a sliding window above 0");
}

TEST_CASE("config checks: an end-of-sequence id is one of the vocabulary") {
  const auto with = [](std::int32_t id) {
    return refused([&](ModelConfig& config) { config.eos_token_ids = {7, id}; });
  };
  CHECK(with(0) == "");
  CHECK(with(99) == "");
  CHECK(with(100) == "expected end-of-sequence ids below the vocabulary size 100, found 100");
  CHECK(with(-1) == "expected end-of-sequence ids below the vocabulary size 100, found -1");
}

TEST_CASE("rope: an even number of dimensions of the head, numbers above 0") {
  const auto dims = [](int count) {
    return refused([&](ModelConfig& config) { config.ropes[0].dims = count; });
  };
  const auto expected = [](int count) {
    return "expected an even number of rotary dimensions up to head_dim = 16, found " +
           std::to_string(count);
  };
  CHECK(dims(2) == "");
  CHECK(dims(16) == "");
  for (const int count : {0, 1, 15, 17, 18, -2}) CHECK(dims(count) == expected(count));
  for (const auto field : {&RopeConfig::theta, &RopeConfig::factor, &RopeConfig::attention_factor})
    for (const double value : {0.0, -1.0, kInfinity})
      CHECK(refused_rope(RopeKind::kDefault, [&](RopeConfig& rope) { rope.*field = value; }) ==
            "expected rope theta, factor and attention factor above 0");
}

TEST_CASE("llama3 rope: high_freq_factor above low_freq_factor above 0") {
  const auto with = [](double low, double high, int context = 64) {
    return refused_rope(RopeKind::kLlama3, [&](RopeConfig& rope) {
      rope.low_freq_factor = low;
      rope.high_freq_factor = high;
      rope.original_context = context;
    });
  };
  const std::string expected =
      "llama3 rope: expected high_freq_factor > low_freq_factor > 0 and an original context";
  CHECK(with(1, 4) == "");
  CHECK(with(1, 1) == expected);
  CHECK(with(4, 1) == expected);
  CHECK(with(0, 4) == expected);
  CHECK(with(1, kInfinity) == expected);
  CHECK(with(1, 4, 1) == "");
  CHECK(with(1, 4, 0) == expected);
}

TEST_CASE("yarn and dynamic rope: what their formulas divide by is not 0") {
  const auto yarn = [](double fast, double slow, int context) {
    return refused_rope(RopeKind::kYarn, [&](RopeConfig& rope) {
      rope.beta_fast = fast;
      rope.beta_slow = slow;
      rope.original_context = context;
    });
  };
  const std::string expected_yarn =
      "yarn rope: expected beta_fast, beta_slow and an original context above 0";
  CHECK(yarn(32, 1, 64) == "");
  CHECK(yarn(0, 1, 64) == expected_yarn);
  CHECK(yarn(32, 0, 64) == expected_yarn);
  CHECK(yarn(32, 1, 0) == expected_yarn);
  const auto dynamic = [](double factor, int dims, int context) {
    return refused_rope(RopeKind::kDynamic, [&](RopeConfig& rope) {
      rope.factor = factor;
      rope.dims = dims;
      rope.original_context = context;
    });
  };
  const std::string expected_dynamic =
      "dynamic rope: expected a context, a factor of 1 or more and more than 2 dimensions";
  CHECK(dynamic(1, 4, 64) == "");
  CHECK(dynamic(0.5, 4, 64) == expected_dynamic);
  CHECK(dynamic(2, 2, 64) == expected_dynamic);
  CHECK(dynamic(2, 4, 0) == expected_dynamic);
}

TEST_CASE("longrope and rope factors: one number above 0 for each of half the dimensions") {
  const auto with = [](std::size_t shorter, std::size_t longer, double value = 1) {
    return refused_rope(RopeKind::kLongRope, [&](RopeConfig& rope) {
      rope.short_factor.assign(shorter, value);
      rope.long_factor.assign(longer, 1.0);
      rope.long_factor.back() = value;
    });
  };
  const std::string sizes = "longrope: expected short_factor and long_factor of 8 numbers";
  CHECK(with(8, 8) == "");
  for (const std::size_t wrong : {7u, 9u}) {
    CHECK(with(wrong, 8) == sizes);
    CHECK(with(8, wrong) == sizes);
  }
  CHECK(with(8, 8, 0) == "longrope: expected factors above 0");
  for (std::vector<double> RopeConfig::*list :
       {&RopeConfig::short_factor, &RopeConfig::long_factor})
    CHECK(refused_rope(RopeKind::kLongRope, [&](RopeConfig& rope) { (rope.*list)[7] = -1; }) ==
          "longrope: expected factors above 0");
  CHECK(refused_rope(RopeKind::kLongRope, [](RopeConfig& rope) { rope.original_context = 0; }) ==
        sizes);
  const auto divisors = [](std::vector<float> values) {
    return refused_rope(RopeKind::kDefault, [&](RopeConfig& rope) { rope.divisors = values; });
  };
  CHECK(divisors(std::vector<float>(8, 2.0f)) == "");
  CHECK(divisors(std::vector<float>(7, 2.0f)) == "expected 8 rope factors, found 7");
  CHECK(divisors(std::vector<float>(9, 2.0f)) == "expected 8 rope factors, found 9");
  CHECK(divisors(std::vector<float>(8, 0.0f)) == "expected rope factors above 0");
}

}  // namespace test_config_checks
