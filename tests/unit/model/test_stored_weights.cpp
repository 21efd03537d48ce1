// Weights that stay in memory as they lie in the file: every logit has the same bits as with weights
// that were dequantised on loading.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/formats/random_blocks.h"
#include "tests/support/skip.h"
#include "tests/unit/formats/format_test_util.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {
namespace {

using formats::GgmlType;

constexpr std::uint32_t kWidth = 256, kVocab = 70;

// A small llama, every matrix of the type that `type_of` gives for its name.
template <class TypeOf>
std::string llama_file(const TypeOf& type_of, std::uint64_t seed) {
  Rng rng(seed);
  GgufWriter file;
  file.add("general.architecture", std::string("llama"));
  for (const auto& [key, value] : {std::pair("block_count", 2u),
                                   {"context_length", 128u},
                                   {"embedding_length", kWidth},
                                   {"feed_forward_length", 512u},
                                   {"attention.head_count", 4u},
                                   {"attention.head_count_kv", 2u}})
    file.add(std::string("llama.") + key, std::uint32_t{value});
  file.add("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  const auto matrix = [&](const std::string& name, std::uint64_t inputs, std::uint64_t outputs) {
    const GgmlType type = type_of(name);
    file.add_entry(name, {inputs, outputs}, static_cast<std::uint32_t>(type), file.data.size());
    const std::vector<std::byte> rows = formats::random_rows(
        type, static_cast<std::int64_t>(outputs), static_cast<std::int64_t>(inputs), rng);
    file.data.append(reinterpret_cast<const char*>(rows.data()), rows.size());
    file.data.resize((file.data.size() + 31) / 32 * 32, '\0');
  };
  const auto norm = [&](const std::string& name) {
    file.add_f32(name, {kWidth}, std::vector<float>(kWidth, 0.75f));
  };
  matrix("token_embd.weight", kWidth, kVocab);
  matrix("output.weight", kWidth, kVocab);
  norm("output_norm.weight");
  for (int layer = 0; layer < 2; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    norm(block + "attn_norm.weight");
    norm(block + "ffn_norm.weight");
    matrix(block + "attn_q.weight", kWidth, kWidth);
    matrix(block + "attn_k.weight", kWidth, kWidth / 2);
    matrix(block + "attn_v.weight", kWidth, kWidth / 2);
    matrix(block + "attn_output.weight", kWidth, kWidth);
    matrix(block + "ffn_gate.weight", kWidth, 512);
    matrix(block + "ffn_up.weight", kWidth, 512);
    matrix(block + "ffn_down.weight", 512, kWidth);
  }
  return file.bytes();
}

// The same bits for one row, a few and many, at once and step by step.
void check_same_bits(const std::string& path, DType dtype, int vocab) {
  const auto stored = load_model(path, {.dtype = dtype, .threads = 2});
  const auto widened = load_model(path, {.dtype = dtype, .threads = 2, .stored_weights = false});
  for (const int count : {1, 5, 37}) {
    std::vector<std::int32_t> ids;
    for (int i = 0; i < count; ++i) ids.push_back((i * 29 + 7) % vocab);
    const auto a = stored->make_kv(count + 1), b = widened->make_kv(count + 1);
    CAPTURE(count);
    const std::vector<float> mine = all_logits(*stored, *a, ids),
                             theirs = all_logits(*widened, *b, ids);
    REQUIRE(mine.size() == static_cast<std::size_t>(count) * stored->info().vocab_size);
    CHECK(std::memcmp(mine.data(), theirs.data(), mine.size() * sizeof(float)) == 0);
    const std::vector<float> next = step_logits(*stored, *a, count, 11),
                             their_next = step_logits(*widened, *b, count, 11);
    CHECK(std::memcmp(next.data(), their_next.data(), next.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("a file of one type gives the bits of its dequantised weights, for every type") {
  for (const GgmlType type : formats::stored_types()) {
    const TempDir folder;
    const std::filesystem::path path = folder.path() / "model.gguf";
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, static_cast<std::uint64_t>(type));
    CAPTURE(formats::to_string(type));
    check_same_bits(path.string(), DType::kF32, kVocab);
  }
}

TEST_CASE("a file of mixed types: the type is the matrix's, also where matrices share an input") {
  const auto type_of = [](const std::string& name) {
    using enum GgmlType;
    if (name.ends_with("attn_q.weight")) return kQ4_K;
    if (name.ends_with("attn_k.weight")) return kQ6_K;
    if (name.ends_with("attn_v.weight")) return kF16;
    if (name.ends_with("ffn_gate.weight")) return kQ5_1;
    if (name.ends_with("ffn_up.weight")) return kIQ4_NL;
    if (name.ends_with("ffn_down.weight")) return kQ3_K;
    if (name.starts_with("token_embd")) return kQ8_0;
    return kBF16;
  };
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "model.gguf";
  std::ofstream(path, std::ios::binary) << llama_file(type_of, 5);
  check_same_bits(path.string(), DType::kF32, kVocab);
}

TEST_CASE("bf16 rounds matrices of fp32 and fp16 alone: blocks stay as they are") {
  using enum GgmlType;
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "model.gguf";
  const std::vector<std::int32_t> ids = {3, 1, 4, 1, 5};
  const auto logits = [&](DType dtype, bool stored) {
    const auto model =
        load_model(path.string(), {.dtype = dtype, .threads = 2, .stored_weights = stored});
    const auto kv = model->make_kv(8);
    return all_logits(*model, *kv, ids);
  };
  for (const GgmlType type : {kF32, kF16, kBF16}) {
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, 77);
    CAPTURE(formats::to_string(type));
    CHECK(logits(DType::kBF16, true) == logits(DType::kBF16, false));
  }
  std::ofstream(path, std::ios::binary) << llama_file([](const std::string&) { return kQ6_K; }, 78);
  // Rounding 6-bit values times a scale to bf16 loses digits.
  CHECK(logits(DType::kBF16, true) != logits(DType::kBF16, false));
}

TEST_CASE("the dtype of keys and values is a setting of its own") {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "model.gguf";
  std::ofstream(path, std::ios::binary)
      << llama_file([](const std::string&) { return GgmlType::kBF16; }, 80);
  const std::vector<std::int32_t> ids = {3, 1, 4, 1, 5};
  const auto open = [&](LoadOptions options) {
    options.threads = 1;
    return load_model(path.string(), options);
  };
  const auto logits = [&](const LoadOptions& options) {
    const auto model = open(options);
    const auto kv = model->make_kv(8);
    return all_logits(*model, *kv, ids);
  };
  const auto bytes = [&](const LoadOptions& options) {
    return open(options)->make_kv(8)->bytes_per_slot();
  };
  constexpr std::int64_t kValues = std::int64_t{2} * 2 * 128;  // K and V, layers, two heads of 64
  const LoadOptions narrow{.kv_dtype = DType::kBF16};
  CHECK(bytes({}) == kValues * 4);
  CHECK(bytes(narrow) == kValues * 2);
  CHECK(bytes({.dtype = DType::kBF16}) == kValues * 2);
  CHECK(bytes({.dtype = DType::kBF16, .kv_dtype = DType::kF32}) == kValues * 4);
  CHECK(open(narrow)->info().kv_dtype == DType::kBF16);
  CHECK(open({.dtype = DType::kBF16})->info().kv_dtype == DType::kBF16);
  // The weights are bf16 in the file, so that dtype alone changes nothing but keys and values.
  CHECK(logits(narrow) == logits({.dtype = DType::kBF16}));
  CHECK(logits({}) == logits({.dtype = DType::kBF16, .kv_dtype = DType::kF32}));
  CHECK(logits({}) != logits(narrow));
  CHECK_THROWS_WITH_AS(open({.kv_dtype = DType::kF16}),
                       "KV dtype f16 on device cpu is not supported: choose f32 or bf16", Error);
  CHECK_THROWS_WITH_AS(
      open({.kv_dtype = DType::kBF16, .reference_kernels = true}),
      "KV dtype bf16 beside dtype f32: expected the same on device cpu with libtorch's kernels; "
      "only the CPU's own kernels take another",
      Error);
}

TEST_CASE("how many rows are cheap follows the type of the weights as they lie in memory") {
  using enum GgmlType;
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "model.gguf";
  const auto cheap = [&](GgmlType type, const LoadOptions& options) {
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, 79);
    return load_model(path.string(), options)->info().cheap_rows;
  };
  CHECK(cheap(kF32, {.threads = 1}) == 12);
  CHECK(cheap(kF16, {.threads = 1}) == 8);
  CHECK(cheap(kBF16, {.threads = 1}) == 8);
  CHECK(cheap(kQ8_0, {.threads = 1}) == 5);
  CHECK(cheap(kQ4_K, {.threads = 1}) == 5);
  CHECK(cheap(kQ4_K, {.threads = 1, .stored_weights = false}) == 12);
  CHECK(cheap(kF32, {.dtype = DType::kBF16, .threads = 1}) == 8);
}

TEST_CASE("SmolLM2 has the bits of its dequantised weights") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  check_same_bits(path->string(), DType::kF32, 49152);
}

}  // namespace
}  // namespace triescope::test
