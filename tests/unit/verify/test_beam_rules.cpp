// Beam search against an independent transcription of transformers' (beam_oracle.h), rule by rule.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/sampling/logits_processors.h"
#include "tests/support/beam_oracle.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_beam_rules {
namespace {

struct Case {
  FakeOptions model;
  nlohmann::json settings;
  std::vector<std::int32_t> prompt = {5, 6, 7};
  int max_new_tokens = 12;
};

OracleRun oracle(const Case& c, const FakeModel& model) {
  const auto& s = c.settings;
  OracleConfig config;
  config.prompt = c.prompt;
  config.num_beams = s.value("num_beams", 3);
  config.max_new_tokens = c.max_new_tokens;
  config.length_penalty = s.value("length_penalty", 1.0);
  config.early_stopping = s.value("early_stopping", "false");
  config.num_return_sequences = s.value("num_return_sequences", 1);
  config.eos = s.contains("eos_token_id") ? s["eos_token_id"].get<std::vector<std::int32_t>>()
                                          : c.model.eos_token_ids;
  config.logits = [&model](const std::vector<std::int32_t>& text) { return model.logits_of(text); };
  const LogitsProcessors processors(Settings(s), config.eos, c.model.vocab_size);
  if (processors.any())
    config.process = [processors](const std::vector<std::int32_t>& text, int generated,
                                  std::vector<float>& scores) {
      processors.apply(text, generated, scores);
    };
  return oracle_beam_search(config);
}

// Same texts, same scores to the bit, same number of steps.
void check_equal(const Case& c, const char* kv = "recycle") {
  Rig rig(c.model);
  nlohmann::json settings = c.settings;
  settings["kv"] = kv;
  Session& session = rig.start("beam", settings, c.prompt, c.max_new_tokens);
  session.run();
  const RunResult result = session.result();
  const OracleRun expected = oracle(c, rig.model);
  REQUIRE(result.sequences.size() == expected.sequences.size());
  for (std::size_t i = 0; i < expected.sequences.size(); ++i) {
    CHECK(result.sequences[i].tokens == expected.sequences[i].tokens);
    CHECK(static_cast<float>(result.sequences[i].score) == expected.sequences[i].score);
  }
  CHECK(result.steps == expected.steps);
}

nlohmann::json all_beams(int beams) {
  return {{"num_beams", beams}, {"num_return_sequences", beams}};
}

}  // namespace

TEST_CASE(
    "beam rules: beam search equals the oracle over seeds, beams, stopping rules and policies") {
  const char* policies[] = {"recycle", "compact", "keep", "batch"};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    for (const int beams : {2, 3, 5, 9})
      for (const char* stopping : {"true", "false", "never"}) {
        CAPTURE(beams);
        CAPTURE(stopping);
        Case c;
        c.model.seed = seed;
        c.model.eos_boost = static_cast<float>(seed % 4);
        c.settings = all_beams(beams);
        c.settings["early_stopping"] = stopping;
        check_equal(c, policies[seed % 4]);
      }
  }
}

TEST_CASE("rule 1: log-softmax is that of the definition within fp32, and shift-invariant") {
  const FakeModel model({.vocab_size = 1001, .spread = 20});
  const auto logits = model.logits_of(std::vector<std::int32_t>{1, 2});
  std::vector<float> out(logits.size()), shifted;
  finite_log_softmax(logits, out);
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x));
  for (std::size_t i = 0; i < out.size(); ++i)
    CHECK(std::abs(out[i] - (logits[i] - std::log(sum))) < 4e-6);
  for (const float x : logits) shifted.push_back(x + 1000);  // would overflow without the maximum
  finite_log_softmax(shifted, shifted);
  for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] - shifted[i]) < 2e-4);
}

TEST_CASE("rule 1: scores are sums of fp32 log-softmax, processors after it") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Case c;
    c.model.seed = seed;
    c.settings = all_beams(4);
    c.settings["repetition_penalty"] = 1.7;
    c.settings["no_repeat_ngram_size"] = 2;
    c.settings["min_new_tokens"] = 4;
    c.settings["bad_words_ids"] = "3; 4 9";
    c.model.eos_boost = 3;
    check_equal(c);
  }
}

TEST_CASE("rule 2: the first expansion takes its tokens of one beam") {
  Rig rig;
  Session& session = rig.start("beam", all_beams(5));
  session.step();
  // All live beams differ in their first token.
  std::vector<std::int32_t> first;
  for (const auto& row : rig.recorder.frontier_rows)
    first.push_back(session.tree()[NodeId(row.node)].token.value);
  REQUIRE(first.size() == 5);
  std::sort(first.begin(), first.end());
  CHECK(std::adjacent_find(first.begin(), first.end()) == first.end());
}

TEST_CASE("rule 2: a vocabulary smaller than the candidates brings in the beams at -1e9") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Case c;
    c.model.seed = seed;
    c.model.vocab_size = 4;
    c.prompt = {1, 2, 3};
    c.settings = all_beams(6);
    c.max_new_tokens = 6;
    for (const char* kv : {"recycle", "batch"}) check_equal(c, kv);
  }
}

TEST_CASE("rule 3: several EOS tokens widen the candidates") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Case c;
    c.model.seed = seed;
    c.model.eos_token_ids = {0, 3, 8, 11};
    c.model.eos_boost = 2;
    c.settings = all_beams(3);
    check_equal(c);
    // All EOS tokens of all beams come first: only the wider list leaves texts to go on with.
    c.model.eos_boost = 20;
    c.settings["early_stopping"] = "never";
    c.settings["length_penalty"] = 3.0;
    check_equal(c);
    c.settings["eos_token_id"] = {2, 4, 6, 8, 10, 12};
    check_equal(c);
  }
}

TEST_CASE("rule 4: an EOS ranked below the beams is dropped") {
  // With such a boost EOS is a candidate of nearly every beam, often behind the b-th place.
  bool dropped = false;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Case c;
    c.model.seed = seed;
    c.model.eos_boost = 1.5f;
    c.settings = all_beams(4);
    check_equal(c);
    Rig rig(c.model);
    Session& session = rig.start("beam", c.settings);
    session.step();
    const auto logits = rig.model.logits_of(c.prompt);
    int better = 0;
    for (std::size_t i = 1; i < logits.size(); ++i) better += logits[i] > logits[0];
    const bool candidate_only = better >= 4 && better < 8;
    if (!candidate_only) continue;
    dropped = true;
    for (std::int32_t i = 1; i < session.tree().size(); ++i)
      CHECK(session.tree()[NodeId(i)].token.value != 0);
  }
  CHECK(dropped);
}

TEST_CASE("rule 5: the length penalty orders finished sequences") {
  for (const double penalty : {-1.5, -0.5, 0.0, 0.6, 1.0, 2.0, 3.5}) {
    CAPTURE(penalty);
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
      CAPTURE(seed);
      Case c;
      c.model.seed = seed;
      c.model.eos_boost = 2;
      c.settings = all_beams(3);
      c.settings["length_penalty"] = penalty;
      for (const char* stopping : {"true", "false", "never"}) {
        c.settings["early_stopping"] = stopping;
        check_equal(c);
      }
    }
  }
}

TEST_CASE("rule 6: live beams are the best that did not finish") {
  Rig rig({.seed = 3, .eos_boost = 6});
  Session& session = rig.start("beam", {{"num_beams", 4}, {"early_stopping", "never"}});
  for (int i = 0; i < 4 && !session.done(); ++i) session.step();
  for (const auto& row : rig.recorder.frontier_rows)
    CHECK(session.tree()[NodeId(row.node)].token.value != 0);
  // The frontier is sorted, best first, and has b beams in every step.
  for (std::size_t i = 1; i < rig.recorder.frontier_rows.size(); ++i) {
    const auto &a = rig.recorder.frontier_rows[i - 1], &b = rig.recorder.frontier_rows[i];
    if (a.step == b.step) CHECK(a.score >= b.score);
  }
}

TEST_CASE("rule 7: true stops no later than false, false no later than never") {
  bool differ = false;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::vector<std::int64_t> steps;
    for (const char* stopping : {"true", "false", "never"}) {
      Rig rig({.seed = seed, .eos_boost = 3});
      Session& session =
          rig.start("beam", {{"num_beams", 3}, {"early_stopping", stopping}}, {5, 6, 7}, 30);
      session.run();
      steps.push_back(session.result().steps);
    }
    CHECK(steps[0] <= steps[1]);
    CHECK(steps[1] <= steps[2]);
    differ = differ || steps[0] < steps[2];
  }
  CHECK(differ);
}

TEST_CASE("rule 8: at the cap the live beams finish together, with exactly max_new_tokens") {
  for (const int cap : {1, 2, 7}) {
    CAPTURE(cap);
    Case c;
    c.model.eos_token_ids = {};
    c.settings = all_beams(4);
    c.max_new_tokens = cap;
    check_equal(c);
    Rig rig(c.model);
    Session& session = rig.start("beam", c.settings, c.prompt, cap);
    session.run();
    const RunResult result = session.result();
    REQUIRE(result.sequences.size() == 4);
    for (const auto& sequence : result.sequences) {
      CHECK(static_cast<int>(sequence.tokens.size()) == cap);
      CHECK(sequence.finish == "length");
    }
    CHECK(result.target_forwards == cap);
  }
}

TEST_CASE("rule 9: equal scores go by flat index") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Case c;
    c.model.seed = seed;
    c.model.quantum = 1;  // logits are -2, -1, 0, 1, 2: ties everywhere
    c.settings = all_beams(4);
    check_equal(c);
  }
}

TEST_CASE(
    "beam rules: one beam is greedy decoding, as in transformers, whatever early_stopping says") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    for (const nlohmann::json& extra :
         {nlohmann::json::object(), nlohmann::json{{"repetition_penalty", 1.8}}}) {
      nlohmann::json settings = extra;
      Rig greedy({.seed = seed, .eos_boost = 1});
      greedy.start("greedy", settings).run();
      settings["num_beams"] = 1;
      settings["early_stopping"] = "never";
      Rig beam({.seed = seed, .eos_boost = 1});
      beam.start("beam", settings).run();
      CHECK(tokens_of(beam.session->result()) == tokens_of(greedy.session->result()));
    }
  }
}

TEST_CASE("beam rules: more sequences than beams are refused") {
  Rig rig;
  CHECK_THROWS_WITH_AS(rig.start("beam", {{"num_beams", 2}, {"num_return_sequences", 3}}),
                       "num_return_sequences: expected at most num_beams (2); found 3", Error);
}

TEST_CASE("beam rules: pruning rules cut weak beams, never the best one") {
  for (const char* rule : {"prune_relative", "prune_absolute", "prune_relative_local"}) {
    CAPTURE(rule);
    const double tight = std::string(rule) == "prune_absolute" ? 1e-6 : 1.0;
    Rig rig;
    Session& session = rig.start("beam", {{"num_beams", 5}, {rule, tight}});
    session.run();
    for (const auto& step : rig.recorder.steps) CHECK(step.frontier <= 1);
    CHECK(session.result().sequences.size() == 1);

    Rig loose;  // a rule too wide to bite changes nothing
    loose.start("beam", {{"num_beams", 5}, {rule, 500}}).run();
    Rig none;
    none.start("beam", {{"num_beams", 5}}).run();
    CHECK(tokens_of(loose.session->result()) == tokens_of(none.session->result()));
  }
}

TEST_CASE("beam rules: absolute pruning removes exactly the beams at or below best - a_p") {
  Rig rig;
  Session& session = rig.start("beam", {{"num_beams", 6}, {"prune_absolute", 0.5}});
  session.run();
  int cut = 0;
  for (const auto& row : rig.recorder.verdict_rows) {
    if (row.reason == capture::Reason::kPrunedAbsolute) {
      ++cut;
      CHECK(row.gap >= 0.5f);
      CHECK(row.value == row.score);
      CHECK(row.value <= row.threshold);
      CHECK(row.verdict == capture::Verdict::kPruned);
    }
  }
  CHECK(cut > 0);
  std::map<std::int32_t, float> best;
  for (const auto& row : rig.recorder.frontier_rows) {
    if (row.rank == 0) best[row.step] = row.score;
    CHECK(row.score > best[row.step] - 0.5f);
  }
}

}  // namespace triescope::test::test_beam_rules
