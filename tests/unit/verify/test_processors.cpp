// Logits processors against transformers.
#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/methods/text_methods.h"
#include "core/sampling/logits_processors.h"
#include "tests/support/paths.h"
#include "tests/support/text_loop.h"

namespace triescope::test_processors {
namespace {

using test::Tokens;

TEST_CASE(
    "processors: logits processors change the scores that transformers changes, to the same values") {
  std::ifstream stream(test::source_dir() / "tests" / "golden" / "processors.json");
  REQUIRE(stream);
  const auto file = nlohmann::json::parse(stream);
  const auto row = file.at("row").get<std::vector<float>>();
  const auto eos = file.at("eos").get<Tokens>();
  int changed_scores = 0;
  for (const auto& wanted : file.at("cases")) {
    CAPTURE(wanted.dump());
    auto context = wanted.at("prompt").get<Tokens>();
    const auto generated = wanted.at("generated").get<Tokens>();
    context.insert(context.end(), generated.begin(), generated.end());
    const LogitsProcessors processors(Settings(wanted.at("settings")), eos,
                                      static_cast<int>(row.size()));
    REQUIRE(processors.any());
    std::vector<float> expected = row;
    for (const auto& change : wanted.at("changed")) {
      expected[change.at(0).get<std::size_t>()] = change.at(1).is_null()
                                                      ? -std::numeric_limits<float>::infinity()
                                                      : change.at(1).get<float>();
      ++changed_scores;
    }
    std::vector<float> scores = row;
    processors.apply(context, static_cast<int>(generated.size()), scores);
    CHECK(scores == expected);  // bit for bit
  }
  CHECK(changed_scores > 80);
}

TEST_CASE("processors: those that are off change nothing and say so") {
  CHECK_FALSE(LogitsProcessors().any());
  const nlohmann::json off = {{"repetition_penalty", 1.0},
                              {"no_repeat_ngram_size", 0},
                              {"bad_words_ids", ""},
                              {"min_new_tokens", 0}};
  CHECK_FALSE(LogitsProcessors(Settings(off), Tokens{1}, 10).any());
  // A minimum without an EOS has nothing to hold back; a bad word that is the EOS is ignored.
  CHECK_FALSE(LogitsProcessors(test::settings({{"min_new_tokens", 5}}), Tokens{}, 10).any());
  CHECK_FALSE(LogitsProcessors(test::settings({{"bad_words_ids", "1"}}), Tokens{1}, 10).any());
}

TEST_CASE("processors: bad_words_ids reads as text and as lists, and refuses anything else") {
  const auto banned = [](const nlohmann::json& words) {
    const LogitsProcessors processors(test::settings({{"bad_words_ids", words}}), Tokens{}, 6);
    std::vector<float> scores(6, 0);
    processors.apply(Tokens{0, 0, 2}, 3, scores);
    Tokens out;
    for (std::int32_t i = 0; i < 6; ++i)
      if (scores[static_cast<std::size_t>(i)] < 0) out.push_back(i);
    return out;
  };
  CHECK(banned("2 3; 5") == Tokens{3, 5});
  CHECK(banned("2,3;5;") == Tokens{3, 5});
  CHECK(banned("[[2,3],[5]]") == Tokens{3, 5});
  CHECK(banned(nlohmann::json::parse("[[2,3],[5]]")) == Tokens{3, 5});
  CHECK(banned(nlohmann::json::parse("[4]")) == Tokens{4});
  CHECK_THROWS_AS(banned("the"), Error);
  CHECK_THROWS_AS(banned("99999999999"), Error);
  CHECK_THROWS_AS(banned("6"), Error);
  CHECK_THROWS_AS(banned(nlohmann::json::parse("[[-1]]")), Error);
  CHECK_THROWS_AS(banned(nlohmann::json::parse("[[]]")), Error);
  CHECK_THROWS_AS(banned(3), Error);
}

TEST_CASE("processors: verification applies the processors to each node's own path") {
  // With no_repeat_ngram_size 2 a draft copied from the text is forbidden as soon as its second
  // token would repeat a pair: drafted or not, the text is the one that plain decoding with
  // processors writes.
  const int vocab = 12;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto logits = test::markov_logits(vocab, 2, 2, seed);
    for (const nlohmann::json& settings :
         {nlohmann::json{{"no_repeat_ngram_size", 2}}, nlohmann::json{{"repetition_penalty", 1.4}},
          nlohmann::json{{"min_new_tokens", 20}}, nlohmann::json{{"bad_words_ids", "3 4; 5"}}}) {
      CAPTURE(settings.dump());
      test::LoopConfig config{
          .prompt = {1, 2, 1, 2, 5, 1}, .max_new_tokens = 30, .eos = {0}, .vocab = vocab};
      config.settings = settings;
      config.settings["top_k"] = 1;  // sampling without a choice: greedy decoding with processors
      const auto plain = test::run_method(sample_method(), config, logits).text;
      CHECK(test::run_method(ngram_trie_method(), config, logits).text == plain);
      CHECK(test::run_method(prompt_lookup_method(), config, logits).text == plain);
    }
  }
}

}  // namespace
}  // namespace triescope::test_processors
