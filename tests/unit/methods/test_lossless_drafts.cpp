// Sampling with drafts is without loss, by chi-square at p > 0.01 over 200,000 draws: the trees of every
// head under the rules that take chosen drafts, and drawn chains and trees; at T = 1, and at 0.7 with
// top-k and top-p. The same test fails for a q one temperature off, and for min(1, p/q) with chosen drafts.
#include <doctest/doctest.h>

#include <functional>

#include "core/methods/registry.h"
#include "core/verify/rule_table.h"
#include "tests/support/fake_head.h"
#include "tests/support/sanitized.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_lossless_drafts {
namespace {

using nlohmann::json;

// Memory and threads show in few draws; a wrong distribution only in many.
constexpr std::int64_t kDraws = kSanitized ? 5000 : 200000;
constexpr double kOneInAHundred = 2.326;
constexpr int kVocab = 6;

const std::vector<json>& warper_settings() {
  static const std::vector<json> all = {json::object(),
                                        {{"temperature", 0.7}, {"top_k", 5}, {"top_p", 0.9}}};
  return all;
}

Settings with_defaults(const json& given) {
  return Settings(validate_settings(find_method("prompt_lookup"), given));
}

// A step over a tree that stays as it is: the rule runs over it again and again.
struct FixedStep {
  FixedStep(TokenTree& tree_in, NodeId root_in, std::vector<NodeId> rows_in,
            const Settings& settings, const LogitsOf& logits_of)
      : tree(tree_in), root(root_in), rows(std::move(rows_in)) {
    run.max_new_tokens = 100;
    run.vocab_size = kVocab;
    run.settings = settings;
    for (const NodeId node : rows) {
      Tokens text = {3};
      for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
      logits.push_back(logits_of(text));
    }
    frontier = {root};
    processors = std::make_unique<LogitsProcessors>(run);
    warpers = std::make_unique<Warpers>(run.settings);
    const auto row_at = [this](int row) {
      return LogitsRow(logits[static_cast<std::size_t>(row)]);
    };
    computed = std::make_unique<LogitsFrom<decltype(row_at)>>(row_at);
    view = std::make_unique<StepView>(StepView{.tree = tree,
                                               .run = run,
                                               .rows = rows,
                                               .frontier = frontier,
                                               .step = 1,
                                               .computed = *computed,
                                               .proposals = &proposals});
    model = std::make_unique<ModelRows>(*view, *processors, *warpers);
  }

  // What the rule writes: the accepted drafts and the token after them.
  Tokens write(VerifyRule rule, Rng& rng) {
    const Verification found = rule({.view = *view, .root = root, .rows = *model, .rng = rng});
    Tokens text;
    for (const NodeId node : found.path) text.push_back(tree[node].token.value);
    text.push_back(found.next_token);
    return text;
  }
  // The exact probability of each such text, where the rule writes as sampling does until it leaves the
  // tree.
  std::map<Tokens, double> exact() {
    std::map<Tokens, double> texts;
    const std::function<void(NodeId, const Tokens&, double)> go = [&](NodeId at, const Tokens& text,
                                                                      double p) {
      const Distribution& of = model->distribution(at);
      for (std::size_t i = 0; i < of.size(); ++i) {
        Tokens more = text;
        more.push_back(of.tokens[i]);
        const NodeId child = tree.child(at, TokenId(of.tokens[i]));
        const double p_more = p * static_cast<double>(of.probabilities[i]);
        if (child.valid() && model->has(child))
          go(child, more, p_more);
        else
          texts[more] = p_more;
      }
    };
    go(root, {}, 1);
    return texts;
  }

  TokenTree& tree;
  NodeId root;
  std::vector<NodeId> rows, frontier;
  std::vector<std::vector<float>> logits;
  Proposals proposals;
  RunContext run;
  std::unique_ptr<LogitsProcessors> processors;
  std::unique_ptr<Warpers> warpers;
  std::unique_ptr<StepRows> computed;
  std::unique_ptr<StepView> view;
  std::unique_ptr<ModelRows> model;
};

ChiSquare chi_of(FixedStep& step, VerifyRule rule, std::uint64_t seed) {
  std::map<Tokens, std::int64_t> counts;
  Rng rng(seed);
  for (std::int64_t i = 0; i < kDraws; ++i) ++counts[step.write(rule, rng)];
  return chi_square(step.exact(), counts, kDraws, kOneInAHundred);
}

// A session up to the drafts of step 1, with the head's tree in its TokenTree.
struct HeadTree {
  explicit HeadTree(const MethodInfo& method)
      : rig(FakeOptions{.vocab_size = kVocab, .eos_token_ids = {}}) {
    rig.draft_head = fake_head(method.heads.front(), kVocab, 4096, 5);
    json settings = json::object();
    if (method.name == "eagle2" || method.name == "eagle3")
      settings = {{"draft_top_k", 3}, {"draft_levels", 3}, {"draft_tokens", 9}};
    else if (method.name == "mtp")
      settings = {{"num_assistant_tokens", 9}};
    else if (method.name == "dflash")
      settings = {{"tree_budget", 9}};
    else
      settings = {{"tree", "0;1;2;0,0;0,1;1,0;1,2;0,0,0;0,0,3"}};
    rig.start(method.name, settings, {3}, 40);
    rig.session->step();
    rig.session->advance();
    tree = std::make_unique<TokenTree>(rig.session->tree());
    for (std::int32_t id = 1; id < tree->size(); ++id)
      if ((*tree)[NodeId(id)].status == NodeStatus::kPending) rows.emplace_back(id);
  }
  Rig rig;
  std::unique_ptr<TokenTree> tree;
  std::vector<NodeId> rows;  // the pending node, then the drafts
};

TEST_CASE(
    "lossless drafts: the trees of every head are verified without loss, by one draw a node and by rounds") {
  const LogitsOf target = markov_logits(kVocab, 3, 1.4, 11);
  for (const MethodInfo& method : methods()) {
    // SPACE's are drawn as a chain (test_space.cpp).
    if (!method.needs_draft_head() || method.name == "space") continue;
    CAPTURE(method.name);
    HeadTree drafted(method);
    CHECK(drafted.rows.size() == 10);
    for (const json& settings : warper_settings()) {
      CAPTURE(settings.dump());
      FixedStep step(*drafted.tree, NodeId(1), drafted.rows, with_defaults(settings), target);
      const ChiSquare chi = chi_of(step, rule_for("sample", Drafted::kChosen), 7);
      CHECK(chi.cells > 5);
      CHECK(chi.value < chi.limit);
      if (method.name != "eagle2") continue;
      const ChiSquare rounds = chi_of(step, rule_for("multi_round", Drafted::kChosen), 8);
      CHECK(rounds.value < rounds.limit);
    }
  }
}

TEST_CASE("trap: min(1, p/q) with a head's best tokens, q its own probabilities, is not lossless") {
  const LogitsOf target = markov_logits(kVocab, 3, 1.4, 11),
                 head = markov_logits(kVocab, 3, 1.4, 12);
  HeadTree drafted(find_method("eagle2"));
  FixedStep step(*drafted.tree, NodeId(1), drafted.rows, with_defaults(json::object()), target);
  for (const NodeId node : drafted.rows) {
    Tokens text = {3};
    for (const TokenId token : drafted.tree->tokens_to(node)) text.push_back(token.value);
    std::vector<NodeId> draws;
    for (const NodeId row : drafted.rows)
      if ((*drafted.tree)[row].parent == node) draws.push_back(row);
    if (!draws.empty()) step.proposals[node] = {step.warpers->apply(head(text)), draws, false};
  }
  for (const VerifyRule rule : {verify_chain, verify_multi_round}) {
    const ChiSquare chi = chi_of(step, rule, 9);
    if (!kSanitized) CHECK(chi.value > 10 * chi.limit);
  }
}

// Two tokens, the first drafts drawn from q at `drawn` and claimed to be drawn at `claimed`.
ChiSquare chi_of_drawn(VerifyRule rule, int width, bool replacement, const json& settings,
                       const json& claimed, std::uint64_t seed) {
  const LogitsOf target = markov_logits(kVocab, 2, 1.4, 21),
                 draft = markov_logits(kVocab, 2, 1.4, 22);
  const Settings given = with_defaults(settings);
  const Warpers p_warpers(given), q_warpers(with_defaults(claimed));
  std::map<Tokens, Distribution> p_of, drawn_of, claimed_of;  // after a text
  std::vector<Tokens> texts = {{3}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Tokens text = texts[i];
    p_of[text] = p_warpers.apply(target(text));
    drawn_of[text] = p_warpers.apply(draft(text));
    claimed_of[text] = q_warpers.apply(draft(text));
    if (text.size() == 3) continue;
    for (std::int32_t token = 0; token < kVocab; ++token) {
      texts.push_back(text);
      texts.back().push_back(token);
    }
  }
  std::map<Tokens, double> exact;
  for (std::size_t i = 0; i < p_of[{3}].size(); ++i) {
    const std::int32_t first = p_of[{3}].tokens[i];
    const Distribution& next = p_of[{3, first}];
    for (std::size_t j = 0; j < next.size(); ++j)
      exact[{first, next.tokens[j]}] = static_cast<double>(p_of[{3}].probabilities[i]) *
                                       static_cast<double>(next.probabilities[j]);
  }
  std::map<Tokens, std::int64_t> counts;
  Rng rng(seed);
  for (std::int64_t n = 0; n < kDraws; ++n) {
    TokenTree tree(0);
    const NodeId root = tree.hang(TokenTree::root(), TokenId(3), capture::Source::kGreedy, -1).node;
    std::vector<NodeId> rows = {root};
    Proposals proposals;
    std::vector<NodeId> level = {root};
    for (int depth = 0; depth < 2; ++depth) {
      std::vector<NodeId> next;
      for (const NodeId node : level) {
        Tokens text;
        for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
        Proposal& proposal = proposals[node];
        proposal.q = claimed_of[text];
        proposal.replacement = replacement;
        Distribution left = drawn_of[text];
        for (int i = 0; i < width; ++i) {
          const std::int32_t token = draw(left, Sampler::kSoftmax, rng).token;
          const Hung hung = tree.hang(node, TokenId(token), capture::Source::kDraft, -1);
          proposal.draws.push_back(hung.node);
          if (hung.is_new) {
            rows.push_back(hung.node);
            next.push_back(hung.node);
          }
          if (replacement) continue;
          if (left.size() == 1) break;
          left = without(left, token);
        }
      }
      level = next;
    }
    FixedStep step(tree, root, rows, given, [&](std::span<const std::int32_t> text) {
      return target(text.subspan(1));  // the pending node's own token begins the text
    });
    step.proposals = std::move(proposals);
    Tokens text = step.write(rule, rng);
    if (text.size() == 1) text.push_back(draw(p_of[{3, text[0]}], Sampler::kSoftmax, rng).token);
    text.resize(2);
    ++counts[text];
  }
  return chi_square(exact, counts, kDraws, kOneInAHundred);
}

TEST_CASE(
    "lossless drafts: drawn chains and trees are verified without loss; with a q one temperature off they are not") {
  for (const json& settings : warper_settings()) {
    CAPTURE(settings.dump());
    json off = settings;
    off["temperature"] = settings.value("temperature", 1.0) * 1.5;
    struct Kind {
      const char* verify;
      Drafted drafted;
      int width;
      bool replacement;
    };
    for (const Kind& kind : {Kind{"chain", Drafted::kDrawnChain, 1, false},
                             Kind{"block", Drafted::kDrawnChain, 1, false},
                             Kind{"multi_round", Drafted::kDrawnTree, 2, false},
                             Kind{"multi_round", Drafted::kDrawnTree, 2, true}}) {
      CAPTURE(kind.verify);
      CAPTURE(kind.replacement);
      const VerifyRule rule = rule_for(kind.verify, kind.drafted);
      const ChiSquare right =
          chi_of_drawn(rule, kind.width, kind.replacement, settings, settings, 31);
      CHECK(right.cells > 10);
      CHECK(right.value < right.limit);
      const ChiSquare wrong = chi_of_drawn(rule, kind.width, kind.replacement, settings, off, 32);
      if (!kSanitized) CHECK(wrong.value > 2 * wrong.limit);
    }
  }
}

}  // namespace
}  // namespace triescope::test::test_lossless_drafts
