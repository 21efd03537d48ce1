// Warpers against transformers; four samplers against one distribution; the method "sample".
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/count_up.h"
#include "core/base/error.h"
#include "core/methods/text_methods.h"
#include "core/sampling/logits_processors.h"
#include "core/sampling/samplers.h"
#include "core/sampling/warpers.h"
#include "tests/support/paths.h"
#include "tests/support/text_loop.h"

namespace triescope::test_sampling {
namespace {

using test::LoopConfig;
using test::Tokens;

nlohmann::json golden(const char* name) {
  std::ifstream file(test::source_dir() / "tests" / "golden" / name);
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

std::vector<float> row_of(const nlohmann::json& values) {
  std::vector<float> row;
  for (const auto& v : values)
    row.push_back(v.is_null() ? -std::numeric_limits<float>::infinity() : v.get<float>());
  return row;
}

TEST_CASE("sampling: warpers leave the tokens and probabilities that transformers leaves") {
  const auto file = golden("warpers.json");
  int cases = 0, level_cases = 0;
  for (const auto& wanted : file.at("cases")) {
    const auto& settings = wanted.at("settings");
    CAPTURE(settings.dump());
    CAPTURE(wanted.at("row").get<std::string>());
    const Warpers warpers(Settings(settings), settings.value("min_tokens_to_keep", 1));
    const Distribution d =
        warpers.apply(row_of(file.at("rows").at(wanted.at("row").get<std::string>())));
    auto p = wanted.at("p").get<std::vector<double>>();
    std::vector<double> ours(d.probabilities.begin(), d.probabilities.end());
    if (wanted.at("row") == "level" && d.tokens != wanted.at("tokens").get<Tokens>()) {
      // torch.sort leaves the order of level scores open, so which of them transformers keeps
      // depends on the processor; how many does not.
      ++level_cases;
      std::ranges::sort(p);
      std::ranges::sort(ours);
    } else {
      REQUIRE(d.tokens == wanted.at("tokens").get<Tokens>());
    }
    REQUIRE(ours.size() == p.size());
    for (std::size_t i = 0; i < p.size(); ++i)
      CHECK(ours[i] == doctest::Approx(p[i]).epsilon(2e-6));
    ++cases;
  }
  CHECK(cases == 228);
  CHECK(level_cases < 20);
}

TEST_CASE("sampling: top_h looks at the hundred best tokens and always keeps the best") {
  // All level: each has a hundredth of the entropy, and those of higher id come first.
  const auto kept = [](double top_h) {
    return Warpers(test::settings({{"top_h", top_h}})).apply(std::vector<float>(150, 0.5f)).tokens;
  };
  CHECK(kept(1).size() == 100);
  CHECK(kept(1).front() == 50);
  CHECK(kept(0.305) == count_up(30, 120));
  CHECK(kept(0.001) == Tokens{149});
  CHECK(kept(0).size() == 150);
  // What underflows to p = 0 has no term: not kept, and no NaN.
  CHECK(
      Warpers(test::settings({{"top_h", 1}})).apply(std::vector<float>{0, -500, 0, -600}).tokens ==
      Tokens{0, 2});
}

TEST_CASE(
    "sampling: a cutoff that no token reaches leaves the best ones and those that tie with them") {
  const float none = -std::numeric_limits<float>::infinity();
  const std::vector<float> row = {1, 0, 1, none, -1};
  for (const char* name : {"epsilon_cutoff", "eta_cutoff"}) {
    CAPTURE(name);
    const nlohmann::json settings = {{name, 0.999}};
    const auto kept = [&](int min_tokens) {
      return Warpers(Settings(settings), min_tokens).apply(row).tokens;
    };
    CHECK(kept(1) == Tokens{0, 2});
    CHECK(kept(3) == Tokens{0, 1, 2});
    CHECK(kept(9) == Tokens{0, 1, 2, 4});
    // 0 and 1 are off.
    for (const double off : {0.0, 1.0})
      CHECK(Warpers(test::settings({{name, off}})).apply(row).tokens == Tokens{0, 1, 2, 4});
  }
}

TEST_CASE("sampling: a row in which nothing is possible, or a NaN, is an error that says so") {
  const float none = -std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(Warpers().apply(std::vector<float>{none, none}), Error);
  CHECK_THROWS_AS(Warpers().apply(std::vector<float>{0, std::numeric_limits<float>::quiet_NaN()}),
                  Error);
}

TEST_CASE(
    "sampling: inverse CDF, Gumbel-max, binary search and alias draw from one and the same distribution") {
  // Weights that do not sum to 1, with impossible entries at both ends.
  const std::vector<float> weights = {0, 2.0f, 0.5f, 0, 0.01f, 3.0f, 0.7f, 0.7f, 0};
  std::vector<float> logits;
  for (const float w : weights) logits.push_back(std::log(w));
  double sum = 0;
  for (const float w : weights) sum += w;
  std::map<std::size_t, double> p;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) p[i] = weights[i] / sum;

  const CdfTable table(weights);
  const AliasTable alias(weights);
  const std::map<std::string, std::function<std::size_t(Rng&)>> samplers = {
      {"inverse CDF", [&](Rng& rng) { return sample_inverse_cdf(weights, rng.uniform()); }},
      {"Gumbel-max", [&](Rng& rng) { return sample_gumbel_max(logits, rng); }},
      {"binary search", [&](Rng& rng) { return table.draw(rng.uniform()); }},
      {"alias", [&](Rng& rng) { return alias.draw(rng.uniform()); }}};
  for (const auto& [name, draw] : samplers) {
    CAPTURE(name);
    Rng rng(11);
    std::map<std::size_t, std::int64_t> counts;
    const std::int64_t draws = 100000;
    for (std::int64_t i = 0; i < draws; ++i) ++counts[draw(rng)];
    const auto chi = test::chi_square(p, counts, draws);
    CHECK(chi.value < chi.limit);
  }
}

TEST_CASE("sampling: no sampler draws an impossible entry at the ends of u") {
  const std::vector<float> weights = {0, 0, 1e-30f, 1, 0};
  const double low = 0x1.0p-53, high = 1 - 0x1.0p-53;
  const CdfTable table(weights);
  const AliasTable alias(weights);
  for (const double u : {low, 0.2, 0.4, 0.5, 0.6, 0.8, 0.999, high}) {
    CHECK(weights[sample_inverse_cdf(weights, u)] > 0);
    CHECK(weights[table.draw(u)] > 0);
    CHECK(weights[alias.draw(u)] > 0);
  }
}

TEST_CASE(
    "sampling: sample draws texts with the model's probabilities, by softmax and by Gumbel-max") {
  const int vocab = 5;
  const auto logits = test::markov_logits(vocab, 3, 1.5, 42);
  const auto method = sample_method();
  for (const char* sampler : {"softmax", "gumbel"}) {
    CAPTURE(sampler);
    LoopConfig config{.max_new_tokens = 3, .vocab = vocab, .keep_steps = false};
    config.settings = {{"sampler", sampler}, {"candidates", 0}};
    const auto exact = test::exact_texts(config.prompt, 3, logits);
    std::map<Tokens, std::int64_t> counts;
    const std::int64_t draws = 30000;
    const RunContext run = test::run_context(config);
    Rng rng(7);
    for (std::int64_t i = 0; i < draws; ++i) {
      auto parts = method.make(run);
      ++counts[test::run_loop(config, logits, nullptr, *parts.acceptor, run, rng).text];
    }
    const auto chi = test::chi_square(exact, counts, draws);
    CHECK(chi.cells > 50);
    CHECK(chi.value < chi.limit);
  }
}

TEST_CASE("sampling: with processors and warpers on, both samplers draw from what these leave") {
  const int vocab = 12;
  const auto logits = test::markov_logits(vocab, 2, 3, 77);
  const Tokens prompt = {1, 2, 1, 2, 5, 1};
  nlohmann::json settings = {{"repetition_penalty", 1.3},
                             {"no_repeat_ngram_size", 2},
                             {"bad_words_ids", "7"},
                             {"temperature", 1.7},
                             {"top_k", 9},
                             {"top_p", 0.97},
                             {"candidates", 0}};
  const LogitsProcessors processors(Settings(settings), Tokens{}, vocab);
  auto scores = logits(prompt);
  processors.apply(prompt, 0, scores);
  const Distribution d = Warpers(Settings(settings)).apply(scores);
  REQUIRE(d.size() > 4);
  REQUIRE(d.size() <= 9);
  std::map<std::int32_t, double> p;
  for (std::size_t i = 0; i < d.size(); ++i) p[d.tokens[i]] = d.probabilities[i];
  CHECK_FALSE(p.contains(7));
  CHECK_FALSE(p.contains(2));  // "1 2" again
  for (const char* sampler : {"softmax", "gumbel"}) {
    CAPTURE(sampler);
    settings["sampler"] = sampler;
    const LoopConfig config{.prompt = prompt,
                            .max_new_tokens = 1,
                            .vocab = vocab,
                            .settings = settings,
                            .keep_steps = false};
    const RunContext run = test::run_context(config);
    const auto method = sample_method();
    Rng rng(3);
    std::map<std::int32_t, std::int64_t> counts;
    const std::int64_t draws = 40000;
    for (std::int64_t i = 0; i < draws; ++i) {
      auto parts = method.make(run);
      ++counts[test::run_loop(config, logits, nullptr, *parts.acceptor, run, rng).text.front()];
    }
    const auto chi = test::chi_square(p, counts, draws);
    CHECK(chi.value < chi.limit);
  }
}

TEST_CASE("sampling: the same seed draws the same text, another seed another") {
  LoopConfig config{.max_new_tokens = 40, .vocab = 30};
  const auto logits = test::markov_logits(30, 4, 1, 9);
  const auto a = test::run_method(sample_method(), config, logits).text;
  CHECK(a.size() == 40);
  CHECK(a == test::run_method(sample_method(), config, logits).text);
  config.seed = 2;
  CHECK(a != test::run_method(sample_method(), config, logits).text);
}

TEST_CASE("sampling: top_k 1 samples greedy decoding's text") {
  LoopConfig config{.max_new_tokens = 40, .eos = {3}, .vocab = 30, .settings = {{"top_k", 1}}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto logits = test::markov_logits(30, 3, 2, seed);
    CHECK(test::run_method(sample_method(), config, logits).text ==
          test::plain_greedy(config, logits));
  }
}

TEST_CASE("sampling: it records the draw, and the model's own log-probability of the token") {
  LoopConfig config{
      .max_new_tokens = 4, .vocab = 12, .settings = {{"temperature", 0.5}, {"candidates", 3}}};
  const auto logits = test::markov_logits(12, 2, 2, 5);
  const auto run = test::run_method(sample_method(), config, logits);
  REQUIRE(run.steps.size() == 4);
  double score = 0;
  Tokens text = config.prompt;
  for (const auto& step : run.steps) {
    REQUIRE(step.result.verdicts.size() >= 1);
    const auto& verdict = step.result.verdicts[0];
    CHECK(verdict.verdict == capture::Verdict::kEmitted);
    CHECK(verdict.u > 0);
    CHECK(verdict.p > 0);
    const Node& node = run.tree[NodeId(verdict.node)];
    CHECK(node.source == capture::Source::kSampled);
    const auto p = test::softmax(logits(text));
    CHECK(node.logprob ==
          doctest::Approx(std::log(p[static_cast<std::size_t>(node.token.value)])).epsilon(1e-5));
    score += node.logprob;
    CHECK(node.score == doctest::Approx(score).epsilon(1e-5));
    CHECK(step.result.candidates.size() == 3);
    text.push_back(node.token.value);
  }
  CHECK(run.steps.back().result.verdicts.back().verdict == capture::Verdict::kFinished);
  CHECK(run.finish == "length");
}

}  // namespace
}  // namespace triescope::test_sampling
