// Experiments of lessons: the draws of each rule agree with its known distribution.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "app/lesson/experiment.h"
#include "core/base/error.h"
#include "core/methods/registry.h"
#include "core/verify/rule_table.h"
#include "tests/unit/lessons/lesson_run.h"

namespace triescope::app::test_experiment {
namespace {

lessons::ExperimentSetup setup_of(const std::string& rule) {
  lessons::ExperimentSetup setup;
  setup.rule = rule;
  setup.p = {0.3, 0.2, 0.4, 0.1, 0};
  for (const char* const name : {"a", "b", "c", "d", "e"})
    setup.names.emplace_back(std::string(name));
  for (const lessons::ExperimentRule& one : lessons::experiment_rules())
    if (rule == one.name && one.drafts) setup.q = {0.5, 0, 0.2, 0.2, 0.1};
  setup.draws = 10000;
  setup.seed = 3;
  return setup;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  return all;
}

TEST_CASE("experiment: samplers and lossless rules agree with p, at every seed") {
  for (const char* const rule : {"inverse_cdf", "gumbel_max", "chain", "block", "multi_round"})
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      CAPTURE(rule);
      CAPTURE(seed);
      lessons::ExperimentSetup setup = setup_of(rule);
      setup.seed = seed;
      if (std::string(rule) == "multi_round" || std::string(rule) == "block") setup.drafts = 2;
      const ExperimentResult result = run_experiment(setup);
      CHECK(sum(result.counts) == 10000);
      CHECK(result.counts[4] == 0);
      CHECK(result.chi.degrees == 3);
      CHECK(result.agrees());
      CHECK(result.share(2) == doctest::Approx(0.4).epsilon(0.06));
    }
}

TEST_CASE("experiment: the second largest sum is the second of two drawn without replacement") {
  const lessons::ExperimentSetup setup = setup_of("gumbel_second");
  const std::vector<double> expected = expected_of(setup);
  CHECK(expected[0] == doctest::Approx(0.3 * (0.2 / 0.8 + 0.4 / 0.6 + 0.1 / 0.9)));
  CHECK(expected[4] == 0);
  const ExperimentResult result = run_experiment(setup);
  CHECK(result.agrees());
  // The result does not follow p itself.
  CHECK(chi_square(result.counts, setup.p).p < kDiffersBelow);
}

TEST_CASE("experiment: broken rules differ from p") {
  for (const char* const rule : {"take_all", "redraw"}) {
    CAPTURE(rule);
    const ExperimentResult result = run_experiment(setup_of(rule));
    CHECK(sum(result.counts) == 10000);
    CHECK_FALSE(result.agrees());
  }
}

TEST_CASE("experiment: broken rules err as they are described") {
  const lessons::ExperimentSetup all = setup_of("take_all");
  const ExperimentResult believed = run_experiment(all);
  CHECK(believed.accepted == 10000);
  CHECK(believed.drafted == 10000);
  CHECK(chi_square(believed.counts, all.q).p >= kDiffersBelow);
  const lessons::ExperimentSetup again = setup_of("redraw");
  const ExperimentResult redrawn = run_experiment(again);
  // Tokens come with min(p, q) where a draft passes, and with p for the rest.
  const double refused = 1 - (0.3 + 0.2 + 0.1);
  std::vector<double> expected;
  for (std::size_t i = 0; i < again.p.size(); ++i)
    expected.push_back(std::min(again.p[i], again.q[i]) + refused * again.p[i]);
  CHECK(chi_square(redrawn.counts, expected).p >= kDiffersBelow);
  CHECK(static_cast<double>(redrawn.accepted) / 10000 == doctest::Approx(0.6).epsilon(0.05));
  // The real rule keeps as many drafts, and corrects what it refuses.
  CHECK(static_cast<double>(run_experiment(setup_of("chain")).accepted) / 10000 ==
        doctest::Approx(0.6).epsilon(0.05));
}

// Sun et al., "Block Verification Accelerates Speculative Decoding", 2024, section 1: P = (1/3, 2/3),
// Q = (2/3, 1/3) and two drafts, of which a token at a time keeps 10/9 and a block 11/9.
TEST_CASE(
    "experiment: a block keeps more of a chain than its tokens one by one, and draws the same") {
  lessons::ExperimentSetup setup = setup_of("chain");
  setup.p = {1.0 / 3, 2.0 / 3};
  setup.q = {2.0 / 3, 1.0 / 3};
  setup.names.resize(2);
  setup.drafts = 2;
  setup.draws = 40000;
  for (const auto& [rule, ninths] : {std::pair{"chain", 10.0}, std::pair{"block", 11.0}}) {
    CAPTURE(rule);
    setup.rule = rule;
    const ExperimentResult result = run_experiment(setup);
    CHECK(result.drafted == 80000);
    CHECK(result.levels == 2);
    CHECK(static_cast<double>(result.accepted) / 40000 ==
          doctest::Approx(ninths / 9).epsilon(0.015));
    CHECK(result.agrees());
  }
}

TEST_CASE("experiment: the same setup draws the same, another seed something else") {
  for (const lessons::ExperimentRule& rule : lessons::experiment_rules()) {
    CAPTURE(rule.name);
    lessons::ExperimentSetup setup = setup_of(rule.name);
    const std::vector<std::int64_t> counts = run_experiment(setup).counts;
    CHECK(run_experiment(setup).counts == counts);
    setup.seed = 4;
    CHECK(run_experiment(setup).counts != counts);
  }
}

TEST_CASE("experiment: a lesson refuses what a run refuses for drawn drafts, in the same words") {
  const auto run_says = [](const std::string& rule, Drafted drafted) -> std::string {
    try {
      rule_for(rule, drafted);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const std::vector<Parameter>& parameters = find_method("draft_model").parameters;
  const auto verify = std::ranges::find(parameters, "verify", &Parameter::name);
  REQUIRE(verify != parameters.end());
  int refused = 0;
  for (const std::string& rule : verify->choices) {
    CAPTURE(rule);
    const std::string why(lessons::refused_for_drawn(rule));
    CHECK(run_says(rule, Drafted::kDrawnTree).empty() ==
          (why.empty() && rule != "chain" && rule != "block"));  // one draft a node
    CHECK(run_says(rule, Drafted::kDrawnChain) ==
          (why.empty() ? "" : "verify=" + rule + ": " + why));
    refused += !why.empty();
  }
  CHECK(refused == 3);
}

TEST_CASE("experiment: every rule says what it draws, in words of its own") {
  std::set<std::string> words;
  for (const lessons::ExperimentRule& rule : lessons::experiment_rules()) {
    CAPTURE(rule.name);
    CHECK(std::string(rule_words(rule.name)).ends_with("."));
    words.insert(rule_words(rule.name));
  }
  CHECK(words.size() == lessons::experiment_rules().size());
  CHECK(std::string(rule_words("none")) == "");
}

TEST_CASE("experiment: the verdict tells the p-value in trials of a thousand") {
  ExperimentResult result;
  result.chi = {3, 3, 0.3916};
  CHECK(
      verdict_words(result) ==
      "They agree: chance alone would put draws as far from what is expected, or farther, in 392 of "
      "1,000 such experiments.");
  result.chi.p = 0.00099;
  CHECK(verdict_words(result) ==
        "They differ: chance alone would put draws as far from what is expected in fewer than 1 of "
        "1,000 such experiments.");
}

TEST_CASE("experiment: drawing ends where it is asked to") {
  std::stop_source stop;
  stop.request_stop();
  CHECK(test::refusal(ErrorCode::kCancelled, [&] {
          run_experiment(setup_of("chain"), stop.get_token());
        }) == "experiment cancelled");
}

TEST_CASE("experiment: the check says what came out otherwise than the author says") {
  const auto findings_of = [](const std::string& rule, const std::string& expected) {
    const lessons::Lesson lesson = lessons::read_lesson(
        "---\ntitle: T\nsummary: S\nminutes: 5\nmethod: beam\nprompt: Once\n---\n## S\n"
        "```experiment\nx\n- a := 0.3 | 0.6\n- b := 0.7 | 0.4\nrule: " +
            rule + "\n" + expected + "```\n",
        "a.md");
    return check_experiments(lesson, test::lesson_run());
  };
  CHECK(findings_of("chain", "expect: agrees\n").empty());
  CHECK(findings_of("redraw", "expect: differs\n").empty());
  CHECK(findings_of("redraw", "").empty());
  const auto wrong = findings_of("chain", "expect: differs\n");
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].line == 10);
  CHECK(wrong[0].text.starts_with("the experiment was expected to differ; it agrees (chi-square "));
  CHECK(findings_of("take_all", "expect: agrees\n")
            .at(0)
            .text.starts_with("the experiment was expected to agree; it differs (chi-square "));
}

}  // namespace
}  // namespace triescope::app::test_experiment
