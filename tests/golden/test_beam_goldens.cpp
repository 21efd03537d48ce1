// Beam search on SmolLM2-135M-Instruct equals transformers 5.17.0 (fp32, CPU): tokens of all
// returned beams, for every KV policy. Goldens: beam_goldens.json, made by make_beam_goldens.py;
// TRIESCOPE_PRODUCT=FILE: "product" of another such file, as --whole writes it.
// TRIESCOPE_TEST_DEVICE=cuda: on that device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/capture/recorder.h"
#include "core/model/model.h"
#include "core/session/session.h"
#include "core/text/tokenizer/tokenizer.h"
#include "tests/golden/golden_share.h"
#include "tests/golden/parity_compare.h"
#include "tests/support/device.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"

namespace triescope::test {
namespace {

using nlohmann::json;
using Tokens = std::vector<std::int32_t>;

// Two choices whose scores differ by less may come out either way: fp32 sums in another order.
constexpr double kTie = 1e-5;

struct Golden {
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tokenizer;
  json file;
};

// Loaded once for all cases of this program.
Golden* golden() {
  static std::unique_ptr<Golden> loaded = [] {
    std::unique_ptr<Golden> g;
    const auto path = model_path();
    std::ifstream file(source_dir() / "tests" / "golden" / "beam_goldens.json");
    if (!path || !file) return g;
    g = std::make_unique<Golden>();
    g->file = json::parse(file);
    g->model = load_model(path->string(), {.device = test_device()});
    g->tokenizer = load_tokenizer(path->string());
    return g;
  }();
  return loaded.get();
}

RunResult decode(Golden& g, const json& prompt_case, const json& run,
                 const std::string& early_stopping, const std::string& kv) {
  RunConfig config;
  config.method = "beam";
  config.settings = {{"num_beams", run["num_beams"]},
                     {"num_return_sequences", run["num_beams"]},
                     {"early_stopping", early_stopping},
                     {"eos_token_id", g.file["eos_token_id"]},
                     {"kv", kv}};
  config.prompt_tokens = prompt_case["prompt"].get<Tokens>();
  config.max_new_tokens = prompt_case["max_new_tokens"];
  capture::NullRecorder recorder;
  Session session(*g.model, *g.tokenizer, config, recorder);
  session.run();
  return session.result();
}

// Compares one run with its golden; an unequal one passes only where its scores say it is a tie.
void compare(const json& prompt_case, const json& run, const std::string& early_stopping,
             const RunResult& result, int& unequal) {
  const auto expected = run["sequences"].get<std::vector<Tokens>>();
  REQUIRE(result.sequences.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (run.contains("scores"))
      CHECK(result.sequences[i].score ==
            doctest::Approx(run["scores"][i].get<double>()).epsilon(1e-4));
    if (result.sequences[i].tokens == expected[i]) continue;
    ++unequal;
    double gap = std::nan("");
    if (run.contains("scores"))
      gap = std::abs(result.sequences[i].score - run["scores"][i].get<double>());
    CAPTURE(prompt_case["question"].get<int>());
    CAPTURE(run["num_beams"].get<int>());
    CAPTURE(early_stopping);
    CAPTURE(i);
    MESSAGE("not equal: sequence " << i << ", score gap " << gap);
    CHECK(gap < kTie);
  }
}

// All of it takes minutes: TRIESCOPE_GOLDEN=all asks for it. Without, every prompt is decoded with
// every number of beams, under one of the three stopping rules in turn.
constexpr const char* kStopping[] = {"true", "false", "never"};

bool is_run(const json& run, int num_beams, const std::string& early_stopping) {
  // With one beam generate() is greedy and early_stopping means nothing: every rule must give that
  // text.
  return run["num_beams"] == num_beams &&
         (!run.contains("early_stopping") || run["early_stopping"] == early_stopping);
}

void compare_all(int num_beams, const std::vector<std::string>& policies) {
  Golden& g = *golden();
  int runs = 0, unequal = 0;
  std::size_t at = 0, seen = 0;
  for (const json& prompt_case : g.file["cases"]) {
    for (const char* early_stopping : kStopping) {
      if (!everything() && early_stopping != kStopping[at % 3]) continue;
      for (const json& run : prompt_case["runs"]) {
        if (!is_run(run, num_beams, early_stopping)) continue;
        for (const std::string& kv : policies) {
          if (is_left_out(seen++)) continue;
          CAPTURE(kv);
          compare(prompt_case, run, early_stopping, decode(g, prompt_case, run, early_stopping, kv),
                  unequal);
          ++runs;
        }
      }
    }
    ++at;
  }
  MESSAGE("num_beams " << num_beams << ": " << runs << " runs, " << unequal
                       << " sequences unequal");
  if (only_few())
    CHECK(runs > 0);
  else
    CHECK(runs == static_cast<int>(policies.size()) * (everything() ? 60 : 20));
}

TEST_CASE("golden: one beam equals transformers' greedy decoding") {
  if (!golden())
    TRIESCOPE_SKIP("needs SmolLM2-135M-Instruct (scripts/setup) and beam_goldens.json");
  compare_all(1, {"recycle"});
}

TEST_CASE("golden: three beams equal transformers'") {
  if (!golden())
    TRIESCOPE_SKIP("needs SmolLM2-135M-Instruct (scripts/setup) and beam_goldens.json");
  compare_all(3, {"recycle"});
}

TEST_CASE("golden: nine beams equal transformers'") {
  if (!golden())
    TRIESCOPE_SKIP("needs SmolLM2-135M-Instruct (scripts/setup) and beam_goldens.json");
  compare_all(9, {"recycle"});
}

TEST_CASE("golden: all KV policies equal transformers' on every prompt") {
  if (!golden())
    TRIESCOPE_SKIP("needs SmolLM2-135M-Instruct (scripts/setup) and beam_goldens.json");
  if (!everything()) TRIESCOPE_SKIP("takes half an hour: set TRIESCOPE_GOLDEN=all");
  for (const int num_beams : {1, 3, 9}) compare_all(num_beams, {"compact", "keep", "batch"});
}

// Stronger than equal tokens: nothing but the path decides a row, so scores are equal to the bit.
TEST_CASE("golden: every KV policy gives the same scores, to the bit") {
  if (!golden())
    TRIESCOPE_SKIP("needs SmolLM2-135M-Instruct (scripts/setup) and beam_goldens.json");
  Golden& g = *golden();
  std::size_t at = 0, seen = 0;
  for (const json& prompt_case : g.file["cases"]) {
    if (at++ % 10 != 0) continue;
    for (const json& run : prompt_case["runs"]) {
      if (!is_run(run, 9, "false") && !is_run(run, 3, "never")) continue;
      if (is_left_out(seen++)) continue;
      const auto stopping = run["early_stopping"].get<std::string>();
      const RunResult recycle = decode(g, prompt_case, run, stopping, "recycle");
      for (const char* kv : {"compact", "keep", "batch"}) {
        CAPTURE(kv);
        const RunResult other = decode(g, prompt_case, run, stopping, kv);
        REQUIRE(other.sequences.size() == recycle.sequences.size());
        for (std::size_t i = 0; i < other.sequences.size(); ++i) {
          CHECK(other.sequences[i].tokens == recycle.sequences[i].tokens);
          CHECK(other.sequences[i].score == recycle.sequences[i].score);
        }
      }
    }
  }
}

// bf16 keeps 8 bits of a number: another text is not a fault, but most are the same to begin with.
TEST_CASE("golden: bf16 says how much of its greedy texts is fp32's") {
  if (!golden())
    TRIESCOPE_SKIP("needs SmolLM2-135M-Instruct (scripts/setup) and beam_goldens.json");
  Golden& g = *golden();
  auto fp32 = std::exchange(g.model, load_model(model_path()->string(),
                                                {.device = test_device(), .dtype = DType::kBF16}));
  int texts = 0, equal = 0;
  std::size_t tokens = 0, same = 0, at = 0;
  for (const json& prompt_case : g.file["cases"]) {
    if (at++ % 4 != 0 && !everything()) continue;
    for (const json& run : prompt_case["runs"]) {
      if (!is_run(run, 1, "false") || is_left_out(at / 4)) continue;
      const auto expected = run["sequences"][0].get<Tokens>();
      const Tokens ours = decode(g, prompt_case, run, "false", "recycle").sequences.at(0).tokens;
      const auto parts = std::ranges::mismatch(ours, expected).in1 - ours.begin();
      same += static_cast<std::size_t>(parts);
      tokens += expected.size();
      equal += ours == expected;
      ++texts;
    }
  }
  g.model = std::move(fp32);
  MESSAGE("bf16: " << equal << " of " << texts << " texts equal, " << 100 * same / tokens
                   << " % of the tokens before the first difference");
  CHECK(texts == (everything() ? 20 : only_few() ? 1 : 5));
  CHECK(4 * same > tokens);
}

constexpr std::span<const Tie> kProductTies;
constexpr double kProductTolerance = 1e-3;

// num_beams x early_stopping x length_penalty x EOS tokens x prompts, and the logits processors.
// KV policies and batch beam search take turns. Without TRIESCOPE_GOLDEN=all, every fourth run.
TEST_CASE(
    "golden: SmolLM2 with all settings of beam search and all processors equals transformers'") {
  if (!golden())
    TRIESCOPE_SKIP("needs SmolLM2-135M-Instruct (scripts/setup) and beam_goldens.json");
  json file = golden()->file;
  if (const std::string other = environment("TRIESCOPE_PRODUCT", ""); !other.empty())
    file = json::parse(std::ifstream(other));
  const json& entry = file["product"];
  constexpr std::pair<const char*, const char*> kSearches[] = {{"beam", "recycle"},
                                                               {"beam", "compact"},
                                                               {"beam", "keep"},
                                                               {"beam", "batch"},
                                                               {"batch_beam", "batch"}};
  Model& model = *golden()->model;
  Count one, several;
  std::size_t at = 0;
  for (const json& run : entry["runs"]) {
    const auto [method, kv] = kSearches[at % std::size(kSearches)];
    if (at++ % 4 != 0 && !everything()) continue;
    if (is_left_out(at / 4)) continue;
    CAPTURE(method);
    CAPTURE(kv);
    const bool greedy = run["beams"] == 1;
    compare(model, "SmolLM2", entry, run, parity_decode(model, entry, run, method, kv),
            kProductTies, kProductTolerance, greedy ? one : several);
    if (greedy)
      compare(model, "SmolLM2", entry, run, parity_decode(model, entry, run, "greedy"),
              kProductTies, kProductTolerance, one);
  }
  report("one beam", one);
  report("several beams", several);
  CHECK(several.runs > (only_few() ? 0 : 10));
}

}  // namespace
}  // namespace triescope::test
