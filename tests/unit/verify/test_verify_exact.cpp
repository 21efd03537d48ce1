// Verification rules on one hand-made step: exact numbers at every edge, whatever the text would
// be.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/kernels/row_ops.h"
#include "core/verify/text_acceptor.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_verify_exact {
namespace {

using capture::Verdict;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

struct Step {
  explicit Step(int vocab, nlohmann::json given = nlohmann::json::object(), std::uint64_t seed = 1)
      : rng(seed) {
    run.prompt = prompt;
    run.vocab_size = vocab;
    run.max_new_tokens = 10;
    if (given.is_null()) given = nlohmann::json::object();
    given.update({{"candidates", given.value("candidates", 0)}});
    run.settings = settings(std::move(given));
    rows.push_back(tree.hang(TokenTree::root(), TokenId(0), capture::Source::kGreedy, -0.5f).node);
  }
  NodeId pending() const { return rows[0]; }
  NodeId hang(NodeId parent, std::int32_t token, std::vector<float> row) {
    rows.push_back(tree.hang(parent, TokenId(token), capture::Source::kDraft, kUnknown).node);
    logits.push_back(std::move(row));
    return rows.back();
  }
  void draw(NodeId parent, const Distribution& q, std::vector<NodeId> draws, bool replacement) {
    proposals[parent] = {q, std::move(draws), replacement};
  }
  AcceptResult accept(VerifyRule rule) {
    const std::vector<NodeId> frontier{rows[0]};
    const LogitsFrom computed(
        [&](int row) { return LogitsRow(logits[static_cast<std::size_t>(row)]); });
    const StepView view{.tree = tree,
                        .run = run,
                        .rows = rows,
                        .frontier = frontier,
                        .step = 3,
                        .computed = computed,
                        .proposals = &proposals};
    TextAcceptor acceptor(run, rule);
    return acceptor.accept(view, rng);
  }

  TokenTree tree{2};
  Tokens prompt{0, 1};
  std::vector<NodeId> rows;
  std::vector<std::vector<float>> logits;
  Proposals proposals;
  RunContext run;
  Rng rng;
};

int accepted(const AcceptResult& result) {
  int count = 0;
  for (const auto& row : result.verdicts) count += row.verdict == Verdict::kAccepted;
  return count;
}

TEST_CASE("chain: a draft with p at least q always passes, one with p below q passes at u < p/q") {
  const auto row = log_row({0.25, 0.5, 0.25});
  const Distribution p = Warpers().apply(row);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Step step(3, {}, seed);
    step.logits = {row};
    const NodeId draft = step.hang(step.pending(), 1, row);
    step.draw(step.pending(), p, {draft}, true);  // q is p itself
    CHECK(accepted(step.accept(verify_chain)) == 1);
  }
  // q twice p: half of them, by the very u that is drawn.
  const Distribution q = Warpers().apply(log_row({0.25, 0.25, 0.5}));
  int passed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Step step(3, {}, seed);
    step.logits = {row};
    const NodeId draft = step.hang(step.pending(), 2, row);
    step.draw(step.pending(), q, {draft}, true);
    Rng same(seed);
    const double u = same.uniform();
    const double chance = static_cast<double>(p.probabilities[2]) / q.probabilities[2];
    const AcceptResult result = step.accept(verify_chain);
    const auto& verdict = verdict_of(result, draft);
    CHECK((verdict.verdict == Verdict::kAccepted) == (u < chance));
    CHECK(verdict.u == static_cast<float>(u));
    CHECK(verdict.p == p.probabilities[2]);
    CHECK(verdict.q == q.probabilities[2]);
    passed += u < chance;
    if (u >= chance) {
      // Only token 1 is left of p - q.
      CHECK(result.emitted == Tokens{1});
      CHECK(verdict.replacement == 1);
      CHECK(verdict_of(result, result.frontier.at(0)).p == 1);
    }
  }
  CHECK(passed > 70);
  CHECK(passed < 130);
}

TEST_CASE(
    "multi-round: after each refusal r and, without replacement, q are what is left, exactly") {
  const auto row = log_row({0.1, 0.2, 0.3, 0.4});
  const Distribution p = Warpers().apply(row), q0 = Warpers().apply(log_row({0.5, 0.3, 0.1, 0.1}));
  int refused_twice = 0;
  for (const bool replacement : {true, false})
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      CAPTURE(replacement);
      CAPTURE(seed);
      Step step(4, {}, seed);
      step.logits = {row};
      const NodeId a = step.hang(step.pending(), 0, row), b = step.hang(step.pending(), 1, row);
      step.draw(step.pending(), q0, {a, b}, replacement);
      const AcceptResult result = step.accept(verify_multi_round);
      // By hand, in the same order of random numbers.
      Rng same(seed);
      std::vector<double> r(p.probabilities.begin(), p.probabilities.end()),
          q(q0.probabilities.begin(), q0.probabilities.end());
      Tokens emitted;
      int tries = 0;
      for (const NodeId draft : {a, b}) {
        const auto token = static_cast<std::size_t>(step.tree[draft].token.value);
        const auto& verdict = verdict_of(result, draft);
        ++tries;
        CHECK(verdict.p == doctest::Approx(r[token]).epsilon(1e-5));
        CHECK(verdict.q == doctest::Approx(q[token]).epsilon(1e-5));
        const double u = same.uniform();
        if (u < std::min(1.0, r[token] / q[token])) {
          CHECK(verdict.verdict == Verdict::kAccepted);
          emitted = {static_cast<std::int32_t>(token)};
          break;
        }
        CHECK(verdict.verdict == Verdict::kRejected);
        double left = 0, rest = 0;
        for (std::size_t i = 0; i < 4; ++i) left += r[i] = std::max(0.0, r[i] - q[i]);
        for (double& x : r) x /= left;
        if (!replacement) {
          q[token] = 0;
          for (const double x : q) rest += x;
          for (double& x : q) x /= rest;
        }
      }
      if (!emitted.empty()) {
        CHECK(result.emitted[0] == emitted[0]);
        CHECK(result.accepted == 1);
        CHECK(result.emitted.size() == 2);
        continue;
      }
      ++refused_twice;
      CHECK(result.accepted == 0);
      CHECK(result.drafted == 2);
      // The token after them comes from what the two drafts left.
      const double u = same.uniform();
      double sum = 0;
      std::int32_t expected = 0;
      while (sum + r[static_cast<std::size_t>(expected)] <= u && expected < 3)
        sum += r[static_cast<std::size_t>(expected++)];
      CHECK(result.emitted == Tokens{expected});
      CHECK(verdict_of(result, a).replacement == expected);
      CHECK(verdict_of(result, b).replacement == expected);
      CHECK(verdict_of(result, result.frontier.at(0)).p ==
            doctest::Approx(r[static_cast<std::size_t>(expected)]).epsilon(1e-5));
    }
  CHECK(refused_twice > 20);
}

TEST_CASE(
    "verify exact: residual and without() are normalised, keep their order and drop what is used up") {
  const Distribution p{{1, 3, 5, 7}, {0, 0, 0, 0}, {0.5f, 0.25f, 0.125f, 0.125f}},
      q{{1, 3, 4, 7}, {0, 0, 0, 0}, {0.25f, 0.25f, 0.25f, 0.25f}};
  const Distribution r = residual(p, q);
  CHECK(r.tokens == Tokens{1, 5});  // 3 has nothing left, 7 less than nothing
  CHECK(r.probabilities[0] == static_cast<float>(0.25 / 0.375));
  CHECK(r.probabilities[1] == static_cast<float>(0.125 / 0.375));
  CHECK(r.scores[0] == static_cast<float>(std::log(0.25 / 0.375)));
  const Distribution rest = without(p, 1);
  CHECK(rest.tokens == Tokens{3, 5, 7});
  CHECK(rest.probabilities == std::vector<float>{0.5f, 0.25f, 0.25f});
  CHECK(rest.scores[0] == std::log(0.5f));
  CHECK(without(p, 2).tokens == p.tokens);
  CHECK(without(p, 2).probabilities == p.probabilities);
  const Distribution one{{4}, {0}, {1}};
  CHECK(without(one, 4).tokens == Tokens{4});
}

TEST_CASE(
    "typical: a draft at exactly the threshold is refused, and no next token at it is drawn") {
  const auto row = log_row({0.5, 0.3, 0.2});
  const Distribution p = Warpers().apply(row);
  double entropy = 0;
  for (const float x : p.probabilities)
    entropy -= static_cast<double>(x) * std::log(static_cast<double>(x));
  for (const bool by_epsilon : {true, false})
    for (const bool at : {true, false}) {
      CAPTURE(by_epsilon);
      CAPTURE(at);
      const float limit = at ? p.probabilities[2] : std::nextafter(p.probabilities[2], 0.0f);
      // delta e^-H, a little beside the limit where delta decides (it is rounded to a float).
      const double delta = static_cast<double>(p.probabilities[2]) * std::exp(entropy);
      Step step(3, by_epsilon ? nlohmann::json{{"typical_epsilon", static_cast<double>(limit)},
                                               {"typical_delta", 1.0}}
                              : nlohmann::json{{"typical_epsilon", 1.0},
                                               {"typical_delta", delta * (at ? 1.0001 : 0.9999)}});
      step.logits = {row};
      const NodeId draft = step.hang(step.pending(), 2, row);
      const AcceptResult result = step.accept(verify_typical);
      CHECK(result.accepted == (at ? 0 : 1));
      CHECK(verdict_of(result, draft).p == p.probabilities[2]);
      CHECK((verdict_of(result, draft).verdict == Verdict::kAccepted) == !at);
    }
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Step step(3,
              {{"typical_epsilon", static_cast<double>(p.probabilities[1])}, {"typical_delta", 1}},
              seed);
    step.logits = {row};
    CHECK(step.accept(verify_typical).emitted == Tokens{0});  // 0.3 is not above 0.3
  }
}

TEST_CASE("top_k: the K-th token passes, the next one does not; ties rank the lower id first") {
  const auto row = log_row({0.2, 0.4, 0.2, 0.2});  // ranks: 1, 0, 2, 3
  for (int k = 1; k <= 4; ++k)
    for (const std::int32_t token : {0, 1, 2, 3}) {
      CAPTURE(k);
      CAPTURE(token);
      const int rank = Tokens{1, 0, 2, 3}[static_cast<std::size_t>(token)];
      Step step(4, {{"accept_top_k", k}});
      step.logits = {row};
      const NodeId draft = step.hang(step.pending(), token, row);
      const AcceptResult result = step.accept(verify_top_k);
      CHECK(result.accepted == (rank < k ? 1 : 0));
      CHECK(verdict_of(result, draft).rank == rank);
      CHECK(verdict_of(result, draft).replacement == (rank < k ? -1 : 1));
      CHECK(result.emitted == (rank < k ? Tokens{token, 1} : Tokens{1}));
    }
}

TEST_CASE("the longest path: then the likelier, then the one drawn first") {
  const auto row = log_row({0.3, 0.3, 0.3, 0.1});
  Step tie(4, {{"accept_top_k", 3}});
  tie.logits = {row};
  const NodeId late = tie.hang(tie.pending(), 2, row), early = tie.hang(tie.pending(), 0, row);
  AcceptResult result = tie.accept(verify_top_k);
  CHECK(verdict_of(result, late).verdict == Verdict::kAccepted);  // hung first
  CHECK(verdict_of(result, early).verdict == Verdict::kRejected);
  // A longer one beats a likelier one.
  Step longer(4, {{"accept_top_k", 4}});
  longer.logits = {row};
  const NodeId beside = longer.hang(longer.pending(), 0, row);
  const NodeId bad = longer.hang(longer.pending(), 3, row), below = longer.hang(bad, 3, row);
  result = longer.accept(verify_top_k);
  CHECK(result.emitted == Tokens{3, 3, 0});
  CHECK(verdict_of(result, below).verdict == Verdict::kAccepted);
  CHECK(verdict_of(result, beside).verdict == Verdict::kRejected);
  CHECK(verdict_of(result, beside).replacement == -1);  // a draft took its place
  CHECK(result.drafted == 3);
  CHECK(result.accepted == 2);
}

TEST_CASE(
    "verify exact: candidates are told of the rows that something hangs below or that the text went through") {
  const auto row = log_row({0.1, 0.2, 0.3, 0.4});
  Step step(4, {{"candidates", 3}});
  step.logits = {row};
  const NodeId right = step.hang(step.pending(), 3, row), wrong = step.hang(step.pending(), 2, row);
  const NodeId below = step.hang(wrong, 1, row), leaf = step.hang(wrong, 0, row);
  const AcceptResult result = step.accept(verify_greedy);
  CHECK(result.emitted == Tokens{3, 3});
  std::string told;
  for (const auto& candidate : result.candidates) {
    told += std::to_string(candidate.node) + ":" + std::to_string(candidate.rank) + "=" +
            std::to_string(candidate.token) + (candidate.chosen ? "* " : " ");
    CHECK(candidate.logprob ==
          row[static_cast<std::size_t>(candidate.token)] - kernels::log_sum_exp(row));
  }
  const std::string p = std::to_string(step.pending().value), r = std::to_string(right.value),
                    w = std::to_string(wrong.value);
  CHECK(told == p + ":0=3* " + p + ":1=2 " + p + ":2=1 " + r + ":0=3* " + r + ":1=2 " + r +
                    ":2=1 " + w + ":0=3 " + w + ":1=2 " + w + ":2=1 ");
  CHECK(verdict_of(result, below).verdict == Verdict::kRejected);
  CHECK(verdict_of(result, leaf).verdict == Verdict::kRejected);
  CHECK(step.tree[result.frontier.at(0)].source == capture::Source::kBonus);  // after one draft
  CHECK(result.drafted == 4);
  CHECK(result.accepted == 1);
}

}  // namespace
}  // namespace triescope::test::test_verify_exact
