// Weights that stay in memory as they lie in the file: every logit has the same bits as with weights
// that were dequantised on loading.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/kernels/linear.h"
#include "core/model/memory_need.h"
#include "tests/support/skip.h"
#include "tests/unit/model/model_test_util.h"
#include "tests/unit/model/stored_llama.h"

namespace triescope::test {
namespace {

using formats::GgmlType;

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

TEST_CASE(
    "stored weights: a file of one type gives the bits of its dequantised weights, for every type") {
  for (const GgmlType type : kernels::PackedLinear::types()) {
    const TempDir folder;
    const std::filesystem::path path = folder.path() / "model.gguf";
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, static_cast<std::uint64_t>(type));
    CAPTURE(formats::to_string(type));
    check_same_bits(path.string(), DType::kF32, kStoredVocab);
  }
}

TEST_CASE("mixtures: experts in any type give the bits of their dequantised weights") {
  for (const GgmlType type : kernels::PackedLinear::types()) {
    const TempDir folder;
    const std::filesystem::path path = folder.path() / "model.gguf";
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, static_cast<std::uint64_t>(type),
                      false, false, 5);
    CAPTURE(formats::to_string(type));
    check_same_bits(path.string(), DType::kF32, kStoredVocab);
  }
}

TEST_CASE("a file of mixed types: the type is the matrix's, also where matrices share an input") {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "model.gguf";
  std::ofstream(path, std::ios::binary) << llama_file(mixed_type, 5);
  check_same_bits(path.string(), DType::kF32, kStoredVocab);
}

TEST_CASE("stored weights: bf16 rounds matrices of fp32 and fp16 alone: blocks stay as they are") {
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

TEST_CASE(
    "stored weights: a file in blocks that no kernel computes from is widened, to the same bits, with a note") {
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "model.gguf";
  const std::vector<std::int32_t> ids = {3, 1, 4, 1, 5};
  int widened = 0;
  for (const formats::TypeInfo& info : formats::ggml_types()) {
    if (kernels::PackedLinear::holds(info.type) || info.elements == 1) continue;
    CAPTURE(formats::to_string(info.type));
    ++widened;
    const auto load = [&](bool as_f32) {
      std::ofstream(path, std::ios::binary)
          << llama_file([&](const std::string&) { return info.type; }, 90, false, as_f32);
      return load_model(path.string(), {.threads = 2});
    };
    const auto model = load(false), plain = load(true);
    const auto kv = model->make_kv(8), plain_kv = plain->make_kv(8);
    const std::vector<float> logits = all_logits(*model, *kv, ids);
    CHECK(std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }));
    CHECK(logits == all_logits(*plain, *plain_kv, ids));
    CHECK(plain->info().notes.empty());
    REQUIRE(model->info().notes.size() == 1);
    const std::string& note = model->info().notes[0];
    CHECK(note.starts_with(std::string("no kernel computes from matrices in ") + info.name));
    // What it takes is known before it is loaded.
    CHECK(model->info().block_bytes == 0);
    CHECK(model->info().widened_parameters == plain->info().parameters - 5 * 256);
    const std::int64_t norms = model->info().file_bytes - model->info().widened_bytes;
    CHECK(memory_need(model->info(), {}).weights == norms + 4 * model->info().widened_parameters);
  }
  CHECK(widened == 10);
}

TEST_CASE("stored weights: the dtype of keys and values is a setting of its own") {
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

TEST_CASE(
    "stored weights: how many rows are cheap follows the type of the weights as they lie in memory") {
  using enum GgmlType;
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "model.gguf";
  const auto cheap = [&](GgmlType type, const LoadOptions& options) {
    std::ofstream(path, std::ios::binary)
        << llama_file([&](const std::string&) { return type; }, 79);
    return load_model(path.string(), options)->info().row_costs.cheap_rows;
  };
  CHECK(cheap(kF32, {.threads = 1}) == 12);
  CHECK(cheap(kF16, {.threads = 1}) == 8);
  CHECK(cheap(kBF16, {.threads = 1}) == 8);
  CHECK(cheap(kQ8_0, {.threads = 1}) == 5);
  CHECK(cheap(kQ4_K, {.threads = 1}) == 5);
  CHECK(cheap(kQ4_K, {.threads = 1, .stored_weights = false}) == 12);
  CHECK(cheap(kF32, {.dtype = DType::kBF16, .threads = 1}) == 8);
  // Rows never become cheaper, and one more than is cheap costs more than the second.
  for (const double bytes : {0.6, 2.0, 4.0}) {
    const RowCosts costs = kernels::PackedLinear::row_costs(bytes);
    CHECK(costs.of(0) == 1);
    CHECK(costs.of(1) <= costs.of(costs.cheap_rows - 1));
    CHECK(costs.of(costs.cheap_rows - 1) <= costs.of(costs.cheap_rows));
    CHECK(costs.of(1) < costs.of(costs.cheap_rows));
  }
}

TEST_CASE("stored weights: SmolLM2 has the bits of its dequantised weights") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  check_same_bits(path->string(), DType::kF32, 49152);
}

}  // namespace
}  // namespace triescope::test
