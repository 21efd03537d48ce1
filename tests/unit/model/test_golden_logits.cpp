// Logits against references computed elsewhere: a random tiny Llama of our own (fp64), one of the test
// data and TinyStories-656K where they are there, SmolLM2 (transformers).
#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/unit/model/model_test_util.h"

namespace fs = std::filesystem;
using namespace triescope;
using namespace triescope::test;

namespace {

struct Kernels {
  std::string name;
  bool reference;
};
const Kernels kBoth[] = {{"own kernels", false}, {"reference kernels", true}};

LoadOptions options_of(const Kernels& kernels, DType dtype = DType::kF32) {
  LoadOptions options;
  options.reference_kernels = kernels.reference;
  options.dtype = dtype;
  return options;
}

fs::path fixture_dir() { return source_dir() / "tests" / "fixtures" / "tiny_llama"; }

// Decodes greedily from each prompt of "runs" and compares tokens and the five best logits.
void check_greedy_runs(const fs::path& folder, const nlohmann::json& golden, double tolerance) {
  for (const Kernels& kernels : kBoth) {
    CAPTURE(folder.string());
    CAPTURE(kernels.name);
    const auto model = load_model(folder.string(), options_of(kernels));
    CHECK(model->info().eos_token_ids == std::vector<std::int32_t>{2});
    CHECK(model->info().tied_embeddings);
    double largest = 0;
    REQUIRE(!golden["runs"].empty());
    for (const auto& run : golden["runs"]) {
      const auto prompt = run["prompt_ids"].get<std::vector<std::int32_t>>();
      const auto expected = run["ids"].get<std::vector<std::int32_t>>();
      const auto kv = model->make_kv(16);
      std::vector<std::int32_t> ids = prompt;
      kv->reserve(static_cast<int>(expected.size()));
      std::vector<float> row = last_logits(*model, *kv, ids);
      for (std::size_t i = prompt.size(); i < expected.size(); ++i) {
        for (const auto& [id, logit] :
             run["top5"][i - prompt.size()].get<std::vector<std::pair<int, double>>>()) {
          largest = std::max(largest, std::abs(logit - row[static_cast<std::size_t>(id)]));
        }
        ids.push_back(argmax(row));
        if (i + 1 < expected.size())
          row = step_logits(*model, *kv, static_cast<int>(i), ids.back());
      }
      CHECK(ids == expected);
    }
    CAPTURE(largest);
    CHECK(largest < tolerance);
  }
}

}  // namespace

TEST_CASE("small Llamas: rows of a text have the golden logits at every position") {
  const auto own = nlohmann::json::parse(read_file(fixture_dir() / "golden.json"))["logits"];
  const auto own_ids = own["ids"].get<std::vector<std::int32_t>>();
  for (const Kernels& kernels : kBoth) {
    CAPTURE(kernels.name);
    const auto model = load_model(fixture_dir().string(), options_of(kernels));
    CHECK(model->info().family == "llama");
    CHECK(model->info().vocab_size == 384);
    const auto kv = model->make_kv(64);
    const std::vector<float> logits = all_logits(*model, *kv, own_ids);
    REQUIRE(own["rows"].size() == 5);  // of every eighth position
    double difference = 0;
    for (std::size_t i = 0; i < own["rows"].size(); ++i) {
      const auto expected = own["rows"][i].get<std::vector<double>>();
      for (std::size_t token = 0; token < expected.size(); ++token)
        difference = std::max(difference, std::abs(expected[token] - logits[8 * i * 384 + token]));
    }
    CAPTURE(difference);
    CHECK(difference < 2e-5);
  }
  const auto data = data_dir();
  if (!data) return;
  const fs::path fixture = *data / "fixtures" / "tiny_llama";
  TempDir folder;  // the fixture's weights are not called model.safetensors
  fs::copy_file(fixture / "config.json", folder.path() / "config.json");
  fs::copy_file(fixture / "tiny_llama.safetensors", folder.path() / "model.safetensors");
  const std::string golden = read_file(fixture / "tiny_llama_golden.bin");
  std::vector<float> expected(golden.size() / sizeof(float));
  std::memcpy(expected.data(), golden.data(), expected.size() * sizeof(float));
  const std::vector<std::int32_t> ids = {94, 87, 60, 29, 75, 85, 18, 15, 47, 102, 105, 36, 63, 49,
                                         54, 76, 47, 36, 34, 19, 22, 81, 55, 102, 57,  62, 59, 51,
                                         68, 62, 68, 74, 89, 13, 45, 77, 37, 41,  72,  33};
  for (const Kernels& kernels : kBoth) {
    CAPTURE(kernels.name);
    const auto model = load_model(folder.path().string(), options_of(kernels));
    CHECK(model->info().family == "llama");
    CHECK(model->info().vocab_size == 112);
    const auto kv = model->make_kv(64);
    const double difference = max_difference(all_logits(*model, *kv, ids), expected);
    CAPTURE(difference);
    CHECK(difference < 2e-4);
  }
}

TEST_CASE("small Llamas: greedy tokens and top-5 logits are those of fp64 references") {
  // The largest differences: golden.json has six decimals, TinyStories' file five.
  check_greedy_runs(fixture_dir(), nlohmann::json::parse(read_file(fixture_dir() / "golden.json")),
                    2e-5);
  const auto data = data_dir();
  if (!data) return;
  const fs::path folder = *data / "models" / "TinyStories-656K";
  check_greedy_runs(folder, nlohmann::json::parse(read_file(folder / "golden_greedy_fp64.json")),
                    1e-4);
}

TEST_CASE("SmolLM2: logits are those of transformers within 2e-4") {
  const auto path = model_path();
  if (!path) TRIESCOPE_SKIP("SmolLM2 is not installed");
  const auto golden =
      nlohmann::json::parse(read_file(source_dir() / "tests" / "golden" / "model_logits.json"));
  for (const Kernels& kernels : kBoth) {
    CAPTURE(kernels.name);
    const auto model = load_model(path->string(), options_of(kernels));
    CHECK(model->info().eos_token_ids == std::vector<std::int32_t>{2, 4, 0});
    const auto kv = model->make_kv(700);
    double largest = 0;
    for (const auto& run : golden["runs"]) {
      const std::vector<float> row =
          last_logits(*model, *kv, run["ids"].get<std::vector<std::int32_t>>());
      for (const auto& [id, logit] : run["top"].get<std::vector<std::pair<int, double>>>()) {
        largest = std::max(largest, std::abs(logit - row[static_cast<std::size_t>(id)]));
      }
      const auto strided = run["every_97th"].get<std::vector<double>>();
      for (std::size_t i = 0; i < strided.size(); ++i) {
        largest = std::max(largest, std::abs(strided[i] - row[i * 97]));
      }
      CHECK(argmax(row) == run["top"][0][0].get<int>());
    }
    MESSAGE(kernels.name << ": largest difference " << largest);
    CHECK(largest <= 2e-4);
  }
}
