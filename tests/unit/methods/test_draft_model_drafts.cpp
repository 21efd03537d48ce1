// The draft model's drafts themselves: which nodes are proposed, where a branch stops, what is told
// of its rows. Verification would hide every fault here.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/kernels/row_ops.h"
#include "core/methods/text_methods.h"
#include "core/sampling/samplers.h"
#include "core/sampling/warpers.h"
#include "core/tree/tree_runner.h"
#include "tests/support/draft_rig.h"
#include "tests/support/fake_model.h"

namespace triescope::test_draft_model_drafts {
namespace {

using nlohmann::json;
using test::DraftRig;
using test::FakeModel;
using test::FakeOptions;
using test::Tokens;
using Paths = std::vector<Tokens>;

constexpr int kVocab = 14;
const Tokens kText = {5, 6, 7, 3, 5, 6, 4, 7, 3, 2};  // 2 is pending, at position 9

FakeOptions draft_options(std::uint64_t seed = 321) {
  FakeOptions options;
  options.vocab_size = kVocab;
  options.seed = seed;
  options.eos_token_ids = {};
  return options;
}

struct Rig {
  Rig(nlohmann::json settings, FakeOptions options = draft_options(), Tokens eos = {})
      : model(options),
        rig(draft_model_method(), kText, std::move(settings),
            {.eos = std::move(eos), .vocab = kVocab, .draft_model = &model}) {}
  std::vector<float> logits(const Tokens& path) const {
    Tokens text = rig.text_to(rig.pending);
    text.insert(text.end(), path.begin(), path.end());
    return model.logits_of(text);
  }
  // The best tokens after a path, and the draft model's own probability of one.
  Tokens best(const Tokens& path, std::size_t count) const {
    Tokens tokens;
    for (const auto& [logit, token] : kernels::top_k(logits(path), count)) tokens.push_back(token);
    return tokens;
  }
  float probability(const Tokens& path) const {
    const auto row = logits(Tokens(path.begin(), path.end() - 1));
    return std::exp(row[static_cast<std::size_t>(path.back())] - kernels::log_sum_exp(row));
  }
  // What an expansion drafts below the pending node, level by level, where `goes_on` says which go
  // on.
  template <class GoesOn>
  Paths tree(const std::vector<std::size_t>& widths, GoesOn&& goes_on) const {
    Paths all, level = {{}};
    for (const std::size_t width : widths) {
      Paths next;
      for (const Tokens& above : level)
        for (const std::int32_t token : best(above, width)) {
          Tokens path = above;
          path.push_back(token);
          all.push_back(path);
          if (goes_on(path)) next.push_back(path);
        }
      level = std::move(next);
    }
    return all;
  }
  Paths tree(const std::vector<std::size_t>& widths) const {
    return tree(widths, [](const Tokens&) { return true; });
  }

  FakeModel model;
  DraftRig rig;
};

TEST_CASE("draft model: an expansion hangs that many of its best tokens at every level") {
  Rig chain(json{{"num_assistant_tokens", 3}});
  CHECK(chain.rig.draft() == chain.tree({1, 1, 1}));
  Rig wide(json{{"expansion", {2, 3, 1}}});
  const Paths paths = wide.rig.draft();
  CHECK(paths == wide.tree({2, 3, 1}));
  CHECK(paths.size() == 2 + 6 + 6);
  for (const NodeId node : wide.rig.drafts.sent) {
    CHECK(wide.rig.tree[node].source == capture::Source::kDraft);
    CHECK(wide.rig.tree[node].q == 1);
    CHECK(std::isnan(wide.rig.tree[node].logprob));  // the target's, unknown yet
  }
  CHECK(wide.rig.drafts.proposals.empty());
  CHECK(wide.rig.drafts.withdrawn.empty());
  // The last level never runs: prefill with the pending token, then two levels.
  CHECK(wide.model.forwards == 3);
  CHECK(wide.model.forward_rows == static_cast<std::int64_t>(kText.size()) + 2 + 6);
  CHECK(wide.rig.parts.drafter->runner()->rows().size() == 6);
  // More children than tokens: all there are.
  Rig all(json{{"expansion", {40}}});
  CHECK(all.rig.draft() == all.tree({kVocab}));
}

TEST_CASE("draft model: drafts go on from the text as it then is, level by level again") {
  Rig rig(json{{"expansion", {2, 2}}});
  for (int step = 0; step < 6; ++step) {
    CAPTURE(step);
    const Paths paths = rig.rig.draft();
    CHECK(paths == rig.tree({2, 2}));
    Tokens more;
    if (step % 3 == 1) more = paths.back();   // a whole branch came true
    if (step % 3 == 2) more = paths.front();  // half of one
    more.push_back(11);
    rig.rig.write(more);
  }
}

TEST_CASE("draft model: nothing hangs below a draft that is less probable than the threshold") {
  Rig plain(json{{"expansion", {3, 2}}});
  const Paths first = plain.tree({3});
  std::vector<float> p;
  for (const Tokens& path : first) p.push_back(plain.probability(path));
  REQUIRE(p[0] > p[1]);
  REQUIRE(p[1] > p[2]);
  // At exactly the threshold a draft goes on; just above, it stops. It is sent all the same.
  for (std::size_t last = 0; last < 3; ++last)
    for (const bool above : {false, true}) {
      const float threshold = above ? std::nextafter(p[last], 2.0f) : p[last];
      CAPTURE(last);
      CAPTURE(above);
      Rig rig(json{{"expansion", {3, 2}},
                   {"assistant_confidence_threshold", static_cast<double>(threshold)}});
      const Paths paths = rig.rig.draft();
      CHECK(paths == rig.tree({3, 2}, [&](const Tokens& path) {
        return rig.probability(path) >= threshold;
      }));
      const std::size_t going_on = last + (above ? 0 : 1);
      CHECK(paths.size() == 3 + 2 * going_on);
    }
}

TEST_CASE("draft model: an EOS ends its branch, the others go on") {
  Rig plain(json{{"expansion", {3, 1, 1}}});
  const Tokens best = plain.best({}, 3);
  for (const std::int32_t eos : best) {
    CAPTURE(eos);
    Rig rig(json{{"expansion", {3, 1, 1}}}, draft_options(), {eos});
    CHECK(rig.rig.draft() ==
          rig.tree({3, 1, 1}, [&](const Tokens& path) { return path.back() != eos; }));
  }
  Rig chain(json{{"num_assistant_tokens", 5}}, draft_options(), {best[0]});
  CHECK(chain.rig.draft() == Paths{{best[0]}});
}

TEST_CASE("draft model: levels end at the room, its context and where its rope changes, exactly") {
  const auto levels = [](FakeOptions options, int room, int wanted = 6) {
    Rig rig(json{{"num_assistant_tokens", wanted}}, std::move(options));
    return rig.rig.draft(room).size();
  };
  CHECK(levels(draft_options(), 100) == 6);
  CHECK(levels(draft_options(), 4) == 4);
  CHECK(levels(draft_options(), 1) == 1);
  CHECK(levels(draft_options(), 0) == 0);
  // The pending token lies at position 9. The last level is never run, so one more fits.
  FakeOptions small = draft_options();
  std::vector<std::size_t> found;
  for (small.context = 9; small.context <= 15; ++small.context) found.push_back(levels(small, 100));
  CHECK(found == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
  FakeOptions rope = draft_options();
  found.clear();
  for (rope.kv_valid_until = 8; rope.kv_valid_until <= 13; ++rope.kv_valid_until)
    found.push_back(levels(rope, 100));
  CHECK(found == std::vector<std::size_t>{6, 6, 1, 2, 3, 4});
  // No room, or a text that it cannot follow: it does not even run.
  Rig none({}, draft_options());
  none.rig.draft(0);
  CHECK(none.model.forwards == 0);
  small.context = 9;
  Rig beyond({}, small);
  beyond.rig.draft();
  CHECK(beyond.model.forwards == 0);
}

TEST_CASE("draft model: with verify=sample, drafts are its own draws, and q is what they had") {
  for (const bool replacement : {false, true}) {
    CAPTURE(replacement);
    Rig rig(json{{"expansion", {4, 2}},
                 {"verify", "sample"},
                 {"replacement", replacement},
                 {"temperature", 1.5},
                 {"top_k", 5}});
    const Warpers warpers(test::settings({{"temperature", 1.5}, {"top_k", 5}}));
    Rng rng(1);  // the rig's
    rig.rig.draft();
    const TokenTree& tree = rig.rig.tree;
    std::vector<NodeId> level = {rig.rig.pending}, sent;
    std::size_t repeats = 0;
    for (const int width : {4, 2}) {
      std::vector<NodeId> next;
      for (const NodeId parent : level) {
        const Proposal& proposal = rig.rig.drafts.proposals.at(parent);
        const Distribution q = warpers.apply(rig.logits(rig.rig.below({parent}).front()));
        CHECK(proposal.replacement == replacement);
        CHECK(proposal.q.tokens == q.tokens);
        CHECK(proposal.q.probabilities == q.probabilities);
        REQUIRE(proposal.draws.size() == static_cast<std::size_t>(width));
        std::vector<float> weights = q.probabilities;
        for (const NodeId draw : proposal.draws) {
          CHECK(tree[draw].parent == parent);
          const auto at = sample_inverse_cdf(weights, rng.uniform());
          CHECK(tree[draw].token.value == q.tokens[at]);
          CHECK(tree[draw].q == q.probabilities[at]);
          if (!replacement) weights[at] = 0;
          if (std::ranges::find(next, draw) == next.end()) {
            next.push_back(draw);
          } else {
            ++repeats;
          }
        }
      }
      sent.insert(sent.end(), next.begin(), next.end());
      level = next;
    }
    CHECK(rig.rig.drafts.sent == sent);
    CHECK(rig.rig.drafts.proposals.size() == 1 + level.size() / 2 * (replacement ? 0 : 1) +
                                                 (replacement ? sent.size() - level.size() : 0));
    CHECK((replacement || repeats == 0));
  }
}

TEST_CASE("draft model: without replacement a node's draws end where its tokens do") {
  Rig rig(json{{"expansion", {9}}, {"verify", "sample"}, {"top_k", 3}});
  const Paths paths = rig.rig.draft();
  CHECK(paths.size() == 3);
  CHECK(rig.rig.drafts.proposals.at(rig.rig.pending).draws.size() == 3);
  Rig with(json{{"expansion", {9}}, {"verify", "sample"}, {"top_k", 3}, {"replacement", true}});
  CHECK(with.rig.draft().size() <= 3);
  CHECK(with.rig.drafts.proposals.at(with.rig.pending).draws.size() == 9);
}

TEST_CASE(
    "draft model: candidates are the best tokens of each row it ran, and which were drafted") {
  Rig rig(json{{"expansion", {2, 1}}, {"candidates", 4}});
  rig.rig.draft();
  const auto& rows = rig.rig.drafts.candidates;
  std::vector<NodeId> ran = {rig.rig.pending};
  ran.insert(ran.end(), rig.rig.drafts.sent.begin(), rig.rig.drafts.sent.begin() + 2);
  REQUIRE(rows.size() == 4 * ran.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    const NodeId node = ran[i / 4];
    const Tokens path = rig.rig.below({node}).front();
    const std::int32_t rank = static_cast<std::int32_t>(i % 4);
    Tokens with = path;
    with.push_back(rows[i].token);
    CHECK(rows[i].node == node.value);
    CHECK(rows[i].rank == rank);
    CHECK(rows[i].token == rig.best(path, 4)[i % 4]);
    CHECK(std::exp(rows[i].logprob) == doctest::Approx(rig.probability(with)));
    CHECK(rows[i].chosen == (rank < (i / 4 == 0 ? 2 : 1)));
  }
  Rig off(json{{"expansion", {2, 1}}, {"candidates", 0}});
  off.rig.draft();
  CHECK(off.rig.drafts.candidates.empty());
}

TEST_CASE("draft model: ids that it does not have are never drafted, those beyond are left out") {
  FakeOptions fewer = draft_options();
  fewer.vocab_size = 10;
  Rig rig(json{{"expansion", {13}}}, fewer);
  const Paths paths = rig.rig.draft();
  CHECK(paths.size() == 10);
  CHECK(paths == rig.tree({10}));
  FakeOptions more = draft_options();
  more.vocab_size = 20;
  Rig wide(json{{"expansion", {20}}}, more);
  CHECK(wide.rig.draft().size() == kVocab);
  for (const Tokens& path : wide.rig.below(wide.rig.drafts.sent)) CHECK(path[0] < kVocab);
}

}  // namespace
}  // namespace triescope::test_draft_model_drafts
