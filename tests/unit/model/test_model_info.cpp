// What is told about a model, and how KV storage grows.
#include <doctest/doctest.h>

#include <limits>

#include "core/base/error.h"
#include "core/model/kv_slots.h"
#include "core/model/model.h"
#include "tests/support/paths.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {
namespace {

ModelInfo info_of(const std::string& golden,
                  const nlohmann::json& changes = nlohmann::json::object()) {
  nlohmann::json entry = golden_families()["cases"].at(golden);
  entry["config"].merge_patch(changes);
  const TempDir folder;
  write_golden_model(entry, folder.path());
  return inspect_model(folder.path().string());
}

TEST_CASE("model info: sizes, and the files they come from") {
  const ModelInfo info = info_of("llama");
  CHECK(info.family == "llama");
  CHECK(info.format == "safetensors");
  CHECK(info.quantisation == "F32");
  CHECK(info.layers == 4);
  CHECK(info.hidden == 32);
  CHECK(info.heads == 4);
  CHECK(info.kv_heads == 2);
  CHECK(info.head_dim == 8);
  CHECK(info.intermediate == 48);
  CHECK(info.vocab_size == 64);
  CHECK(info.context == 128);
  CHECK(!info.tied_embeddings);
  CHECK(info.rope_theta == 10000);
  CHECK(info.tokenizer == "");
  CHECK(info.bos_token_id == 1);
  // Embedding, head and final norm; per layer q, k, v, o, three of the MLP and two norms.
  CHECK(info.parameters ==
        2 * 64 * 32 + 32 + 4 * (2 * 32 * 32 + 2 * 16 * 32 + 3 * 48 * 32 + 2 * 32));
  CHECK(info_of("llama rope llama3").rope_theta == 500000);
  CHECK(info_of("gpt2").rope_theta == 0);
  CHECK(info_of("llama tied, biases, head_dim").tied_embeddings);
}

TEST_CASE("model info: a mixture says how much of it a token uses") {
  // Embedding, head and final norm; per layer q, k, v, o, two norms and the router.
  constexpr std::int64_t kShared =
      2 * 64 * 32 + 32 + 4 * (2 * 32 * 32 + 2 * 16 * 32 + 2 * 32 + 4 * 32);
  constexpr std::int64_t kExpert = 3 * 48 * 32;
  const ModelInfo info = info_of("mixtral");
  CHECK(info.parameters == kShared + 4 * 4 * kExpert);
  CHECK(info.notes == std::vector<std::string>{
                          "a mixture of experts: a token goes through 2 of 4 in 4 of 4 layers, and "
                          "uses " +
                          std::to_string(kShared + 4 * 2 * kExpert) + " of " +
                          std::to_string(info.parameters) + " parameters"});
  CHECK(info.experts == 4);
  CHECK(info.experts_used == 2);
  CHECK(info.active_parameters == kShared + 4 * 2 * kExpert);
  CHECK(info.expert_bytes == 4 * kExpert);
  // A forward of one row takes one row of the embedding alone.
  CHECK(info.active_bytes == 4 * (kShared - 64 * 32 + 4 * 2 * kExpert));
  CHECK(info_of("llama").experts == 0);
  CHECK(info_of("llama").active_bytes == 0);
  const std::string some = info_of("qwen2_moe layers without experts, windows").notes.at(0);
  CHECK(some.find("2 of 4 and one that all share in 3 of 4 layers") != std::string::npos);
}

TEST_CASE("model info: experts beside a layer's MLP leave that one to every row") {
  constexpr std::int64_t kExpert = 3 * 24 * 32;
  const ModelInfo info = info_of("gemma4 experts");
  CHECK(info.experts == 6);
  CHECK(info.experts_used == 2);
  CHECK(info.parameters - info.active_parameters == 7 * (6 - 2) * kExpert);
  CHECK(info.expert_bytes == 4 * kExpert);
  CHECK(info.notes.back().find("2 of 6 and one that all share in 7 of 7 layers") !=
        std::string::npos);
}

TEST_CASE("model info: a further row of a mixture pays for experts that no row before it chose") {
  const auto costs = [](const char* name) {
    const TempDir folder;
    write_golden_case(name, folder.path());
    return load_model(folder.path().string(), {.threads = 1})->info().row_costs;
  };
  CHECK(costs("llama").of_experts == 0);
  const RowCosts mixture = costs("mixtral");
  CHECK(mixture.chosen == 0.5);
  // Of what a row reads: all but the embedding.
  constexpr double kRouted = 4 * 2 * 3 * 48 * 32;
  constexpr double kRest = 64 * 32 + 32 + 4 * (2 * 32 * 32 + 2 * 16 * 32 + 2 * 32 + 4 * 32);
  CHECK(mixture.of_experts == doctest::Approx(kRouted / (kRouted + kRest)));
  CHECK(mixture.of(1) > costs("llama").of(1));
}

TEST_CASE("model info: KV behind every layer's window can be dropped, and only then") {
  const ModelInfo every = info_of("mistral");
  CHECK(every.sliding_window == 16);
  CHECK(every.kv_window == 16);
  const ModelInfo some = info_of("gemma2");
  CHECK(some.sliding_window == 16);
  CHECK(some.kv_window == 0);
  const ModelInfo none = info_of("llama");
  CHECK(none.sliding_window == 0);
  CHECK(none.kv_window == 0);
}

TEST_CASE("model info: dynamic rope goes beyond the context, longrope says where KV goes stale") {
  CHECK(info_of("llama rope dynamic, outgrown").context == 160);  // 40 * 4
  CHECK(info_of("llama rope linear").context == 128);
  CHECK(info_of("phi3 longrope").kv_valid_until == 64);
  CHECK(info_of("phi3").kv_valid_until == 0);
}

TEST_CASE(
    "model info: KV storage grows by half or to what is needed, and refuses what lies outside") {
  CHECK(grown_capacity(0, 1) == 1);
  CHECK(grown_capacity(12, 13) == 18);
  CHECK(grown_capacity(12, 18) == 18);
  CHECK(grown_capacity(12, 19) == 19);
  const int most = std::numeric_limits<int>::max();
  CHECK(grown_capacity(most - 1, most) == most);
  std::vector<int> asked;
  int most_granted = 100;
  const auto allocate = [&](int capacity) {
    asked.push_back(capacity);
    if (capacity > most_granted) throw Error(ErrorCode::kOutOfMemory, "refused");
  };
  grow(12, 12, allocate);
  CHECK(asked.empty());
  grow(12, 13, allocate);
  CHECK(asked == std::vector{18});
  most_granted = 14;
  grow(12, 13, allocate);
  CHECK(asked == std::vector{18, 18, 13});
  asked.clear();
  CHECK_THROWS_WITH_AS(grow(12, 15, allocate), "refused", Error);
  CHECK(asked == std::vector{18, 15});
  asked.clear();
  CHECK_THROWS_AS(grow(12, 19, allocate), Error);  // what is needed is more than half
  CHECK(asked == std::vector{19});
  asked.clear();
  const auto lost = [&](int capacity) {
    asked.push_back(capacity);
    throw Error(ErrorCode::kCuda, "lost");
  };
  CHECK_THROWS_WITH_AS(grow(12, 13, lost), "lost", Error);
  CHECK(asked == std::vector{18});
  const std::vector<std::int32_t> inside = {0, 4}, past = {0, 5}, below = {-1, 0}, one = {0};
  check_move(inside, inside, 5);
  CHECK_THROWS_WITH_AS(check_move(inside, past, 5), "KV move: expected slots from 0 to 4, found 5",
                       Error);
  CHECK_THROWS_WITH_AS(check_move(below, inside, 5),
                       "KV move: expected slots from 0 to 4, found -1", Error);
  CHECK_THROWS_WITH_AS(check_move(inside, one, 5),
                       "KV move: expected as many targets as sources, found 1 and 2", Error);
}

TEST_CASE("KV bytes: both executors, by dtype, K and V of all layers") {
  const TempDir folder;
  write_golden_case("llama multi-query", folder.path());
  for (const bool reference : {false, true}) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      const auto model = load_model(folder.path().string(),
                                    {.dtype = dtype, .reference_kernels = reference, .threads = 1});
      const auto kv = model->make_kv(3);
      CHECK(kv->capacity() == 3);
      CHECK(kv->bytes_per_slot() == 4 * 2 * 1 * 8 * (dtype == DType::kF32 ? 4 : 2));
      kv->reserve(4);
      CHECK(kv->capacity() == 4);
      CHECK(model->make_kv(0)->capacity() == 1);
    }
  }
}

}  // namespace
}  // namespace triescope::test
