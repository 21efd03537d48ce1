// Every family decodes exactly as transformers 5.17.0 (fp32, CPU): tokens of all returned sequences
// equal, their sums of log p within 1e-4, on tiny models.
// Goldens: parity_goldens.json, see parity_models.h. TRIESCOPE_GOLDEN=all: every run with every KV
// policy; without, the other policies take turns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/sampling/logits_processors.h"
#include "core/sampling/warpers.h"
#include "tests/golden/golden_share.h"
#include "tests/golden/parity_compare.h"

namespace triescope::test {
namespace {

using nlohmann::json;

// The longest text that this model's positions hold; a run beyond it is refused.
bool fits(const Model& model, const json& entry, const json& run) {
  return parity_prompt(entry, run["prompt"]).size() +
             static_cast<std::size_t>(parity_max_new_tokens(entry)) <=
         static_cast<std::size_t>(model.info().context);
}

// The second is between finished texts of 15 and 16 tokens, with length_penalty -0.5.
constexpr Tie kTies[] = {
    {"llama rope longrope, outgrown", 2, 0, 4.8e-6},
    {"llama rope longrope, outgrown", 3, 0, 5.7e-6},
};
constexpr double kTolerance = 1e-4;

TEST_CASE("parity: greedy decoding equals transformers' on every family") {
  Count count;
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const auto model = load_parity_model(entry);
    std::size_t seen = 0;
    for (const json& run : entry["runs"]) {
      if (run["beams"] != 1 || is_left_out(seen++)) continue;
      if (!fits(*model, entry, run)) {
        ++count.too_long;
        continue;
      }
      // One beam is greedy decoding too.
      for (const char* method : {"greedy", "beam"})
        compare(*model, name, entry, run, parity_decode(*model, entry, run, method), kTies,
                kTolerance, count);
    }
  }
  report("greedy", count);
  CHECK(count.runs > (only_few() ? 20 : 500));
}

TEST_CASE("parity: beam search equals transformers' on every family") {
  Count count;
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const auto model = load_parity_model(entry);
    std::size_t seen = 0;
    for (const json& run : entry["runs"]) {
      if (run["beams"] == 1 || is_left_out(seen++)) continue;
      if (!fits(*model, entry, run)) {
        ++count.too_long;
        continue;
      }
      compare(*model, name, entry, run, parity_decode(*model, entry, run), kTies, kTolerance,
              count);
    }
  }
  report("beams", count);
  CHECK(count.runs > (only_few() ? 80 : 2000));
}

// Nothing but the path decides a row (with windows too), so the scores are equal to the bit.
TEST_CASE("parity: trie and batch beam search and every KV policy give the same bits") {
  const std::pair<const char*, const char*> others[] = {
      {"batch_beam", "batch"}, {"beam", "compact"}, {"beam", "keep"}, {"beam", "batch"}};
  int runs = 0;
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const auto model = load_parity_model(entry);
    std::size_t at = 0;
    for (const json& run : entry["runs"]) {
      if (run["beams"] == 1 || !fits(*model, entry, run)) continue;
      ++at;
      // Every fifth run, with batch beam search and one of the policies in turn.
      if (!everything() && at % 5 != 0) continue;
      if (is_left_out(at / 5 - 1)) continue;
      const RunResult trie = parity_decode(*model, entry, run);
      for (std::size_t other = 0; other < std::size(others); ++other) {
        if (!everything() && other > 0 && other != 1 + at / 5 % 3) continue;
        const auto [method, kv] = others[other];
        const std::string label = describe(name, run) + " " + method + " kv=" + kv;
        CAPTURE(label);
        const RunResult result = parity_decode(*model, entry, run, method, kv);
        REQUIRE(result.sequences.size() == trie.sequences.size());
        for (std::size_t i = 0; i < result.sequences.size(); ++i) {
          CHECK(result.sequences[i].tokens == trie.sequences[i].tokens);
          CHECK(result.sequences[i].score == trie.sequences[i].score);
        }
        ++runs;
      }
    }
  }
  MESSAGE(runs << " runs beside the trie's");
  CHECK(runs > (only_few() ? 20 : 1000));
}

TEST_CASE("parity: the first logits after a prompt are transformers' on every family") {
  double largest = 0;
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const auto model = load_parity_model(entry);
    const double difference = first_logits_difference(*model, entry);
    CAPTURE(name);
    CHECK(difference <= 2e-4);
    largest = std::max(largest, difference);
  }
  MESSAGE("largest difference of a logit: " << largest);
}

// The distributions are compared, not draws: what processors and warpers leave, in their order, is
// what generate(do_sample=True) would draw the first token from.
TEST_CASE("parity: sampling draws from transformers' distributions on every family") {
  std::size_t distributions = 0;
  double largest = 0;
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const auto model = load_parity_model(entry);
    for (const json& wanted : entry["distributions"]) {
      const std::string label = name + " " + wanted[1].dump();
      CAPTURE(label);
      const auto prompt = parity_prompt(entry, wanted[0]);
      if (prompt.size() >= static_cast<std::size_t>(model->info().context)) continue;
      std::vector<float> scores = first_logits(*model, prompt);
      const auto eos = entry["eos"][1].get<ParityTokens>();
      LogitsProcessors(Settings(wanted[1]), eos, model->info().vocab_size).apply(prompt, 0, scores);
      const Distribution ours = Warpers(Settings(wanted[1])).apply(scores);
      CHECK(ours.tokens == wanted[2].get<ParityTokens>());
      const auto expected = wanted[3].get<std::vector<double>>();
      REQUIRE(ours.probabilities.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        largest = std::max(largest, std::abs(ours.probabilities[i] - expected[i]));
      ++distributions;
    }
  }
  MESSAGE(distributions << " distributions, largest difference of a probability " << largest);
  CHECK(largest < 1e-5);
  CHECK(distributions > 7 * parity_file()["models"].size());
}

// bf16 keeps 8 bits of a number: different texts are not a fault, but most are the same.
TEST_CASE("parity: bf16 says how many of its texts are fp32's") {
  Count all;
  int equal = 0, first_equal = 0;
  for (const auto& [name, entry] : parity_file()["models"].items()) {
    const auto model = load_parity_model(entry, DType::kBF16);
    std::size_t at = 0;
    for (const json& run : entry["runs"]) {
      if (!fits(*model, entry, run) || ++at % 5 != 0 || is_left_out(at / 5 - 1)) continue;
      const auto expected = parity_sequences(run);
      const RunResult result = parity_decode(*model, entry, run);
      ++all.runs;
      bool same = result.sequences.size() == expected.size();
      for (std::size_t i = 0; same && i < expected.size(); ++i)
        same = result.sequences[i].tokens == expected[i];
      equal += same;
      first_equal += result.sequences[0].tokens == expected[0];
    }
  }
  MESSAGE("bf16: " << all.runs << " runs, " << 100 * equal / all.runs
                   << " % equal in all sequences, " << 100 * first_equal / all.runs
                   << " % in the best one");
  CHECK(all.runs > (only_few() ? 10 : 500));
  CHECK(2 * first_equal > all.runs);
}

}  // namespace
}  // namespace triescope::test
