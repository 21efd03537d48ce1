// Mixtures of experts: tokens equal transformers' generate(), greedily, with beams and with drafts.
// Goldens: expert_tokens.json, made by expert_tokens.py.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/session/session.h"
#include "tests/golden/golden_share.h"
#include "tests/support/device.h"
#include "tests/support/fake_model.h"
#include "tests/support/memory_recorder.h"
#include "tests/support/paths.h"
#include "tests/unit/model/model_test_util.h"

namespace triescope::test {
namespace test_expert_tokens {

using nlohmann::json;
using Tokens = std::vector<std::int32_t>;

std::vector<Tokens> sequences(Model& model, const json& prompt, int max_new_tokens,
                              const std::string& method, json settings) {
  settings["eos_token_id"] = {-1};
  RunConfig config;
  config.method = method;
  config.settings = std::move(settings);
  config.prompt_tokens = prompt.get<Tokens>();
  config.max_new_tokens = max_new_tokens;
  const FakeTokenizer tokenizer(model.info().vocab_size, {});
  MemoryRecorder recorder(capture::Level::kFull);
  Session session(model, tokenizer, config, recorder);
  session.run();
  std::vector<Tokens> all;
  for (const auto& sequence : session.result().sequences) all.push_back(sequence.tokens);
  return all;
}

TEST_CASE("mixtures of experts: tokens are those of transformers, with beams and drafts too") {
  std::ifstream file(source_dir() / "tests" / "golden" / "expert_tokens.json");
  const json golden = json::parse(file);
  const int tokens = golden["max_new_tokens"];
  std::size_t seen = 0;
  for (const auto& entry : golden["cases"]) {
    const auto name = entry["model"].get<std::string>();
    CAPTURE(name);
    const TempDir folder;
    write_golden_case(name, folder.path());
    const auto model = load_model(folder.path().string(), {.device = test_device(), .threads = 2});
    REQUIRE(entry["runs"].size() >= 25);
    for (const auto& run : entry["runs"]) {
      if (is_left_out(seen++)) continue;
      const int beams = run["num_beams"];
      CAPTURE(beams);
      CAPTURE(run["prompt"].size());
      const auto expected = run["sequences"].get<std::vector<Tokens>>();
      CHECK(sequences(*model, run["prompt"], tokens, "beam",
                      {{"num_beams", beams},
                       {"num_return_sequences", beams},
                       {"early_stopping", "false"}}) == expected);
      if (beams > 1) {
        CHECK(sequences(*model, run["prompt"], tokens, "batch_beam",
                        {{"num_beams", beams},
                         {"num_return_sequences", beams},
                         {"early_stopping", "false"}}) == expected);
        continue;
      }
      for (const char* method : {"greedy", "prompt_lookup", "lookahead"}) {
        CAPTURE(method);
        CHECK(sequences(*model, run["prompt"], tokens, method, json::object()) == expected);
      }
    }
  }
}

}  // namespace test_expert_tokens
}  // namespace triescope::test
