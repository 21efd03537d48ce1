#include "lessons/experiment.h"

#include "lessons/check_lesson.h"
#include "tests/unit/lessons/lesson_run.h"

namespace test_experiment {

using namespace triescope;
using namespace triescope::test;
using namespace triescope::lessons;

namespace {

// 7 lines; the step's title is line 8, its block begins in line 9.
const std::string kHead =
    "---\ntitle: A title\nsummary: What it is about\nminutes: 5\nmethod: beam\nprompt: Once\n---\n"
    "## S\n```experiment\n";

Experiment read(const std::string& block) {
  const Lesson lesson = read_lesson(kHead + block + "```\n", "a.md");
  return std::get<Experiment>(lesson.steps[0].pieces[0]);
}
std::string refused_block(const std::string& block) {
  return refusal(ErrorCode::kCorruption, [&] { read(block); });
}

}  // namespace

TEST_CASE("experiment: everything in its block is read") {
  const Experiment one = read(
      "Many draws\nof one token\n- {token(best, 3)} := kv_live(3) | 0.25\n- all others := 1 | 0.75\n"
      "rule: multi_round\ndrafts: 2\ndraws: 500\nseed: 9\nexpect: differs\n");
  CHECK(one.line == 10);
  CHECK(one.rule == "multi_round");
  CHECK(one.drafts == 2);
  CHECK(one.draws == 500);
  CHECK(one.seed == 9);
  REQUIRE(one.agrees);
  CHECK_FALSE(*one.agrees);
  REQUIRE(one.tokens.size() == 2);
  CHECK(one.tokens[1].line == 13);
  const ExperimentSetup setup = resolve_experiment(one, {lesson_run()});
  CHECK(setup.rule == "multi_round");
  CHECK(std::get<std::string>(setup.names[0]) == text_of("token(best, 3)"));
  CHECK(std::get<std::string>(setup.names[1]) == "all others");
  // Scaled to 1: kv_live(3) is 19.
  CHECK(setup.p == std::vector<double>{19.0 / 20, 1.0 / 20});
  CHECK(setup.q == std::vector<double>{0.25, 0.75});
  CHECK(setup.drafts == 2);
  CHECK(setup.draws == 500);
  CHECK(setup.seed == 9);
}

TEST_CASE("experiment: what is not given is one draft, 10,000 draws and nothing expected") {
  const Experiment one = read("x\n- a := 1\n- b := 3\nrule: gumbel_max\n");
  CHECK(one.drafts == 1);
  CHECK(one.draws == 10000);
  CHECK(one.seed == 1);
  CHECK_FALSE(one.agrees);
  const ExperimentSetup setup = resolve_experiment(one, {lesson_run()});
  CHECK(setup.p == std::vector<double>{0.25, 0.75});
  CHECK(setup.q.empty());
}

TEST_CASE("experiment: what is wrong is said with its line") {
  const std::string two = "x\n- a := 1\n- b := 3\n";
  CHECK(
      refused_block(two + "rule: chian\n") ==
      "a.md:13: rule: expected one of inverse_cdf, gumbel_max, gumbel_second, chain, block, multi_round, "
      "take_all, redraw; found 'chian'; did you mean chain?");
  CHECK(refused_block(two) == "a.md:10: experiment: expected 'rule: NAME', by which it draws");
  CHECK(refused_block(two + "rule: chain\n") ==
        "a.md:11: experiment: the rule chain draws drafts: expected '- TOKEN := P | Q'");
  CHECK(refused_block("x\n- a := 1 | 1\n- b := 3 | 1\nrule: gumbel_max\n") ==
        "a.md:11: experiment: the rule gumbel_max draws no drafts: expected '- TOKEN := P'");
  CHECK(refused_block("- a := 1\n- b := 3\nrule: gumbel_max\n") ==
        "a.md:10: experiment: expected what is tried, in words");
  CHECK(refused_block("x\n- a := 1\nrule: gumbel_max\n") ==
        "a.md:10: experiment: expected two tokens or more, '- TOKEN := P | Q' each");
  CHECK(refused_block("x\n- a\nrule: gumbel_max\n") ==
        "a.md:11: experiment: expected '- TOKEN := P' or '- TOKEN := P | Q'; found '- a'");
  CHECK(refused_block(two + "draws: 99\n") ==
        "a.md:13: draws: expected a number from 100 to 100000; found '99'");
  CHECK(refused_block(two + "drafts: 5\n") ==
        "a.md:13: drafts: expected a number from 1 to 4; found '5'");
  CHECK(refused_block(two + "expect: maybe\n") ==
        "a.md:13: expect: expected agrees or differs; found 'maybe'");
  CHECK(refused_block(two + "hello\n")
            .starts_with("a.md:13: experiment: expected '- TOKEN := P | Q'"));
  std::string many = "x\n";
  for (int i = 0; i < 13; ++i) many += "- a := 1\n";
  CHECK(refused_block(many) == "a.md:23: experiment: expected at most 12 tokens");
}

TEST_CASE("experiment: rules for chosen drafts are refused as a run refuses them for drawn ones") {
  for (const std::string rule : {"greedy", "typical", "top_k"})
    CHECK(refused_block("x\n- a := 1 | 1\n- b := 3 | 1\nrule: " + rule + "\n") ==
          "a.md:13: rule: verify=" + rule +
              ": expected chosen drafts, found drafts drawn at random, for which verify=sample is "
              "exact; in an experiment take chain, block or multi_round");
  CHECK(refused_for_drawn("chain").empty());
}

TEST_CASE("experiment: weights below 0, or none above it, are refused") {
  const auto refused_weights = [](const std::string& a, const std::string& b) {
    const Experiment one = read("x\n- a := " + a + "\n- b := " + b + "\nrule: gumbel_max\n");
    return refusal(ErrorCode::kCorruption, [&] { resolve_experiment(one, {lesson_run()}); });
  };
  CHECK(refused_weights("0 - 1", "2") == "experiment: expected a probability, 0 or more; found -1");
  CHECK(refused_weights("0", "0") == "experiment: expected a p above 0 for some token; found none");
  CHECK(refused_weights("kv_live(99)", "1") ==
        "column 1: there is no step 99; the run has steps 0 to 11");
}

}  // namespace test_experiment
