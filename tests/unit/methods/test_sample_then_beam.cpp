#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/beam_oracle.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_sample_then_beam {
namespace {

nlohmann::json hybrid(int sampled, int beams) {
  return {{"sampled_tokens", sampled}, {"num_beams", beams}, {"num_return_sequences", beams}};
}

TEST_CASE("sample_then_beam: no drawn tokens is beam search") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Rig mixed({.seed = seed, .eos_boost = 1}), beam({.seed = seed, .eos_boost = 1});
    mixed.start("sample_then_beam", hybrid(0, 4)).run();
    beam.start("beam", {{"num_beams", 4}, {"num_return_sequences", 4}}).run();
    CHECK(tokens_of(mixed.session->result()) == tokens_of(beam.session->result()));
    CHECK(scores_of(mixed.session->result()) == scores_of(beam.session->result()));
  }
}

TEST_CASE(
    "sample_then_beam: after the drawn tokens it searches as a beam search from there would") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Rig rig({.seed = seed, .eos_boost = -9});
    rig.start("sample_then_beam", hybrid(3, 4), {5, 6, 7}, 11, seed).run();
    const RunResult result = rig.session->result();
    REQUIRE(result.sequences.size() == 4);
    std::vector<std::int32_t> drawn(result.sequences[0].tokens.begin(),
                                    result.sequences[0].tokens.begin() + 3);
    OracleConfig config;
    config.prompt = {5, 6, 7};
    config.prompt.insert(config.prompt.end(), drawn.begin(), drawn.end());
    config.num_beams = config.num_return_sequences = 4;
    config.max_new_tokens = 8;
    config.length_penalty = 0;  // sums: the drawn tokens add the same to each
    config.logits = [&](const std::vector<std::int32_t>& text) {
      return rig.model.logits_of(text);
    };
    const auto expected = oracle_beam_search(config);
    for (std::size_t i = 0; i < 4; ++i) {
      std::vector<std::int32_t> tokens = drawn;
      tokens.insert(tokens.end(), expected.sequences[i].tokens.begin(),
                    expected.sequences[i].tokens.end());
      CHECK(result.sequences[i].tokens == tokens);
    }
  }
}

TEST_CASE("sample_then_beam: the beginning follows the seed") {
  const auto first = [](std::uint64_t seed) {
    Rig rig({.eos_boost = -9});
    rig.start("sample_then_beam", hybrid(4, 3), {5, 6, 7}, 10, seed).run();
    const auto tokens = rig.session->result().sequences[0].tokens;
    return std::vector<std::int32_t>(tokens.begin(), tokens.begin() + 4);
  };
  CHECK(first(3) == first(3));
  CHECK((first(1) != first(2) || first(1) != first(3)));
}

TEST_CASE("sample_then_beam: an EOS among the drawn tokens ends the text, with its score") {
  Rig rig({.eos_boost = 30});
  rig.start("sample_then_beam", hybrid(4, 3)).run();
  const RunResult result = rig.session->result();
  REQUIRE(result.sequences.size() == 1);
  CHECK(result.sequences[0].tokens == std::vector<std::int32_t>{0});
  CHECK(result.sequences[0].finish == "eos");
  CHECK_FALSE(std::isnan(result.sequences[0].score));
}

TEST_CASE("sample_then_beam: drawing may use up the whole length") {
  Rig rig({.eos_boost = -9});
  rig.start("sample_then_beam", hybrid(50, 3), {5, 6, 7}, 6).run();
  const RunResult result = rig.session->result();
  CHECK(result.sequences[0].tokens.size() == 6);
  CHECK(result.sequences[0].finish == "length");
}

TEST_CASE("sample_then_beam: an EOS among the drawn tokens scores its sum over its own length") {
  int ended = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::Rig rig({.eos_boost = 3});
    rig.start("sample_then_beam", {{"sampled_tokens", 6}, {"length_penalty", 1.0}}, {5, 6, 7}, 12,
              seed)
        .run();
    const auto result = rig.session->result();
    const auto& sequence = result.sequences.at(0);
    if (sequence.finish != "eos" || sequence.tokens.size() > 6) continue;
    ++ended;
    const Node& last = rig.session->tree()[NodeId(rig.recorder.sequence_rows.back().node)];
    CHECK(sequence.score ==
          static_cast<double>(last.score / static_cast<float>(sequence.tokens.size())));
  }
  CHECK(ended > 5);
}

}  // namespace
}  // namespace triescope::test::test_sample_then_beam
