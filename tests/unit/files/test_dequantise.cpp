#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/error.h"
#include "core/files/dequantise.h"
#include "core/files/gguf.h"
#include "core/files/half.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/unit/files/format_test_util.h"

namespace test_dequantise {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;

namespace {

// As in tests/golden/model_dequant.py.
std::uint64_t hash_of(std::span<const float> values) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    hash += std::bit_cast<std::uint32_t>(values[i]) * (2 * i + 1);
  return hash;
}

std::vector<std::byte> random_bytes(std::size_t count) {
  std::vector<std::byte> bytes((count + 7) / 8 * 8);
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    std::memcpy(bytes.data() + i, &z, 8);
  }
  bytes.resize(count);
  return bytes;
}

nlohmann::json golden() {
  return nlohmann::json::parse(read_file(source_dir() / "tests" / "golden" / "model_dequant.json"));
}

}  // namespace

TEST_CASE("dequantise: every block type gives the gguf package's bits") {
  const nlohmann::json expected = golden();
  const auto blocks = expected["blocks"].get<std::size_t>();
  CHECK(expected["types"].size() == ggml_types().size());
  for (const TypeInfo& info : ggml_types()) {
    const GgmlType type = info.type;
    const std::string name = info.name;
    CAPTURE(name);
    REQUIRE(expected["types"].contains(name));
    const nlohmann::json& entry = expected["types"][name];
    const auto size = static_cast<std::size_t>(block_bytes(type));
    std::vector<std::byte> bytes = random_bytes(blocks * size);
    for (const auto& offset : entry["exponents"]) {
      for (std::size_t b = 0; b < blocks; ++b)
        bytes[b * size + offset.get<std::size_t>()] &= std::byte{0xBF};
    }
    std::vector<float> values(entry["values"].get<std::size_t>());
    dequantise(type, bytes, values);
    CHECK(std::to_string(hash_of(values)) == entry["hash"].get<std::string>());
  }
}

TEST_CASE("dequantise: every tensor of SmolLM2 gives the gguf package's bits") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  const nlohmann::json expected = golden()["tensors"];
  const auto file = GgufFile::open(path->string());
  CHECK(file->tensors().size() == expected.size());
  for (const GgufTensor& tensor : file->tensors()) {
    CAPTURE(tensor.name);
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes));
    file->read(tensor, 0, bytes);
    std::vector<float> values(static_cast<std::size_t>(tensor.elements));
    dequantise(tensor.type, bytes, values);
    REQUIRE(expected.contains(tensor.name));
    CHECK(std::to_string(hash_of(values)) == expected[tensor.name].get<std::string>());
  }
}

TEST_CASE("dequantise: blocks that do not fill the output are refused") {
  std::vector<std::byte> bytes(18);
  std::vector<float> values(31);
  CHECK_THROWS_AS(dequantise(GgmlType::kQ4_0, bytes, values), Error);
  CHECK_THROWS_AS(dequantise(GgmlType::kQ4_0, std::span(bytes).first(17), std::span(values)),
                  Error);
  CHECK_THROWS_AS(dequantise(static_cast<GgmlType>(99), bytes, values), Error);
  values.resize(32);
  CHECK_NOTHROW(dequantise(GgmlType::kQ4_0, bytes, values));
  bytes.resize(19);  // a block and a byte
  CHECK_THROWS_WITH_AS(dequantise(GgmlType::kQ4_0, bytes, values),
                       "dequantise: 19 bytes of Q4_0 are not 32 values", Error);
}

TEST_CASE("dequantise: 16-bit floats widen exactly and narrow to nearest even") {
  CHECK(f16_to_float(0x3c00) == 1.0f);
  CHECK(f16_to_float(0xc000) == -2.0f);
  CHECK(f16_to_float(0x0001) == 0x1p-24f);
  CHECK(f16_to_float(0x83ff) == -1023 * 0x1p-24f);
  CHECK(f16_to_float(0x7bff) == 65504.0f);
  CHECK(std::isinf(f16_to_float(0x7c00)));
  CHECK(std::isnan(f16_to_float(0x7e00)));
  CHECK(std::signbit(f16_to_float(0x8000)));
  CHECK(float_to_bf16(1.0f) == 0x3f80);
  CHECK(float_to_bf16(std::bit_cast<float>(0x3f808000u)) == 0x3f80);  // a tie goes to even
  CHECK(float_to_bf16(std::bit_cast<float>(0x3f818000u)) == 0x3f82);
  CHECK(std::isnan(bf16_to_float(float_to_bf16(NAN))));
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float wide = bf16_to_float(static_cast<std::uint16_t>(bits));
    if (!std::isnan(wide)) CHECK(float_to_bf16(wide) == bits);
  }
}

TEST_CASE("dequantise: 8-bit floats have their documented extremes") {
  CHECK(f8_e4m3_to_float(0x7e) == 448.0f);
  CHECK(f8_e4m3_to_float(0x01) == 0x1p-9f);
  CHECK(f8_e4m3_to_float(0xb8) == -1.0f);
  CHECK(std::isnan(f8_e4m3_to_float(0x7f)));
  CHECK(f8_e5m2_to_float(0x7b) == 57344.0f);
  CHECK(f8_e5m2_to_float(0x3c) == 1.0f);
  CHECK(f8_e5m2_to_float(0x01) == 0x1p-16f);
  CHECK(std::isinf(f8_e5m2_to_float(0x7c)));
}

}  // namespace test_dequantise
