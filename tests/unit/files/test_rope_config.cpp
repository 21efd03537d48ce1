// Rope settings by kind, from config.json and from GGUF: every number, given and left out. Formulas
// and defaults are those of transformers' modeling_rope_utils.py.
#include <doctest/doctest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/config_files.h"

namespace test_rope_config {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// rope_scaling of a Llama with a context of 256 and heads of 16.
RopeConfig rope_of(const std::string& scaling, const std::string& more = "") {
  return config_of("llama",
                   R"("rope_scaling":{)" + scaling + "}" + (more.empty() ? "" : ",") + more)
      .ropes[0];
}

std::string refused(ErrorCode code, const std::string& scaling) {
  return refusal(code, [&] { rope_of(scaling); });
}

std::string numbers(int count, const std::string& value) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + value;
  return "[" + list + "]";
}

}  // namespace

TEST_CASE("rope config: a config without rope settings has the default rope over the whole head") {
  const ModelConfig config = config_of("llama");
  REQUIRE(config.ropes.size() == 1);
  const RopeConfig& rope = config.ropes[0];
  CHECK(rope.kind == RopeKind::kDefault);
  CHECK(rope.theta == 10000);
  CHECK(rope.dims == 16);
  CHECK(rope.factor == 1);
  CHECK(rope.attention_factor == 1);
  CHECK(rope.original_context == 256);
}

TEST_CASE(
    "rope config: a part of the head is rotated in the family that does so, by the config or its rope settings") {
  const auto phi3 = [](const std::string& more) { return config_of("phi3", more).ropes[0].dims; };
  CHECK(phi3(R"("partial_rotary_factor":0.5)") == 8);
  CHECK(phi3(R"("rope_scaling":{"rope_type":"default","partial_rotary_factor":0.25},
                "partial_rotary_factor":0.5)") == 4);
  CHECK(phi3(R"("partial_rotary_factor":1)") == 16);
  for (const char* factor : {"0", "1.01", "-0.5"})
    for (const char* family : {"llama", "phi3"})
      CHECK(has(
          refusal(ErrorCode::kCorruption,
                  [&] { config_of(family, std::string(R"("partial_rotary_factor":)") + factor); }),
          "partial_rotary_factor: expected a number above 0, at most 1"));
}

// transformers 5.17 decodes such a Llama as if the key were not there.
TEST_CASE(
    "rope config: families that rotate whole heads do so whatever partial_rotary_factor says, with a note") {
  for (const char* more :
       {R"("partial_rotary_factor":0.5)",
        R"("rope_parameters":{"rope_type":"default","partial_rotary_factor":0.5})"}) {
    const ModelConfig config = config_of("llama", more);
    CHECK(config.ropes[0].dims == 16);
    REQUIRE(config.notes.size() == 1);
    CHECK(has(config.notes[0], "partial_rotary_factor is not followed"));
  }
  CHECK(config_of("llama", R"("partial_rotary_factor":1)").notes.empty());
  CHECK(has(refused(ErrorCode::kNotSupported,
                    R"("rope_type":"linear","factor":2,"partial_rotary_factor":0.5)"),
            "partial_rotary_factor below 1 with a rope type other than default"));
}

TEST_CASE(
    "rope config: rope_type has the last word over the older type, a theta of its own over the config's") {
  CHECK(rope_of(R"("rope_type":"linear","type":"wild","factor":3)").kind == RopeKind::kLinear);
  CHECK(rope_of(R"("type":"linear","factor":3)", R"("rope_theta":5000)").theta == 5000);
  CHECK(rope_of(R"("type":"linear","factor":3,"rope_theta":7000)", R"("rope_theta":5000)").theta ==
        7000);
}

TEST_CASE("rope config: linear and dynamic rope") {
  const RopeConfig linear = rope_of(R"("rope_type":"linear","factor":2.5)");
  CHECK(linear.kind == RopeKind::kLinear);
  CHECK(linear.factor == 2.5);
  CHECK(linear.attention_factor == 1);
  // Dynamic rope grows past the config's context, whatever the original one was.
  const RopeConfig dynamic =
      rope_of(R"("rope_type":"dynamic","factor":4,"original_max_position_embeddings":64)");
  CHECK(dynamic.kind == RopeKind::kDynamic);
  CHECK(dynamic.factor == 4);
  CHECK(dynamic.original_context == 256);
  CHECK(has(refused(ErrorCode::kCorruption, R"("rope_type":"dynamic")"), "factor"));
}

TEST_CASE("rope config: llama3 rope has no defaults") {
  const std::string all =
      R"("rope_type":"llama3","factor":8,"low_freq_factor":2,"high_freq_factor":5)";
  const RopeConfig rope = rope_of(all);
  CHECK(rope.kind == RopeKind::kLlama3);
  CHECK(rope.factor == 8);
  CHECK(rope.low_freq_factor == 2);
  CHECK(rope.high_freq_factor == 5);
  CHECK(rope.original_context == 256);
  for (const char* key : {"factor", "low_freq_factor", "high_freq_factor"}) {
    std::string without = all;
    without.replace(without.find(std::string("\"") + key), 1, "\"x");
    CHECK(has(refused(ErrorCode::kCorruption, without), key));
  }
}

TEST_CASE("yarn rope: factor and attention factor are inferred where they are left out") {
  const RopeConfig plain = rope_of(R"("rope_type":"yarn","original_max_position_embeddings":64)");
  CHECK(plain.kind == RopeKind::kYarn);
  CHECK(plain.original_context == 64);
  CHECK(plain.factor == 4);
  CHECK(plain.attention_factor == doctest::Approx(0.1 * std::log(4) + 1).epsilon(1e-12));
  CHECK(plain.beta_fast == 32);
  CHECK(plain.beta_slow == 1);
  CHECK(plain.truncate);
  const RopeConfig given =
      rope_of(R"("rope_type":"yarn","factor":2,"beta_fast":16,"beta_slow":3,"truncate":false,)"
              R"("attention_factor":0.5)");
  CHECK(given.factor == 2);
  CHECK(given.beta_fast == 16);
  CHECK(given.beta_slow == 3);
  CHECK(!given.truncate);
  CHECK(given.attention_factor == 0.5);
  CHECK(rope_of(R"("rope_type":"yarn","factor":1)").attention_factor == 1);
  // DeepSeek's two scales: their quotient.
  CHECK(rope_of(R"("rope_type":"yarn","factor":4,"mscale":2,"mscale_all_dim":0.5)")
            .attention_factor ==
        doctest::Approx((0.2 * std::log(4) + 1) / (0.05 * std::log(4) + 1)).epsilon(1e-12));
  CHECK(rope_of(R"("rope_type":"yarn","factor":4,"mscale":2)").attention_factor ==
        doctest::Approx(0.1 * std::log(4) + 1).epsilon(1e-12));
}

TEST_CASE("longrope: two lists, an attention factor by how much longer the context is") {
  const std::string lists = R"("rope_type":"longrope","short_factor":)" + numbers(8, "1.5") +
                            R"(,"long_factor":)" + numbers(8, "3");
  const RopeConfig rope = rope_of(lists + R"(,"original_max_position_embeddings":64)");
  CHECK(rope.kind == RopeKind::kLongRope);
  CHECK(rope.short_factor == std::vector<double>(8, 1.5));
  CHECK(rope.long_factor == std::vector<double>(8, 3.0));
  CHECK(rope.factor == 4);
  CHECK(rope.attention_factor ==
        doctest::Approx(std::sqrt(1 + std::log(4) / std::log(64))).epsilon(1e-12));
  CHECK(rope_of(lists).attention_factor == 1);  // the context is the original one
  const RopeConfig given = rope_of(
      lists + R"(,"factor":8,"attention_factor":1.25,"original_max_position_embeddings":64)");
  CHECK(given.factor == 8);
  CHECK(given.attention_factor == 1.25);
  // Phi-3 says the original context beside rope_scaling, and that counts.
  CHECK(rope_of(lists + R"(,"original_max_position_embeddings":64)",
                R"("original_max_position_embeddings":32)")
            .original_context == 32);
  CHECK(rope_of(R"("type":"su","short_factor":)" + numbers(8, "1") + R"(,"long_factor":)" +
                numbers(8, "1"))
            .kind == RopeKind::kLongRope);
}

namespace {

GgufWriter llama() { return gguf_of("llama", 2); }

// The rope of a Llama GGUF (context 128, heads of 16) with one more key.
template <class Value>
RopeConfig gguf_rope(const char* key, Value value) {
  GgufWriter writer = llama();
  writer.add(std::string("llama.rope.") + key, value);
  return config_of(writer).ropes[0];
}

GgufWriter yarn() {
  GgufWriter writer = llama();
  writer.add("llama.rope.scaling.type", std::string("yarn"));
  writer.add("llama.rope.scaling.factor", 4.0f);
  return writer;
}

}  // namespace

TEST_CASE("GGUF rope: theta, dimensions and original context, given and left out") {
  const RopeConfig rope = config_of(llama()).ropes[0];
  CHECK(rope.kind == RopeKind::kDefault);
  CHECK(rope.theta == 10000);
  CHECK(rope.dims == 16);
  CHECK(rope.original_context == 128);
  CHECK(rope.divisors.empty());
  CHECK(gguf_rope("freq_base", 5000.0f).theta == 5000);
  CHECK(gguf_rope("dimension_count", std::uint32_t{8}).dims == 8);
  CHECK(gguf_rope("scaling.original_context_length", std::uint32_t{32}).original_context == 32);
}

TEST_CASE("GGUF rope: linear, in the newer spelling and the older") {
  GgufWriter writer = llama();
  writer.add("llama.rope.scaling.type", std::string("linear"));
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { config_of(writer); }), "rope.scaling.factor"));
  writer.add("llama.rope.scaling.factor", 3.0f);
  CHECK(config_of(writer).ropes[0].kind == RopeKind::kLinear);
  CHECK(config_of(writer).ropes[0].factor == 3);
  const RopeConfig older = gguf_rope("scale_linear", 2.0f);
  CHECK(older.kind == RopeKind::kLinear);
  CHECK(older.factor == 2);
}

TEST_CASE("GGUF rope: yarn's numbers, given and left out") {
  const double inferred = 0.1 * std::log(4) + 1;
  GgufWriter writer = yarn();
  const RopeConfig plain = config_of(writer).ropes[0];
  CHECK(plain.kind == RopeKind::kYarn);
  CHECK(plain.factor == 4);
  CHECK(plain.beta_fast == 32);
  CHECK(plain.beta_slow == 1);
  CHECK(plain.attention_factor == doctest::Approx(inferred).epsilon(1e-12));
  writer.add("llama.rope.scaling.yarn_beta_fast", 16.0f);
  writer.add("llama.rope.scaling.yarn_beta_slow", 2.0f);
  writer.add("llama.rope.scaling.attn_factor", 0.5f);
  const RopeConfig given = config_of(writer).ropes[0];
  CHECK(given.beta_fast == 16);
  CHECK(given.beta_slow == 2);
  CHECK(given.attention_factor == doctest::Approx(0.5 * inferred).epsilon(1e-12));
  writer.add("llama.rope.scaling.yarn_attn_factor", 3.0f);
  CHECK(config_of(writer).ropes[0].attention_factor == 1.5);
  for (const float mix : {1.0f, -1.0f}) {  // both mean the usual mix
    GgufWriter mixed = yarn();
    mixed.add("llama.rope.scaling.yarn_ext_factor", mix);
    CHECK(config_of(mixed).ropes[0].kind == RopeKind::kYarn);
  }
  GgufWriter other = yarn();
  other.add("llama.rope.scaling.yarn_ext_factor", 0.5f);
  CHECK(has(refusal(ErrorCode::kNotSupported, [&] { config_of(other); }), "yarn_ext_factor"));
}

TEST_CASE("GGUF rope: longrope is told by its two tensors alone") {
  const std::vector<float> shorter = {1, 1, 1, 1, 1, 1, 1, 2}, longer = {3, 3, 3, 3, 3, 3, 3, 4};
  GgufWriter one = gguf_of("phi3", 2);
  one.add("phi3.rope.scaling.original_context_length", std::uint32_t{32});
  GgufWriter other = one;
  one.add_f32("rope_factors_long.weight", {8}, longer);
  other.add_f32("rope_factors_short.weight", {8}, shorter);
  for (const GgufWriter& writer : {one, other})
    CHECK(has(refusal(ErrorCode::kNotSupported, [&] { config_of(writer); }),
              "one of rope_factors_long and rope_factors_short without the other"));
  GgufWriter both = one;
  both.add_f32("rope_factors_short.weight", {8}, shorter);
  const RopeConfig rope = config_of(both).ropes[0];
  CHECK(rope.kind == RopeKind::kLongRope);
  CHECK(rope.short_factor == std::vector<double>(shorter.begin(), shorter.end()));
  CHECK(rope.long_factor == std::vector<double>(longer.begin(), longer.end()));
  CHECK(rope.attention_factor ==
        doctest::Approx(std::sqrt(1 + std::log(4) / std::log(32))).epsilon(1e-12));
  both.add("phi3.rope.scaling.attn_factor", 1.5f);
  CHECK(config_of(both).ropes[0].attention_factor == 1.5);
  GgufWriter few = gguf_of("phi3", 2);
  few.add_f32("rope_factors_long.weight", {7}, std::vector<float>(7, 1.0f));
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { config_of(few); }),
            "tensor 'rope_factors_long.weight': expected 8 F32 values, found 7 of F32"));
  GgufWriter halves = gguf_of("phi3", 2);
  halves.add_entry("rope_factors_long.weight", {8}, 1, halves.data.size());
  halves.data.resize(halves.data.size() + 32, '\0');
  CHECK(has(refusal(ErrorCode::kCorruption, [&] { config_of(halves); }), "found 8 of F16"));
}

TEST_CASE("GGUF rope: the frequencies' divisors are the tensor rope_freqs") {
  GgufWriter writer = llama();
  const std::vector<float> divisors = {1, 1, 1, 1, 2, 4, 8, 8};
  writer.add_f32("rope_freqs.weight", {8}, divisors);
  CHECK(config_of(writer).ropes[0].divisors == divisors);
}

}  // namespace test_rope_config
