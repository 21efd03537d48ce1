// Verification rules: lossless ones by chi-square over whole texts on a tiny vocabulary, greedy
// ones by exact tokens.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/methods/text_methods.h"
#include "core/sampling/samplers.h"
#include "core/verify/text_acceptor.h"
#include "tests/support/text_loop.h"

namespace triescope::test_verification {
namespace {

using capture::Reason;

using test::log_row;
using test::LogitsOf;
using test::LoopConfig;
using test::Tokens;
using test::verdict_of;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// Hangs the same tree of drafts below every frontier: `tokens` at each of `depth` levels.
class FixedDrafter final : public Drafter {
 public:
  FixedDrafter(Tokens tokens, int depth) : tokens_(std::move(tokens)), depth_(depth) {}
  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    std::vector<NodeId> level(context.frontier.begin(), context.frontier.end());
    for (int d = 0; d < std::min(depth_, context.room); ++d) {
      std::vector<NodeId> next;
      for (const NodeId parent : level)
        for (const std::int32_t token : tokens_)
          next.push_back(
              context.tree.hang(parent, TokenId(token), capture::Source::kDraft, kUnknown).node);
      drafts.sent.insert(drafts.sent.end(), next.begin(), next.end());
      level = std::move(next);
    }
    return drafts;
  }

 private:
  Tokens tokens_;
  int depth_;
};

// Draws drafts from a small model of its own, `width` a node, and says how; `alter` changes what it
// says.
class DrawingDrafter final : public Drafter {
 public:
  using Alter = std::function<void(Proposal&)>;
  DrawingDrafter(LogitsOf logits, int width, int depth, bool replacement, Alter alter = {})
      : logits_(std::move(logits)),
        width_(width),
        depth_(depth),
        replacement_(replacement),
        alter_(std::move(alter)) {}

  Drafts draft(DraftContext& context) override {
    Drafts drafts;
    std::vector<NodeId> level(context.frontier.begin(), context.frontier.end());
    for (int d = 0; d < std::min(depth_, context.room); ++d) {
      std::vector<NodeId> next;
      for (const NodeId parent : level) {
        Tokens text(context.run.prompt.begin(), context.run.prompt.end());
        for (const TokenId token : context.tree.tokens_to(parent)) text.push_back(token.value);
        Proposal proposal;
        proposal.q = Warpers().apply(logits_(text));
        proposal.replacement = replacement_;
        std::vector<float> weights = proposal.q.probabilities;
        for (int i = 0; i < width_; ++i) {
          const auto at = sample_inverse_cdf(weights, context.rng.uniform());
          if (!replacement_) weights[at] = 0;
          const Hung hung =
              context.tree.hang(parent, TokenId(proposal.q.tokens[at]), capture::Source::kDraft,
                                kUnknown, proposal.q.probabilities[at]);
          if (hung.is_new) next.push_back(hung.node);
          proposal.draws.push_back(hung.node);
        }
        if (alter_) alter_(proposal);
        drafts.proposals[parent] = std::move(proposal);
      }
      drafts.sent.insert(drafts.sent.end(), next.begin(), next.end());
      level = std::move(next);
    }
    return drafts;
  }

 private:
  LogitsOf logits_;
  int width_, depth_;
  bool replacement_;
  Alter alter_;
};

constexpr int kVocab = 4;
constexpr int kLength = 4;
constexpr std::int64_t kDraws = 30000;

LoopConfig tiny_config() {
  LoopConfig config{.max_new_tokens = kLength, .vocab = kVocab, .keep_steps = false};
  config.settings = {{"candidates", 0}};
  return config;
}

struct Law {
  test::ChiSquare chi;
  double accepted_share = 0;  // of tokens: how many were drafts
};

// Runs a drafter and a rule kDraws times and compares the texts with plain sampling's exact
// probabilities.
Law law_of(const LoopConfig& config, const LogitsOf& logits, Drafter& drafter, VerifyRule rule) {
  const RunContext run = test::run_context(config);
  Rng rng(20250101);
  std::map<Tokens, std::int64_t> counts;
  std::int64_t drafts = 0;
  for (std::int64_t i = 0; i < kDraws; ++i) {
    TextAcceptor acceptor(run, rule);
    const auto loop = test::run_loop(config, logits, &drafter, acceptor, run, rng);
    ++counts[loop.text];
    for (std::int32_t id = 1; id < loop.tree.size(); ++id) {
      const Node& node = loop.tree[NodeId(id)];
      drafts += capture::is_drafted(node.source) && node.status != NodeStatus::kDead;
    }
  }
  return {test::chi_square(test::exact_texts(config.prompt, kLength, logits), counts, kDraws),
          static_cast<double>(drafts) / static_cast<double>(kDraws * kLength)};
}

const LogitsOf kTarget = test::markov_logits(kVocab, 3, 1.2, 77);
const LogitsOf kDraftModel = test::markov_logits(kVocab, 3, 1.0, 1234);

TEST_CASE(
    "verification: deterministic drafts verified by one draw a node leave the distribution as it is") {
  FixedDrafter drafter({2, 0, 3}, 3);
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_deterministic);
  CHECK(law.chi.cells > 100);
  CHECK(law.chi.value < law.chi.limit);
  CHECK(law.accepted_share > 0.2);  // drafts did take part
}

TEST_CASE("verification: deterministic drafts are lossless with Gumbel-max too") {
  FixedDrafter drafter({1, 3}, 2);
  auto config = tiny_config();
  config.settings["sampler"] = "gumbel";
  const Law law = law_of(config, kTarget, drafter, verify_deterministic);
  CHECK(law.chi.value < law.chi.limit);
}

TEST_CASE("verification: a chain drawn from a draft model is verified without loss") {
  DrawingDrafter drafter(kDraftModel, 1, 3, true);
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_chain);
  CHECK(law.chi.value < law.chi.limit);
  CHECK(law.accepted_share > 0.2);
}

TEST_CASE(
    "verification: a chain drawn from a draft model, judged as a block, is verified without loss, and more of it") {
  for (const int levels : {1, 2, 3}) {
    CAPTURE(levels);
    DrawingDrafter drafter(kDraftModel, 1, levels, true);
    const Law block = law_of(tiny_config(), kTarget, drafter, verify_block);
    CHECK(block.chi.value < block.chi.limit);
    DrawingDrafter same(kDraftModel, 1, levels, true);
    const Law chain = law_of(tiny_config(), kTarget, same, verify_chain);
    CHECK(block.accepted_share > chain.accepted_share - 0.002);
  }
}

TEST_CASE("verification: a block of deterministic drafts, q = 1, is lossless") {
  FixedDrafter drafter({2}, 3);
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_block);
  CHECK(law.chi.value < law.chi.limit);
}

TEST_CASE("trap: a block that falls short and draws from the whole row is not lossless") {
  DrawingDrafter drafter(kDraftModel, 1, 3, true);
  const auto rule = [](const VerifyInput& input) {
    Verification result = verify_block(input);
    const NodeId last = result.path.empty() ? input.root : result.path.back();
    if (result.next_reason == capture::Reason::kDrawnFromBlock)
      result.next_token = draw(input.rows.distribution(last), Sampler::kSoftmax, input.rng).token;
    return result;
  };
  const Law law = law_of(tiny_config(), kTarget, drafter, rule);
  CHECK(law.chi.value > law.chi.limit);
}

TEST_CASE(
    "verification: a chain without a proposal counts as deterministic, q = 1, and is lossless") {
  FixedDrafter drafter({2}, 3);
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_chain);
  CHECK(law.chi.value < law.chi.limit);
}

TEST_CASE(
    "verification: a tree drawn with replacement, repeats included, is verified without loss") {
  DrawingDrafter drafter(kDraftModel, 3, 2, true);
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_multi_round);
  CHECK(law.chi.value < law.chi.limit);
  CHECK(law.accepted_share > 0.2);
}

TEST_CASE("verification: a tree drawn without replacement is verified without loss") {
  DrawingDrafter drafter(kDraftModel, 3, 2, false);
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_multi_round);
  CHECK(law.chi.value < law.chi.limit);
  CHECK(law.accepted_share > 0.2);
}

TEST_CASE("verification: multi-round verification of deterministic drafts is lossless") {
  FixedDrafter drafter({2, 0, 3}, 2);
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_multi_round);
  CHECK(law.chi.value < law.chi.limit);
}

// The traps: each of these is what looks lossless and is not, and the chi-square test sees it.
TEST_CASE("trap: a wrong q is not lossless") {
  // Drawn at temperature 1, verified against temperature 0.5.
  DrawingDrafter drafter(kDraftModel, 1, 3, true, [](Proposal& proposal) {
    proposal.q = Warpers(test::settings({{"temperature", 0.5}})).apply(proposal.q.scores);
  });
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_chain);
  CHECK(law.chi.value > law.chi.limit);
}

TEST_CASE("trap: draws with replacement verified as if without are not lossless") {
  DrawingDrafter drafter(kDraftModel, 3, 2, true,
                         [](Proposal& proposal) { proposal.replacement = false; });
  const Law law = law_of(tiny_config(), kTarget, drafter, verify_multi_round);
  CHECK(law.chi.value > law.chi.limit);
}

TEST_CASE("trap: dropping the residual is not lossless") {
  // After a rejection the next token comes from p itself instead of norm(max(0, p - q)).
  DrawingDrafter drafter(kDraftModel, 1, 3, true);
  const auto rule = [](const VerifyInput& input) {
    Verification result = verify_chain(input);
    const NodeId last = result.path.empty() ? input.root : result.path.back();
    if (result.next_token >= 0 && !input.drafts_below(last).empty())
      result.next_token = draw(input.rows.distribution(last), Sampler::kSoftmax, input.rng).token;
    return result;
  };
  const Law law = law_of(tiny_config(), kTarget, drafter, rule);
  CHECK(law.chi.value > law.chi.limit);
}

TEST_CASE("trap: one draw a path instead of one a node is not lossless") {
  // A path of the draft tree is chosen first, then each of its tokens gets a coin of its own.
  FixedDrafter drafter({2, 0}, 2);
  const auto rule = [](const VerifyInput& input) {
    Verification result;
    NodeId v = input.root;
    while (!input.ends(v)) {
      NodeId next;
      for (const NodeId draft : input.drafts_below(v)) {
        const float p = input.rows.distribution(v).probability(input.tree()[draft].token.value);
        if (input.rng.uniform() < p) {
          next = draft;
          break;
        }
      }
      if (!next.valid()) {
        result.next_token = draw(input.rows.distribution(v), Sampler::kSoftmax, input.rng).token;
        break;
      }
      result.path.push_back(next);
      v = next;
    }
    return result;
  };
  const Law law = law_of(tiny_config(), kTarget, drafter, rule);
  CHECK(law.chi.value > law.chi.limit);
}

TEST_CASE(
    "verification: sampled n-gram drafts write the very text that plain sampling writes with the same seed") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto logits = test::markov_logits(20, 2, 4, seed);
    LoopConfig config{
        .prompt = {1, 2, 3, 1, 2}, .max_new_tokens = 60, .eos = {0}, .vocab = 20, .seed = seed};
    config.settings = {{"temperature", 0.8}, {"top_k", 10}, {"top_p", 0.95}};
    const auto plain = test::run_method(sample_method(), config, logits);
    config.settings["verify"] = "sample";
    const auto trie = test::run_method(ngram_trie_method(), config, logits);
    const auto lookup = test::run_method(prompt_lookup_method(), config, logits);
    CHECK(trie.text == plain.text);
    CHECK(lookup.text == plain.text);
    CHECK(trie.finish == plain.finish);
    CHECK(trie.steps.size() <= plain.steps.size());
  }
}

TEST_CASE("verification: greedy verification writes greedy decoding's text whatever is drafted") {
  std::int64_t accepted = 0, corrected = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto logits = test::markov_logits(15, 2, 2, seed);
    LoopConfig config{.max_new_tokens = 25, .eos = {4}, .vocab = 15};
    config.extra_room = seed % 2 == 0 ? 0 : 7;  // drafters that go past the cap change nothing
    const auto plain = test::plain_greedy(config, logits);
    const RunContext run = test::run_context(config);
    for (const auto& tokens : {Tokens{0, 4, 7}, Tokens{plain[0], plain.back(), 2}, Tokens{}}) {
      FixedDrafter drafter(tokens, 3);
      TextAcceptor acceptor(run, verify_greedy);
      Rng rng(seed);
      const auto loop = test::run_loop(config, logits, &drafter, acceptor, run, rng);
      CHECK(loop.text == plain);
      CHECK(loop.finish == (plain.back() == 4 ? "eos" : "length"));
      for (const auto& step : loop.steps) {
        accepted += step.result.accepted;
        for (const auto& row : step.result.verdicts)
          corrected += row.verdict == capture::Verdict::kCorrected;
      }
    }
  }
  CHECK(accepted > 100);
  CHECK(corrected > 100);
}

TEST_CASE("verification: top-k verification with K = 1 is greedy; a larger K accepts more") {
  std::int64_t accepted_1 = 0, accepted_4 = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto logits = test::markov_logits(10, 2, 2, seed);
    LoopConfig config{.max_new_tokens = 24, .vocab = 10};
    for (const int k : {1, 4}) {
      config.settings["accept_top_k"] = k;
      const RunContext run = test::run_context(config);
      FixedDrafter drafter({3, 1, 5}, 3);
      TextAcceptor acceptor(run, verify_top_k);
      Rng rng(seed);
      const auto loop = test::run_loop(config, logits, &drafter, acceptor, run, rng);
      if (k == 1) CHECK(loop.text == test::plain_greedy(config, logits));
      CHECK(loop.text.size() == 24);
      for (const auto& step : loop.steps)
        (k == 1 ? accepted_1 : accepted_4) += step.result.accepted;
    }
  }
  CHECK(accepted_4 > accepted_1);
}

// One step over a hand-made tree, with rows given by hand.
struct OneStep {
  TokenTree tree{2};
  Tokens prompt{0, 1};
  std::vector<NodeId> rows;
  std::vector<std::vector<float>> logits;
  RunContext run;
  Rng rng{1};

  explicit OneStep(int vocab, Tokens eos = {}, int max_new_tokens = 10) {
    run.prompt = prompt;
    run.vocab_size = vocab;
    run.max_new_tokens = max_new_tokens;
    run.eos_token_ids = std::move(eos);
    run.settings =
        test::settings({{"candidates", 2}, {"typical_epsilon", 0.09}, {"typical_delta", 0.3}});
    rows.push_back(tree.hang(TokenTree::root(), TokenId(0), capture::Source::kGreedy, -0.5f).node);
  }
  NodeId pending() const { return rows[0]; }
  NodeId hang(NodeId parent, std::int32_t token) {
    rows.push_back(tree.hang(parent, TokenId(token), capture::Source::kDraft, kUnknown).node);
    return rows.back();
  }
  AcceptResult accept(Acceptor& acceptor) {
    const std::vector<NodeId> frontier{rows[0]};
    const LogitsFrom computed(
        [&](int row) { return LogitsRow(logits[static_cast<std::size_t>(row)]); });
    const StepView view{.tree = tree,
                        .run = run,
                        .rows = rows,
                        .frontier = frontier,
                        .step = 3,
                        .computed = computed};
    return acceptor.accept(view, rng);
  }
};

TEST_CASE(
    "verification: every draft gets a verdict with its reason; the bonus and the correction say what they are") {
  OneStep step(4);
  const NodeId right = step.hang(step.pending(), 2), wrong = step.hang(step.pending(), 3);
  const NodeId right2 = step.hang(right, 1), below_wrong = step.hang(wrong, 1);
  step.logits = {log_row({0.1, 0.2, 0.4, 0.3}), log_row({0.2, 0.6, 0.1, 0.1}),
                 log_row({0.7, 0.1, 0.1, 0.1}), log_row({0.1, 0.1, 0.1, 0.7}),
                 log_row({0.25, 0.3, 0.25, 0.2})};
  TextAcceptor acceptor(step.run, verify_greedy);
  const auto result = step.accept(acceptor);
  CHECK(result.emitted == Tokens{2, 1, 3});
  CHECK(result.drafted == 4);
  CHECK(result.accepted == 2);
  REQUIRE(result.frontier.size() == 1);
  const Node& bonus = step.tree[result.frontier[0]];
  CHECK(bonus.source == capture::Source::kBonus);
  CHECK(bonus.parent == right2);
  CHECK(bonus.logprob == doctest::Approx(std::log(0.7)));
  CHECK(bonus.score == doctest::Approx(-0.5 + std::log(0.4) + std::log(0.6) + std::log(0.7)));

  CHECK(verdict_of(result, right).verdict == capture::Verdict::kAccepted);
  CHECK(verdict_of(result, right).p == doctest::Approx(0.4));
  CHECK(verdict_of(result, wrong).verdict == capture::Verdict::kRejected);
  CHECK(verdict_of(result, wrong).rank == 1);
  CHECK(verdict_of(result, wrong).replacement == 2);
  CHECK(verdict_of(result, wrong).reason == Reason::kNotArgmax);
  CHECK(verdict_of(result, wrong).value == doctest::Approx(0.4));
  CHECK(verdict_of(result, wrong).p == doctest::Approx(0.3));
  CHECK(verdict_of(result, right).reason == Reason::kIsArgmax);
  CHECK(verdict_of(result, below_wrong).verdict == capture::Verdict::kRejected);
  CHECK(verdict_of(result, below_wrong).reason == Reason::kParentRefused);
  CHECK(verdict_of(result, result.frontier[0]).reason == Reason::kArgmax);
  CHECK(verdict_of(result, result.frontier[0]).p == doctest::Approx(0.7));
  CHECK(verdict_of(result, result.frontier[0]).verdict == capture::Verdict::kBonus);
  CHECK(step.tree[below_wrong].logprob == doctest::Approx(std::log(0.1)));  // known though refused
  // Candidates: two of each row that something hangs below or that the text went through.
  std::map<std::int32_t, std::int32_t> chosen;
  for (const auto& row : result.candidates)
    if (row.chosen) chosen[row.node] = row.token;
  CHECK(chosen == std::map<std::int32_t, std::int32_t>{
                      {step.pending().value, 2}, {right.value, 1}, {right2.value, 3}});
}

TEST_CASE(
    "verification: a refused draft's place goes to a corrected token, a step without drafts to a plain one") {
  OneStep refused(4);
  refused.hang(refused.pending(), 3);
  refused.logits = {log_row({0.1, 0.2, 0.4, 0.3}), log_row({0.1, 0.2, 0.4, 0.3})};
  TextAcceptor a(refused.run, verify_greedy);
  const auto result = refused.accept(a);
  CHECK(refused.tree[result.frontier[0]].source == capture::Source::kCorrected);
  CHECK(verdict_of(result, result.frontier[0]).verdict == capture::Verdict::kCorrected);

  OneStep plain(4);
  plain.logits = {log_row({0.1, 0.2, 0.4, 0.3})};
  TextAcceptor b(plain.run, verify_greedy);
  const auto emitted = plain.accept(b);
  CHECK(plain.tree[emitted.frontier[0]].source == capture::Source::kGreedy);
  CHECK(verdict_of(emitted, emitted.frontier[0]).verdict == capture::Verdict::kEmitted);
}

TEST_CASE("trap: an EOS inside an accepted draft ends the text there") {
  OneStep step(4, {2});
  const NodeId eos = step.hang(step.pending(), 2);
  const NodeId after = step.hang(eos, 1);
  step.logits = {log_row({0.1, 0.2, 0.4, 0.3}), log_row({0.1, 0.7, 0.1, 0.1}),
                 log_row({0.1, 0.7, 0.1, 0.1})};
  for (const VerifyRule rule : {verify_greedy, verify_top_k}) {
    TextAcceptor acceptor(step.run, rule);
    const auto result = step.accept(acceptor);
    CHECK(result.emitted == Tokens{2});
    CHECK(result.frontier.empty());
    REQUIRE(result.finished.size() == 1);
    CHECK(result.finished[0].node == eos);
    CHECK(std::string(result.finished[0].finish) == "eos");
    CHECK(verdict_of(result, after).reason == Reason::kAfterEnd);
    CHECK(acceptor.results(step.tree)[0].node == eos);
  }
}

TEST_CASE("trap: a cap inside an accepted run ends the text at exactly max_new_tokens") {
  OneStep step(4, {}, 2);  // the pending node is the first of two
  const NodeId second = step.hang(step.pending(), 2);
  const NodeId third = step.hang(second, 1);
  step.logits = {log_row({0.1, 0.2, 0.4, 0.3}), log_row({0.1, 0.7, 0.1, 0.1}),
                 log_row({0.1, 0.7, 0.1, 0.1})};
  for (const VerifyRule rule : {verify_greedy, verify_top_k, verify_typical, verify_deterministic,
                                verify_chain, verify_block, verify_multi_round}) {
    step.run.settings =
        test::settings({{"temperature", 0.01}});  // the sampling rules follow the best token
    TextAcceptor acceptor(step.run, rule);
    const auto result = step.accept(acceptor);
    CHECK(result.emitted == Tokens{2});
    CHECK(result.frontier.empty());
    REQUIRE(result.finished.size() == 1);
    CHECK(result.finished[0].node == second);
    CHECK(std::string(result.finished[0].finish) == "length");
    CHECK(verdict_of(result, third).verdict == capture::Verdict::kRejected);
  }
}

TEST_CASE(
    "verification: typical acceptance follows its threshold, takes the longest path and breaks ties by likelihood") {
  OneStep step(4);
  const NodeId a = step.hang(step.pending(), 0), b = step.hang(step.pending(), 1),
               c = step.hang(step.pending(), 3);
  const NodeId a1 = step.hang(a, 2), b1 = step.hang(b, 2);
  const std::vector<double> top = {0.3, 0.35, 0.3, 0.05};
  // H = 1.23: threshold = min(0.09, 0.3 * e^-1.23) = 0.087, so token 3 (0.05) fails and the others
  // pass.
  step.logits = {
      log_row(top), log_row({0.05, 0.05, 0.85, 0.05}), log_row({0.05, 0.05, 0.85, 0.05}),
      log_row(top), log_row({0.97, 0.01, 0.01, 0.01}), log_row({0.97, 0.01, 0.01, 0.01})};
  TextAcceptor acceptor(step.run, verify_typical);
  const auto result = step.accept(acceptor);
  // Both paths have two tokens; b starts with the likelier one. Afterwards only token 0 is typical.
  CHECK(result.emitted == Tokens{1, 2, 0});
  CHECK(verdict_of(result, b).verdict == capture::Verdict::kAccepted);
  CHECK(verdict_of(result, b1).verdict == capture::Verdict::kAccepted);
  CHECK(verdict_of(result, a).verdict == capture::Verdict::kRejected);
  CHECK(verdict_of(result, a).reason == Reason::kTypicalOffPath);
  CHECK(verdict_of(result, a).threshold == doctest::Approx(0.0874).epsilon(0.01));
  CHECK(verdict_of(result, b).reason == Reason::kTypical);
  CHECK(verdict_of(result, a1).verdict == capture::Verdict::kRejected);
  CHECK(verdict_of(result, c).reason == Reason::kNotTypical);
  CHECK(verdict_of(result, c).p == doctest::Approx(0.05));
  CHECK(verdict_of(result, c).threshold == doctest::Approx(0.0874).epsilon(0.01));
}

TEST_CASE("verification: the residual holds what q left of p, and p where nothing is left") {
  const Warpers plain;
  const auto p = plain.apply(log_row({0.5, 0.3, 0.2})), q = plain.apply(log_row({0.2, 0.6, 0.2}));
  const auto r = residual(p, q);
  CHECK(r.tokens == Tokens{0});
  CHECK(r.probabilities[0] == doctest::Approx(1));
  CHECK(residual(p, p).tokens == p.tokens);
}

}  // namespace
}  // namespace triescope::test_verification
