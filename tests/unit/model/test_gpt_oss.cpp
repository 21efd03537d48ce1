// gpt-oss: its MXFP4 experts are read as transformers dequantises them, and what it needs is checked.
#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/files/weights.h"
#include "tests/support/paths.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test::test_gpt_oss {
namespace {

using nlohmann::json;

struct Tensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};
using Tensors = std::map<std::string, Tensor>;

void write_tensors(const std::filesystem::path& folder, const json& config,
                   const Tensors& tensors) {
  std::ofstream(folder / "config.json") << config.dump();
  json header = json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  write_weights(folder, header, data);
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// What transformers makes of the nibble: FP4_VALUES of integrations/mxfp4.py.
float value_of(unsigned nibble) {
  constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  return (nibble & 8) != 0 ? -kValues[nibble & 7] : kValues[nibble & 7];
}

// The golden model "gpt_oss" with experts of 64 values in place of 48, whose matrices are MXFP4 in one
// folder and the same values in fp32, transposed, in the other.
struct Pair {
  Pair() {
    const json entry = golden_families()["cases"].at("gpt_oss");
    json config = entry["config"];
    config["intermediate_size"] = 64;
    Tensors plain, packed;
    for (std::size_t index = 0; index < entry["tensors"].size(); ++index) {
      const auto& tensor = entry["tensors"][index];
      const auto name = tensor[0].get<std::string>();
      auto shape = tensor[1].get<std::vector<std::int64_t>>();
      if (name.find(".experts.") == std::string::npos) {
        const Tensor of{"F32", shape, bytes_of(golden_values(entry["tensors"], index))};
        plain[name] = packed[name] = of;
        continue;
      }
      for (std::int64_t& extent : shape) extent = extent == 48 ? 64 : extent == 96 ? 128 : extent;
      if (name.ends_with("_bias")) {
        std::vector<float> values(static_cast<std::size_t>(shape[0] * shape[1]));
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = 0.01f * static_cast<float>((i * 7 + index) % 23) - 0.1f;
        plain[name] = packed[name] = {"F32", shape, bytes_of(values)};
        continue;
      }
      const std::int64_t experts = shape[0], in = shape[1], rows = shape[2], groups = in / 32;
      std::string blocks, scales;
      std::vector<float> values(static_cast<std::size_t>(experts * in * rows));
      for (std::int64_t e = 0; e < experts; ++e)
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t g = 0; g < groups; ++g) {
            const int scale = 122 + static_cast<int>((e + r + 2 * g + static_cast<int>(index)) % 3);
            scales.push_back(static_cast<char>(scale));
            for (std::int64_t j = 0; j < 16; ++j) {
              const auto byte = static_cast<unsigned>(
                  (e * 5 + r * 29 + g * 13 + j * 37 + 11 * static_cast<int>(index)) % 256);
              blocks.push_back(static_cast<char>(byte));
              const auto at = [&](std::int64_t k) -> float& {
                return values[static_cast<std::size_t>((e * in + g * 32 + k) * rows + r)];
              };
              at(2 * j) = std::ldexp(value_of(byte & 15), scale - 127);
              at(2 * j + 1) = std::ldexp(value_of(byte >> 4), scale - 127);
            }
          }
      plain[name] = {"F32", shape, bytes_of(values)};
      packed[name + "_blocks"] = {"U8", {experts, rows, groups, 16}, blocks};
      packed[name + "_scales"] = {"U8", {experts, rows, groups}, scales};
    }
    write_tensors(plain_folder.path(), config, plain);
    config["quantization_config"] = {{"quant_method", "mxfp4"}};
    write_tensors(packed_folder.path(), config, packed);
  }
  TempDir plain_folder, packed_folder;
};

std::vector<float> values_of(const formats::WeightSource& source, const formats::Part& part) {
  const formats::WeightShape shape = source.shape(part).value();
  std::vector<float> values(static_cast<std::size_t>(shape.rows * shape.cols));
  source.read_rows(part, 0, values);
  return values;
}

TEST_CASE("gpt-oss: every weight of an MXFP4 file is that of the file dequantised") {
  const Pair pair;
  const auto plain = formats::WeightSource::open(pair.plain_folder.path().string());
  const auto packed = formats::WeightSource::open(pair.packed_folder.path().string());
  for (const formats::Part& part : formats::parts_of(plain->config())) {
    CAPTURE(static_cast<int>(part.role));
    CHECK(values_of(*plain, part) == values_of(*packed, part));
  }
  CHECK(packed->parameters() == plain->parameters());
  CHECK(packed->quantisation() == "mixed: MXFP4 F32");
  CHECK(packed->stored_type({formats::Role::kDown, 0, 1}) == formats::GgmlType::kMXFP4);
}

TEST_CASE("gpt-oss: an MXFP4 model has the logits of the same values in fp32") {
  const Pair pair;
  const auto plain = load_model(pair.plain_folder.path().string(), {.threads = 2});
  const auto packed = load_model(pair.packed_folder.path().string(), {.threads = 2});
  const auto ids = iota(40, 3);
  const auto kv = plain->make_kv(64), other = packed->make_kv(64);
  CHECK(all_logits(*plain, *kv, ids) == all_logits(*packed, *other, ids));
}

TEST_CASE("gpt-oss: blocks are dequantised as transformers does") {
  std::ifstream file(source_dir() / "tests" / "golden" / "mxfp4_blocks.json");
  const json golden = json::parse(file);
  for (std::size_t e = 0; e < golden["blocks"].size(); ++e)
    for (std::size_t r = 0; r < golden["blocks"][e].size(); ++r)
      for (std::size_t g = 0; g < golden["blocks"][e][r].size(); ++g)
        for (std::size_t j = 0; j < 16; ++j) {
          const auto byte = golden["blocks"][e][r][g][j].get<unsigned>();
          const int scale = golden["scales"][e][r][g];
          const auto expected = [&](std::size_t k) {
            return golden["values"][e][r][g * 32 + k].get<float>();
          };
          CHECK(std::ldexp(value_of(byte & 15), scale - 127) == expected(2 * j));
          CHECK(std::ldexp(value_of(byte >> 4), scale - 127) == expected(2 * j + 1));
        }
}

TEST_CASE("gpt-oss: shapes, other quantisations and another limit are refused in words") {
  const Pair pair;
  std::ifstream file(pair.packed_folder.path() / "config.json");
  const json config = json::parse(file);
  const auto refused = [&](json changes, const std::string& part) {
    json changed = config;
    changed.merge_patch(changes);
    std::ofstream(pair.packed_folder.path() / "config.json") << changed.dump();
    try {
      formats::WeightSource::open(pair.packed_folder.path().string());
      FAIL_CHECK("was opened");
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
  };
  refused({{"intermediate_size", 96}}, "expected shape");
  refused({{"intermediate_size", 48}}, "rows of 48 values, which are not whole MXFP4 blocks");
  refused({{"quantization_config", {{"quant_method", "aqlm"}}}}, "quantization_config");
  refused({{"swiglu_limit", 5.0}}, "swiglu_limit");
  refused({{"num_local_experts", 5}}, "expected shape");
}

}  // namespace
}  // namespace triescope::test::test_gpt_oss
