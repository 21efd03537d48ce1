// Block verification over every chain that can be drawn and every outcome of its numbers, weighed by their
// probabilities: what it accepts on average and the law of the text, against the rule that judges a draft at
// a time. The rule itself runs with a stub of the random numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "core/verify/verify.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_verify_block {
namespace {

using Law = std::map<Tokens, double>;  // of the first `length` tokens

// p_i, h_i and what is drawn from afterwards, in long double and by the paper's formulas alone.
struct Model {
  int vocab;
  std::function<std::vector<long double>(const Tokens&)> p, q;
};

struct Outcome {
  long double accepted = 0;           // drafts on average
  std::map<Tokens, long double> law;  // of the text's first gamma + 1 tokens
};

// A text that ended early goes on as the target does.
void go_on(const Model& model, const Tokens& text, std::size_t length, long double weight,
           std::map<Tokens, long double>& law) {
  if (weight == 0) return;
  if (text.size() == length) {
    law[text] += weight;
    return;
  }
  const auto p = model.p(text);
  for (int token = 0; token < model.vocab; ++token) {
    Tokens more = text;
    more.push_back(token);
    go_on(model, more, length, weight * p[static_cast<std::size_t>(token)], law);
  }
}

std::vector<long double> rest(const std::vector<long double>& p, const std::vector<long double>& q,
                              long double scale) {
  std::vector<long double> left;
  for (std::size_t i = 0; i < p.size(); ++i) left.push_back(std::max(scale * p[i] - q[i], 0.0L));
  const long double sum = std::accumulate(left.begin(), left.end(), 0.0L);
  for (long double& x : left) x /= sum > 0 ? sum : 1;
  return left;
}

// All drafts of `gamma` tokens, each with the ends that the rule gives it: (accepted, probability).
template <class Ends>
Outcome over_drafts(const Model& model, std::size_t gamma, const Ends& ends_of) {
  Outcome outcome;
  const std::function<void(const Tokens&, long double)> draw = [&](const Tokens& drafts,
                                                                   long double weight) {
    if (drafts.size() < gamma) {
      const auto q = model.q(drafts);
      for (int token = 0; token < model.vocab; ++token) {
        Tokens more = drafts;
        more.push_back(token);
        draw(more, weight * q[static_cast<std::size_t>(token)]);
      }
      return;
    }
    const std::vector<std::pair<long double, std::vector<long double>>> ends = ends_of(drafts);
    for (std::size_t taken = 0; taken <= gamma; ++taken) {
      const auto& [chance, next] = ends[taken];
      outcome.accepted += weight * chance * static_cast<long double>(taken);
      if (chance == 0) continue;
      for (int token = 0; token < model.vocab; ++token) {
        Tokens text(drafts.begin(), drafts.begin() + static_cast<long>(taken));
        text.push_back(token);
        go_on(model, text, gamma + 1, weight * chance * next[static_cast<std::size_t>(token)],
              outcome.law);
      }
    }
  };
  draw({}, 1);
  return outcome;
}

Tokens first(const Tokens& tokens, std::size_t n) {
  return Tokens(tokens.begin(), tokens.begin() + static_cast<long>(n));
}

Outcome block(const Model& model, std::size_t gamma) {
  return over_drafts(model, gamma, [&](const Tokens& drafts) {
    std::vector<long double> joint = {1}, reach = {1};
    for (std::size_t i = 1; i <= gamma; ++i) {
      const Tokens above = first(drafts, i - 1);
      const auto x = static_cast<std::size_t>(drafts[i - 1]);
      joint.push_back(std::min(1.0L, joint.back() * model.p(above)[x] / model.q(above)[x]));
      if (i == gamma) {
        reach.push_back(joint.back());
        continue;
      }
      long double sum = 0;
      const auto p = model.p(first(drafts, i)), q = model.q(first(drafts, i));
      for (std::size_t t = 0; t < p.size(); ++t) sum += std::max(joint[i] * p[t] - q[t], 0.0L);
      reach.push_back(joint[i] == 1 ? 1 : sum / (sum + 1 - joint[i]));
    }
    std::vector<std::pair<long double, std::vector<long double>>> ends(gamma + 1);
    long double none_later = 1;
    for (std::size_t i = gamma + 1; i-- > 0;) {
      const auto p = model.p(first(drafts, i));
      ends[i] = {none_later * reach[i],
                 i == gamma ? p : rest(p, model.q(first(drafts, i)), joint[i])};
      none_later *= 1 - reach[i];
    }
    return ends;
  });
}

Outcome token_by_token(const Model& model, std::size_t gamma) {
  return over_drafts(model, gamma, [&](const Tokens& drafts) {
    std::vector<std::pair<long double, std::vector<long double>>> ends(gamma + 1);
    long double reached = 1;
    for (std::size_t i = 0; i <= gamma; ++i) {
      const auto p = model.p(first(drafts, i));
      if (i == gamma) {
        ends[i] = {reached, p};
        break;
      }
      const auto q = model.q(first(drafts, i));
      const auto x = static_cast<std::size_t>(drafts[i]);
      const long double passes = std::min(1.0L, p[x] / q[x]);
      ends[i] = {reached * (1 - passes), rest(p, q, 1)};
      reached *= passes;
    }
    return ends;
  });
}

void check_lossless(const Model& model, std::size_t gamma, const Outcome& outcome) {
  std::map<Tokens, long double> plain;
  go_on(model, {}, gamma + 1, 1, plain);
  REQUIRE(outcome.law.size() == plain.size());
  for (const auto& [text, p] : plain)
    CHECK(static_cast<double>(outcome.law.at(text)) ==
          doctest::Approx(static_cast<double>(p)).epsilon(1e-12));
}

Model thirds() {
  return {2,
          [](const Tokens&) {
            return std::vector<long double>{1.0L / 3, 2.0L / 3};
          },
          [](const Tokens&) {
            return std::vector<long double>{2.0L / 3, 1.0L / 3};
          }};
}
Model random_model(int vocab, std::uint64_t seed) {
  const auto at = [vocab](std::uint64_t key) {
    const auto logits = markov_logits(vocab, 3, 1.5, key);
    return [logits](const Tokens& text) {
      const auto p = softmax(logits(text));
      return std::vector<long double>(p.begin(), p.end());
    };
  };
  return {vocab, at(seed), at(seed + 100)};
}

TEST_CASE(
    "block verification: P(a) = 1/3, Q(a) = 2/3, two drafts: 11/9 accepted, token by token 10/9") {
  const Outcome of_block = block(thirds(), 2), of_tokens = token_by_token(thirds(), 2);
  CHECK(static_cast<double>(of_block.accepted * 9) == doctest::Approx(11).epsilon(1e-12));
  CHECK(static_cast<double>(of_tokens.accepted * 9) == doctest::Approx(10).epsilon(1e-12));
  check_lossless(thirds(), 2, of_block);
  check_lossless(thirds(), 2, of_tokens);
}

TEST_CASE(
    "block verification: it is lossless and never accepts less, over all drafts of many models") {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    for (const int vocab : {2, 3})
      for (const std::size_t gamma : {1u, 2u, 3u}) {
        CAPTURE(seed);
        CAPTURE(vocab);
        CAPTURE(gamma);
        const Model model = random_model(vocab, seed);
        const Outcome of_block = block(model, gamma), of_tokens = token_by_token(model, gamma);
        check_lossless(model, gamma, of_block);
        CHECK(of_block.accepted > of_tokens.accepted - 1e-12L);
        if (gamma == 1)
          CHECK(static_cast<double>(of_block.accepted) ==
                doctest::Approx(static_cast<double>(of_tokens.accepted)));
        better += of_block.accepted > of_tokens.accepted + 1e-6L;
      }
  CHECK(better > 20);
}

// The rule itself on one chain: its h, its ends and its law are those of the formulas above.
struct Chain {
  Chain(const Model& model, const Tokens& drafts) {
    run.prompt = prompt;
    run.vocab_size = model.vocab;
    run.max_new_tokens = 100;
    run.settings = settings(nlohmann::json::object());
    rows.push_back(tree.hang(TokenTree::root(), TokenId(0), capture::Source::kGreedy, -1).node);
    for (std::size_t i = 0; i <= drafts.size(); ++i) {
      std::vector<float> row;
      for (const long double p : model.p(first(drafts, i)))
        row.push_back(static_cast<float>(std::log(p)));
      logits.push_back(std::move(row));
      if (i == drafts.size()) break;
      Proposal& proposal = proposals[rows.back()];
      std::vector<float> scores;
      for (const long double q : model.q(first(drafts, i)))
        scores.push_back(static_cast<float>(std::log(q)));
      proposal.q = Warpers().apply(scores);
      rows.push_back(tree.hang(rows.back(), TokenId(drafts[i]), capture::Source::kDraft, -1).node);
      proposal.draws = {rows.back()};
    }
  }
  Verification verify(std::uint64_t seed) {
    const LogitsFrom computed(
        [&](int row) { return LogitsRow(logits[static_cast<std::size_t>(row)]); });
    const std::vector<NodeId> frontier{rows[0]};
    const StepView view{.tree = tree,
                        .run = run,
                        .rows = rows,
                        .frontier = frontier,
                        .step = 1,
                        .computed = computed,
                        .proposals = &proposals};
    const LogitsProcessors processors(run);
    const Warpers warpers(run.settings);
    ModelRows model(view, processors, warpers);
    Rng rng(seed);
    return verify_block({.view = view, .root = rows[0], .rows = model, .rng = rng});
  }
  Tokens prompt{0};
  TokenTree tree{1};
  std::vector<NodeId> rows;
  std::vector<std::vector<float>> logits;
  Proposals proposals;
  RunContext run;
};

TEST_CASE(
    "block verification: every verdict has u, h and p of the block, and the last u below its h ends it") {
  using capture::Reason;
  using capture::Verdict;
  int goes_on = 0, short_of = 0, whole = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Model model = random_model(3, seed % 7);
    Rng draws(seed);
    Tokens drafts;
    for (int i = 0; i < 3; ++i) {
      const auto q = model.q(drafts);
      const long double u = draws.uniform();
      drafts.push_back(u < q[0] ? 0 : u < q[0] + q[1] ? 1 : 2);
    }
    Chain chain(model, drafts);
    const Verification result = chain.verify(seed);
    REQUIRE(result.verdicts.size() == 3);
    Rng same(seed);
    long double joint = 1;
    std::size_t taken = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& row = result.verdicts[i];
      CHECK(row.node == chain.rows[i + 1].value);
      const auto x = static_cast<std::size_t>(drafts[i]);
      const long double p = model.p(first(drafts, i))[x], q = model.q(first(drafts, i))[x];
      joint = std::min(1.0L, joint * p / q);
      long double reach = joint;
      if (i < 2 && joint < 1) {
        long double sum = 0;
        const auto below_p = model.p(first(drafts, i + 1)), below_q = model.q(first(drafts, i + 1));
        for (std::size_t t = 0; t < 3; ++t) sum += std::max(joint * below_p[t] - below_q[t], 0.0L);
        reach = sum / (sum + 1 - joint);
      }
      CHECK(row.p == doctest::Approx(static_cast<double>(p)).epsilon(1e-4));
      CHECK(row.q == doctest::Approx(static_cast<double>(q)).epsilon(1e-4));
      CHECK(row.value == doctest::Approx(static_cast<double>(joint)).epsilon(1e-4));
      CHECK(row.threshold == doctest::Approx(static_cast<double>(reach)).epsilon(1e-3));
      CHECK(row.u == static_cast<float>(same.uniform()));
      if (row.u <= row.threshold) taken = i + 1;
    }
    CHECK(result.path.size() == taken);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& row = result.verdicts[i];
      CHECK((row.verdict == Verdict::kAccepted) == (i < taken));
      CHECK(row.reason == (i >= taken               ? Reason::kBlockFallsShort
                           : row.u <= row.threshold ? Reason::kBlockReaches
                                                    : Reason::kBlockGoesOn));
      CHECK((row.replacement >= 0) == (i == taken));
      goes_on += row.reason == Reason::kBlockGoesOn;
      short_of += row.reason == Reason::kBlockFallsShort;
    }
    whole += taken == 3;
    CHECK(result.next_reason == (taken == 3 ? Reason::kDrawn : Reason::kDrawnFromBlock));
  }
  CHECK(goes_on > 10);
  CHECK(short_of > 50);
  CHECK(whole > 30);
}

}  // namespace
}  // namespace triescope::test::test_verify_block
