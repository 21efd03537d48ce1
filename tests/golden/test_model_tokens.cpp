// Tiny models whose windows slide, or whose rope switches where a text outgrows its original
// context: tokens equal transformers' generate(), whatever the KV policy and with drafts; KV that
// no row can see any more is given up. Goldens: model_tokens.json, made by model_tokens.py.
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
namespace {

using nlohmann::json;
using Tokens = std::vector<std::int32_t>;

json golden_tokens() {
  std::ifstream file(source_dir() / "tests" / "golden" / "model_tokens.json");
  return json::parse(file);
}

std::unique_ptr<Model> tiny_model(const std::string& name) {
  const TempDir folder;
  write_golden_case(name, folder.path());
  LoadOptions options;
  options.threads = 2;
  options.device = test_device();
  return load_model(folder.path().string(), options);
}

struct Run {
  Run(Model& model, const json& prompt, int max_new_tokens, const std::string& method,
      json settings)
      : tokenizer(model.info().vocab_size, {}), recorder(capture::Level::kFull) {
    settings["eos_token_id"] = {-1};
    RunConfig config;
    config.method = method;
    config.settings = std::move(settings);
    config.prompt_tokens = prompt.get<Tokens>();
    config.max_new_tokens = max_new_tokens;
    session = std::make_unique<Session>(model, tokenizer, config, recorder);
    session->run();
  }
  std::vector<Tokens> sequences() const {
    std::vector<Tokens> all;
    for (const auto& sequence : session->result().sequences) all.push_back(sequence.tokens);
    return all;
  }

  FakeTokenizer tokenizer;
  MemoryRecorder recorder;
  std::unique_ptr<Session> session;
};

TEST_CASE("windows and outgrown ropes: tokens are those of transformers") {
  const json golden = golden_tokens();
  const int tokens = golden["max_new_tokens"];
  std::size_t seen = 0;
  for (const auto& entry : golden["cases"]) {
    const auto name = entry["model"].get<std::string>();
    CAPTURE(name);
    CAPTURE(entry["prompt"].size());
    const auto model = tiny_model(name);
    for (const auto& run : entry["runs"]) {
      if (is_left_out(seen++)) continue;
      const int beams = run["num_beams"];
      CAPTURE(beams);
      const auto expected = run["sequences"].get<std::vector<Tokens>>();
      for (const char* kv : {"recycle", "compact", "keep", "batch"}) {
        CAPTURE(kv);
        const json settings = {{"num_beams", beams},
                               {"num_return_sequences", beams},
                               {"early_stopping", "false"},
                               {"gc_every", 4},
                               {"kv", kv}};
        const Run ours(*model, entry["prompt"], tokens, "beam", settings);
        CHECK(ours.sequences() == expected);
      }
      if (beams > 1) continue;
      CHECK(Run(*model, entry["prompt"], tokens, "greedy", json::object()).sequences() == expected);
      for (const char* method : {"prompt_lookup", "ngram_trie", "lookahead"}) {
        CAPTURE(method);
        CHECK(Run(*model, entry["prompt"], tokens, method, json::object()).sequences() == expected);
      }
    }
  }
}

TEST_CASE("model tokens: KV out of every window is given up, and the capture says so") {
  const auto model = tiny_model("mistral");
  CHECK(model->info().kv_window == 16);
  Tokens prompt;
  for (int i = 0; i < 45; ++i) prompt.push_back((i * 29 + 7) % 64);
  for (const char* kv : {"recycle", "compact", "keep", "batch"}) {
    CAPTURE(kv);
    const std::string policy = kv;
    const Run run(*model, prompt, 40, "beam",
                  {{"num_beams", 3}, {"num_return_sequences", 3}, {"gc_every", 4}, {"kv", kv}});
    REQUIRE(run.recorder.memory_rows.size() == 40);
    for (const auto& memory : run.recorder.memory_rows) {
      CAPTURE(memory.step);
      // Before the last step's commit the frontier is at position 45 + step.
      const bool last = memory.step == 39;
      if (last) continue;          // all is given up
      CHECK(memory.greedy == 15);  // what plain decoding would hold: the window but the row to come
      CHECK(memory.live <= (policy == "batch" ? 45 : 15 * 3));
      CHECK(memory.live >= 15);
      if (policy == "recycle" || policy == "batch") CHECK(memory.garbage == 0);
      if (policy == "compact" && memory.step % 4 == 0 && memory.step > 0)
        CHECK(memory.garbage == 0);
      if (policy == "keep") CHECK(memory.garbage >= 30 + memory.step);
    }
    // The prompt's first 30 tokens go after prefill: the next row is at 45 and sees 30 to 44.
    std::vector<std::int32_t> gone;
    for (const auto& row : run.recorder.slot_rows)
      if (capture::step_of(row.tick) == 0 && row.node <= -2 &&
          (row.action == capture::SlotAction::kFree || row.action == capture::SlotAction::kGarbage))
        gone.push_back(-2 - row.node);
    CHECK(gone == iota(30));
    const RunResult result = run.session->result();
    if (policy == "recycle") {
      // Freed slots serve again: the prompt's own room is enough for all that follows.
      CHECK(result.peak_live_tokens == 45);
      std::int32_t highest = 0;
      for (const auto& row : run.recorder.slot_rows) highest = std::max(highest, row.slot);
      CHECK(highest < 45 + 15);
    }
  }
  // One layer that sees everything: nothing is given up but dead nodes.
  const auto mixed = tiny_model("ministral");
  CHECK(mixed->info().sliding_window == 16);
  CHECK(mixed->info().kv_window == 0);
  const Run run(*mixed, prompt, 20, "greedy", json::object());
  CHECK(run.recorder.memory_rows[18].live == 45 + 18);
  CHECK(run.recorder.memory_rows[18].garbage == 0);
}

TEST_CASE("model tokens: drafting without some layers leaves the text as it is") {
  const json golden = golden_tokens();
  std::size_t runs = 0;
  for (const auto& entry : golden["cases"]) {
    const bool convolutions = entry["model"] == "lfm2";
    if (entry["model"] != "gemma4" && !convolutions) continue;
    CAPTURE(entry["prompt"].size());
    const auto model = tiny_model(entry["model"]);
    const auto expected = entry["runs"][0]["sequences"].get<std::vector<Tokens>>();
    for (const json& settings :
         {json::object(), json{{"assistant_early_exit", convolutions ? 3 : 5}},
          json{{"skip_layers", convolutions ? json{1, 2} : json{2, 3}}},
          json{{"skip_search", true}, {"search_window", 8}}}) {
      CAPTURE(settings.dump());
      const Run run(*model, entry["prompt"], golden["max_new_tokens"], "layer_skip", settings);
      CHECK(run.sequences() == expected);
      runs += run.session->result().target_forwards > 0;
    }
  }
  CHECK(runs == 24);
}

// Rows of a tree find their ancestors' columns in other slots than their neighbours in the batch.
TEST_CASE("model tokens: three methods' trees of drafts give a model with convolutions its text") {
  const json golden = golden_tokens();
  std::size_t runs = 0;
  for (const auto& entry : golden["cases"]) {
    if (!entry["model"].get<std::string>().starts_with("lfm2")) continue;
    const auto model = tiny_model(entry["model"]);
    const auto expected = entry["runs"][0]["sequences"].get<std::vector<Tokens>>();
    for (const char* method : {"token_recycling", "suffix_automaton", "suffix_decoding"}) {
      for (const char* kv : {"recycle", "compact", "keep"}) {
        CAPTURE(method);
        CAPTURE(kv);
        const Run run(*model, entry["prompt"], golden["max_new_tokens"], method,
                      {{"kv", kv}, {"gc_every", 2}});
        CHECK(run.sequences() == expected);
        runs += run.session->result().target_forwards > 0;
      }
    }
  }
  CHECK(runs == 54);
}

}  // namespace
}  // namespace triescope::test
