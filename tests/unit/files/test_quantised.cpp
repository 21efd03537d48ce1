// Weights quantised inside safetensors: bit for bit as the library of each format dequantises them.
#include <doctest/doctest.h>

#include <bit>
#include <filesystem>
#include <regex>

#include "core/base/error.h"
#include "core/files/json.h"
#include "core/files/weights.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/unit/files/format_test_util.h"

namespace test_quantised {

using namespace triescope;
using namespace triescope::formats;
using namespace triescope::test;
namespace fs = std::filesystem;

namespace {

fs::path fixtures() { return source_dir() / "tests/fixtures/quantised"; }

const std::pair<const char*, Role> kWeights[] = {
    {"self_attn.q_proj", Role::kQuery}, {"self_attn.k_proj", Role::kKey},
    {"self_attn.v_proj", Role::kValue}, {"self_attn.o_proj", Role::kOutput},
    {"mlp.gate_proj", Role::kGate},     {"mlp.up_proj", Role::kUp},
    {"mlp.down_proj", Role::kDown}};

std::vector<float> rows_of(const WeightSource& source, Role role, std::int64_t first,
                           std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count * source.shape({role})->cols));
  source.read_rows({role}, first, out);
  return out;
}

std::vector<float> all_rows(const WeightSource& source, Role role) {
  return rows_of(source, role, 0, source.shape({role})->rows);
}

// As tests/golden/quantised_weights.py computes it.
std::string hash_of(const std::vector<float>& values) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    hash += std::uint64_t{std::bit_cast<std::uint32_t>(values[i])} * (2 * i + 1);
  return std::to_string(hash);
}

// A copy of a fixture, to be damaged.
struct Copy {
  explicit Copy(const std::string& name) {
    fs::copy(fixtures() / name, folder.path(), fs::copy_options::recursive);
  }
  void replace(const char* file, const std::string& from, const std::string& to) const {
    std::string text = read_file(folder.path() / file);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    test::write_file(folder.path() / file, text);
  }
  std::unique_ptr<WeightSource> open() const { return WeightSource::open(folder.path().string()); }

  TempDir folder;
};

}  // namespace

TEST_CASE("quantised: every weight has the bits that its format's library dequantises it to") {
  const nlohmann::json expected = read_json_file((fixtures() / "expected.json").string(), 1 << 20);
  CHECK(expected.size() == 14);
  for (const auto& [folder, weights] : expected.items()) {
    CAPTURE(folder);
    const auto source = WeightSource::open((fixtures() / folder).string());
    for (const auto& [name, role] : kWeights) {
      CAPTURE(name);
      CHECK(hash_of(all_rows(*source, role)) == weights[name].get<std::string>());
      CHECK(source->stored_type({role}) == std::nullopt);
    }
  }
}

TEST_CASE("quantised: rows asked for one by one are those of the whole weight") {
  for (const fs::directory_entry& entry : fs::directory_iterator(fixtures())) {
    if (!entry.is_directory()) continue;
    CAPTURE(entry.path().filename());
    const auto source = WeightSource::open(entry.path().string());
    const std::vector<float> whole = rows_of(*source, Role::kGate, 0, 64);
    for (const std::int64_t row : {0, 1, 31, 63})
      CHECK(rows_of(*source, Role::kGate, row, 1) ==
            std::vector<float>(whole.begin() + row * 32, whole.begin() + (row + 1) * 32));
  }
}

TEST_CASE("quantised: bits of a GPTQ weight are those of its tensors, whatever config.json says") {
  const Copy copy("gptq_8_bit");
  copy.replace("config.json", R"("bits": 8)", R"("bits": 4)");
  const auto changed = copy.open(),
             source = WeightSource::open((fixtures() / "gptq_8_bit").string());
  for (const auto& [name, role] : kWeights)
    CHECK(all_rows(*changed, role) == all_rows(*source, role));
  CHECK(changed->quantisation() == "mixed: GPTQ 8-bit F16");
}

TEST_CASE("quantised: a GPTQ model may have weights of 4 and of 8 bits") {
  const Copy eight("gptq_8_bit"), four("gptq");
  four.replace("config.json", R"("desc_act": true)", R"("checkpoint_format": "gptq_v2")");
  const auto of_eight = eight.open(), of_four = four.open();
  // One model in two files, its MLP in 4 bits. What a file has too much gets another name.
  const auto part = [](const Copy& from, const std::string& name, const std::string& other) {
    return std::regex_replace(read_file(from.folder.path() / "model.safetensors"), std::regex(name),
                              other);
  };
  const fs::path folder = eight.folder.path();
  test::write_file(folder / "8.safetensors",
                   part(eight, R"("model(\.layers\.0\.mlp))", "\"other$1"));
  test::write_file(folder / "4.safetensors",
                   part(four, R"("model(?!\.layers\.0\.mlp))", "\"other"));
  fs::remove(folder / "model.safetensors");
  test::write_file(folder / "model.safetensors.index.json",
                   R"({"weight_map": {"model.layers.0.mlp.up_proj.qweight": "4.safetensors",
                                      "model.norm.weight": "8.safetensors"}})");
  const auto both = eight.open();
  for (const auto& [name, role] : kWeights) {
    CAPTURE(name);
    const bool mlp = std::string_view(name).starts_with("mlp.");
    CHECK(all_rows(*both, role) == all_rows(mlp ? *of_four : *of_eight, role));
    CHECK(all_rows(*both, role) != all_rows(mlp ? *of_eight : *of_four, role));
  }
}

TEST_CASE("quantised: the model counts its values, not its codes, and says what it is stored as") {
  constexpr std::int64_t kPlain = 32 * 32 + 3 * 32, kQuantised = 9216;
  for (const auto& [folder, type] :
       {std::pair("gptq", "GPTQ 4-bit"), std::pair("awq", "AWQ 4-bit"),
        std::pair("fp8_tensor", "FP8"), std::pair("nf4", "bitsandbytes nf4"),
        std::pair("llm_int8", "INT8")}) {
    CAPTURE(folder);
    const auto source = WeightSource::open((fixtures() / folder).string());
    CHECK(source->parameters() == kPlain + kQuantised);
    CHECK(source->quantisation() == std::string("mixed: ") + type + " F16");
  }
}

TEST_CASE("quantised: a method or format that is not read is refused with what to convert to") {
  const auto refused = [](const char* folder, const std::string& from, const std::string& to) {
    const Copy copy(folder);
    copy.replace("config.json", from, to);
    return refusal(ErrorCode::kNotSupported, [&] { copy.open(); });
  };
  CHECK(has(refused("gptq", R"("gptq")", R"("aqlm")"), "found 'aqlm'; convert the model"));
  const auto converts = [&](const char* folder, const std::string& from, const std::string& to,
                            const char* found) {
    const std::string text = refused(folder, from, to);
    CAPTURE(text);
    CHECK(has(text, found));
    CHECK(has(text, "; convert the model to"));
  };
  converts("gptq", R"("bits": 4)", R"("bits": 3)", "bits 3 of gptq (2, 4 and 8 are read)");
  converts("gptq", R"("bits": 4)", R"("is_marlin_format": true)", "checkpoint_format 'marlin'");
  converts("gptq_8_bit", "gptq_v2", "marlin", "checkpoint_format 'marlin'");
  converts("awq", "gemm", "gemv", "version 'gemv' of awq");
  converts("packed_int4", "pack-quantized", "nvfp4-pack-quantized",
           "format 'nvfp4-pack-quantized' of compressed-tensors");
  const char* const kGroup = R"("targets")";
  converts("packed_int4", kGroup, R"("format": "mxfp4-pack-quantized", "targets")",
           "format 'mxfp4-pack-quantized'");
  converts("packed_int8_by_row", R"("num_bits": 8)", R"("num_bits": 7)", "num_bits 7");
  converts("fp8_by_row", R"("num_bits": 8)", R"("num_bits": 4)", "type 'float' of 4 bits");
  converts("packed_int4", R"("ignore")",
           R"("transform_config": {"config_groups": {"R1": {}}}, "ignore")", "transform_config");
  converts("packed_int4", R"("ignore")",
           R"("sparsity_config": {"format": "sparse-24-bitmask"}, "ignore")",
           "sparsity_config 'sparse-24-bitmask'");
}

TEST_CASE("quantised: what does not fit together is refused by name") {
  const auto corrupt = [](const char* folder, const char* file, const std::string& from,
                          const std::string& to) {
    const Copy copy(folder);
    copy.replace(file, from, to);
    return refusal(ErrorCode::kCorruption, [&] { copy.open(); });
  };
  constexpr const char* kWeightsFile = "model.safetensors";
  CHECK(has(corrupt("gptq", "config.json", R"("gptq")", R"("awq")"), "expected"));
  CHECK(has(corrupt("gptq", "config.json", R"("gptq")", R"("fp8")"), "found none"));
  CHECK(has(corrupt("gptq", kWeightsFile, "k_proj.qzeros", "k_proj.other_"),
            "expected tensor 'model.layers.0.self_attn.k_proj.qzeros'"));
  CHECK(has(corrupt("fp8_blocks", "config.json", "16,\n", "8,\n"), "expected scales of shape"));
  for (const auto& [folder, part, other] :
       {std::tuple("fp8_blocks", "k_proj.weight_scale_inv", "k_proj.weight_scale_odd"),
        std::tuple("fp8_by_row", "k_proj.weight_scale", "k_proj.weight_scalf"),
        std::tuple("llm_int8", "k_proj.SCB", "k_proj.SCA"),
        std::tuple("nf4", "k_proj.weight.quant_state.bitsandbytes__nf4",
                   "k_proj.weight.quant_state.bitsandbytes__nf5")}) {
    CAPTURE(folder);
    CHECK(has(corrupt(folder, kWeightsFile, part, other),
              std::string("expected tensor 'model.layers.0.self_attn.") + part));
  }
  CHECK(
      has(corrupt("nf4", kWeightsFile, R"("blocksize": 64)", R"("blocksize": 32)"), "expected U8"));
  CHECK(has(corrupt("nf4", kWeightsFile, R"("blocksize": 64)", R"("blocksize":  0)"), "1 or more"));
  CHECK(has(corrupt("packed_int4", "config.json", "compressed-tensors", "bitsandbytes"),
            "found none"));
  CHECK(has(corrupt("gptq", "config.json", "quantization_config", "other"),
            "its codes 'model.layers.0.self_attn.q_proj.qweight' are there: add the"));
  CHECK(has(corrupt("packed_int4", "config.json", "quantization_config", "other"),
            "its codes 'model.layers.0.self_attn.q_proj.weight_packed' are there"));
}

TEST_CASE("quantised: a block may be a text of two numbers, and is of at most 2^30") {
  const std::string list = "[\n      24,\n      24\n     ]";
  const Copy copy("fp8_part_blocks");
  copy.replace("config.json", list, R"("24x24")");
  const auto changed = copy.open(),
             source = WeightSource::open((fixtures() / "fp8_part_blocks").string());
  for (const auto& [name, role] : kWeights) {
    const std::int64_t rows = source->shape({role})->rows;
    CHECK(rows_of(*changed, role, 0, rows) == rows_of(*source, role, 0, rows));
  }
  const auto refused = [](const char* folder, const std::string& from, const std::string& to) {
    const Copy other(folder);
    other.replace("config.json", from, to);
    return refusal(ErrorCode::kCorruption, [&] { other.open(); });
  };
  for (const char* text : {"", "24", "24x", "x24", "24x0", "24x-1", "24 x 24", "24x24x24",
                           "1073741825x1", "99999999999999999999x1"}) {
    CAPTURE(text);
    CHECK(has(refused("fp8_part_blocks", list, '"' + std::string(text) + '"'),
              "block_structure: expected two numbers from 1 to 2^30, found \"" + std::string(text) +
                  '"'));
  }
  CHECK(
      has(refused("fp8_blocks", "16,\n   16", "9223372036854775807, 1"),
          "weight_block_size: expected two numbers from 1 to 2^30, found [9223372036854775807,1]"));
}

TEST_CASE("quantised: codes of no values are refused, whatever their other extent") {
  const auto refused = [](const char* folder, const std::string& codes, const std::string& rest) {
    const Copy copy(folder);
    test::write_file(
        copy.folder.path() / "model.safetensors",
        safetensors_bytes("{\"a" + codes + R"(,"data_offsets":[0,0]},)" + rest + "}", "abcdefgh"));
    return refusal(ErrorCode::kCorruption, [&] { copy.open(); });
  };
  for (const char* shape : {"[0,2305843009213693952]", "[36028797018963968,0]"}) {
    CAPTURE(shape);
    const std::string packed = R"(.qweight":{"dtype":"I32","shape":)" + std::string(shape);
    const std::string rest = R"("a.qzeros":{"dtype":"I32","shape":[1,1],"data_offsets":[0,4]},)"
                             R"("a.scales":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]})";
    CHECK(has(refused("gptq", packed, rest), "tensor 'a.qweight': expected codes"));
    CHECK(has(refused("awq", packed, rest), "tensor 'a.qweight': expected two dimensions of 1"));
    CHECK(has(refused("fp8_blocks", R"(.weight":{"dtype":"F8_E4M3","shape":)" + std::string(shape),
                      R"("a.weight_scale_inv":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]})"),
              "tensor 'a.weight': expected 8-bit numbers in two dimensions of 1 or more"));
  }
}

TEST_CASE("quantised: a weight that the network does not have is refused as a plain one is") {
  const Copy copy("awq");
  copy.replace("config.json", R"("num_hidden_layers": 1)", R"("num_hidden_layers": 0)");
  CHECK_THROWS_AS(copy.open(), Error);
  const Copy more("llm_int8");
  for (const char* part : {"k_proj.weight\"", "k_proj.SCB\"", "k_proj.weight_format\""})
    more.replace("model.safetensors", part, std::string("j") + (part + 1));
  const std::string text = refusal(ErrorCode::kCorruption, [&] { more.open(); });
  CHECK(has(text, "k_proj.weight"));
}

}  // namespace test_quantised
