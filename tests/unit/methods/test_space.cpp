// SPACE: which rows a step has, what each of them sees and says, which masks draft the next step; what is
// lossless and what is not; the prefix that only masks see, under every KV policy.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/kernels/row_ops.h"
#include "core/methods/registry.h"
#include "core/methods/text_methods.h"
#include "core/verify/text_acceptor.h"
#include "tests/support/fake_head.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_space {
namespace {

using nlohmann::json;

constexpr int kVocab = 14, kMasks = 3, kPrefix = 2;
const Tokens kPrompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};

// What a row reads, in path order, as the fake model hashes it.
Tokens path_to(const TokenTree& tree, NodeId node) {
  std::int32_t masks = 0;
  for (; tree[node].is_probe(); node = tree[node].parent) ++masks;
  Tokens path = kPrompt;
  for (const TokenId token : tree.tokens_to(node)) path.push_back(token.value);
  for (std::int32_t i = 0; i < masks; ++i) path.push_back(kFakeMask + i);
  return path;
}

struct Seen {
  std::int64_t candidates = 0, masks = 0, accepted = 0;
};

// Stands around SPACE's drafter: looks at what it sends, and at every row that comes back.
class Watching final : public Drafter {
 public:
  Watching(std::unique_ptr<Drafter> inner, const FakeModel& model, int masks, Seen& seen)
      : inner_(std::move(inner)), model_(model), masks_(masks), seen_(seen) {}

  const MaskInputs* masks() const override { return inner_->masks(); }

  Drafts draft(DraftContext& context) override {
    Drafts drafts = inner_->draft(context);
    const TokenTree& tree = context.tree;
    const NodeId pending = context.frontier.front();
    // Candidates first, a chain below the pending node, as the masks of the step before said.
    std::vector<NodeId> chain = {pending};
    std::size_t at = 0;
    for (; at < drafts.sent.size() && !tree[drafts.sent[at]].is_probe(); ++at) {
      const Node& node = tree[drafts.sent[at]];
      CHECK(node.parent == chain.back());
      REQUIRE(at < expected_.size());
      CHECK(node.token.value == expected_[at]);
      chain.push_back(drafts.sent[at]);
      ++seen_.candidates;
    }
    if (chain.size() - 1 < expected_.size()) {
      const std::int32_t last = tree[chain.back()].token.value;
      CHECK((static_cast<int>(chain.size()) - 1 == context.room || context.run.is_eos(last)));
    }
    // Then below each of them a chain of masks, as many as a next step could use.
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const bool ends = i > 0 && context.run.is_eos(tree[chain[i]].token.value);
      const int room = context.room - static_cast<int>(i) - 1;
      const int wanted = ends ? 0 : std::clamp(room, 0, masks_);
      NodeId above = chain[i];
      for (int mask = 0; mask < wanted; ++mask, ++at) {
        REQUIRE(at < drafts.sent.size());
        const Node& node = tree[drafts.sent[at]];
        CHECK(node.is_probe());
        CHECK(node.parent == above);
        CHECK(node.token.value == context.run.first_unused_token + mask);
        CHECK(tree.position(drafts.sent[at]) == tree.position(chain[i]) + mask + 1);
        above = drafts.sent[at];
        ++seen_.masks;
      }
    }
    CHECK(at == drafts.sent.size());
    return drafts;
  }

  // Every row, a mask's too, is what the model says after its own path; the masks below the node that
  // gave the newest token say what is drafted next.
  void observe(const StepView& view) override {
    expected_.clear();
    for (std::size_t i = 0; i < view.rows.size() && view.step > 0; ++i)
      CHECK(std::ranges::equal(view.logits(static_cast<int>(i)),
                               model_.logits_of(path_to(view.tree, view.rows[i]))));
    if (view.step > 0 && !view.text.empty()) {
      const NodeId last = view.tree[view.text.back()].parent;
      seen_.accepted += static_cast<std::int64_t>(view.text.size()) - 1;
      for (int mask = 0; mask < masks_; ++mask) {
        const bool ran = std::ranges::any_of(view.rows, [&](NodeId id) {
          const Tokens path = path_to(view.tree, id);
          NodeId root = id;
          while (view.tree[root].is_probe()) root = view.tree[root].parent;
          return root == last && id != root && path.back() == kFakeMask + mask;
        });
        if (!ran) break;
        Tokens path = path_to(view.tree, last);
        for (int i = 0; i <= mask; ++i) path.push_back(kFakeMask + i);
        expected_.push_back(kernels::argmax(model_.logits_of(path)));
      }
    }
    inner_->observe(view);
  }

 private:
  std::unique_ptr<Drafter> inner_;
  const FakeModel& model_;
  int masks_;
  Seen& seen_;
  Tokens expected_;  // drafts of the next step
};

MethodInfo watched(const FakeModel& model, int masks, Seen& seen) {
  MethodInfo method = find_method("space");
  method.make = [&model, masks, &seen](const RunContext& run) {
    MethodParts parts = find_method("space").make(run);
    parts.drafter = std::make_unique<Watching>(std::move(parts.drafter), model, masks, seen);
    return parts;
  };
  return method;
}

RunConfig config_of(Rig& rig, json settings, int max_new_tokens) {
  RunConfig config;
  config.settings = std::move(settings);
  config.prompt_tokens = kPrompt;
  config.max_new_tokens = max_new_tokens;
  rig.draft_head = space_head(kMasks, kPrefix);
  config.draft = {nullptr, nullptr, rig.draft_head.get()};
  return config;
}

std::vector<FakeOptions> models() {
  const Tokens chain = {5, 6, 7, 8, 9, 5};
  return {
      {.vocab_size = kVocab, .eos_token_ids = {}, .chain = chain},
      {.vocab_size = kVocab, .eos_token_ids = {8}, .chain = chain},
      {.vocab_size = kVocab,
       .sliding_window = 4,
       .all_layers_slide = true,
       .eos_token_ids = {},
       .chain = chain},
      {.vocab_size = kVocab, .kv_valid_until = 15, .eos_token_ids = {}, .chain = chain},
  };
}

TEST_CASE(
    "space: every row of every step is where it should be, sees its path and drafts what follows") {
  Seen seen;
  for (FakeOptions options : models())
    for (const int masks : {1, 2, 3})
      for (const int cap : {1, 2, 3, 5, 24})
        for (const char* kv : {"recycle", "compact", "keep"})
          for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            CAPTURE(masks);
            CAPTURE(cap);
            CAPTURE(kv);
            options.seed = seed;
            Rig plain(options, capture::Level::kOff);
            plain.start("greedy", json::object(), kPrompt, cap).run();
            Rig rig(options);
            const MethodInfo method = watched(rig.model, masks, seen);
            const json settings = {{"num_masks", masks}, {"kv", kv}, {"gc_every", 3}};
            Session session(rig.model, rig.tokenizer, method, config_of(rig, settings, cap),
                            rig.recorder);
            session.run();
            CHECK(tokens_of(session.result()) == tokens_of(plain.session->result()));
          }
  CHECK(seen.candidates > 1000);
  CHECK(seen.masks > 3000);
  CHECK(seen.accepted > 400);
}

TEST_CASE("space: a full step of k masks has k(k + 2) + 1 rows; by default as many as are cheap") {
  FakeOptions options{.vocab_size = kVocab, .eos_token_ids = {}, .chain = {5, 6, 7, 8, 9, 5}};
  for (const int masks : {1, 2, 3}) {
    Rig rig(options);
    rig.draft_head = space_head(kMasks, kPrefix);
    rig.start("space", {{"num_masks", masks}}, kPrompt, 40).run();
    std::int32_t most = 0;
    for (const capture::StepRow& step : rig.recorder.steps)
      if (step.step > 0) most = std::max(most, step.forward_rows);
    CHECK(most == masks * (masks + 2) + 1);
  }
  const auto rows_by_default = [](int cheap_rows) {
    const auto head = space_head(5, 0);
    LoopConfig config{.prompt = {5}, .max_new_tokens = 60, .vocab = kVocab};
    config.cheap_rows = cheap_rows;
    RunContext run = run_context(config, find_method("space"));
    run.draft_head = head.get();
    run.first_unused_token = kVocab;
    MethodParts parts = find_method("space").make(run);
    Rng rng(1);
    std::size_t most = 0;
    const LoopRun out = run_loop(config, markov_logits(kVocab, 1, 2, 1), parts.drafter.get(),
                                 *parts.acceptor, run, rng);
    for (std::size_t i = 1; i < out.steps.size(); ++i)
      most = std::max(most, out.steps[i].rows.size());
    return most;
  };
  CHECK(rows_by_default(1) == 4);  // one mask at least
  CHECK(rows_by_default(4) == 4);
  CHECK(rows_by_default(11) == 9);
  CHECK(rows_by_default(33) == 25);
  CHECK(rows_by_default(99) == 36);  // all of the file's
}

TEST_CASE(
    "space: the prefix lies before the run's slots, is counted, and nothing moves or frees it") {
  for (const char* kv : {"recycle", "compact", "keep"}) {
    CAPTURE(kv);
    Rig rig({.vocab_size = kVocab, .eos_token_ids = {}, .chain = {5, 6, 7, 8, 9, 5}});
    rig.draft_head = space_head(kMasks, kPrefix);
    Session& session =
        rig.start("space", {{"kv", kv}, {"gc_every", 2}, {"num_masks", 3}}, kPrompt, 60);
    session.run();
    for (std::int32_t i = 0; i < kPrefix; ++i)
      CHECK(rig.model.kv->cells[static_cast<std::size_t>(i)].token == kFakePrefix - i);
    // The prompt's first token lies behind it.
    CHECK(rig.model.kv->cells[kPrefix].token == kPrompt[0]);
    REQUIRE(!rig.recorder.memory_rows.empty());
    CHECK(rig.recorder.memory_rows.back().reserved == rig.model.kv->capacity());
    CHECK(session.result().mask_prefix_tokens == kPrefix);
    CHECK(session.result().peak_reserved_bytes ==
          rig.model.kv->capacity() * rig.model.kv->bytes_per_slot());
  }
}

TEST_CASE("space: masks are recorded as probes of the drafter, spelled as what they are") {
  Rig rig({.vocab_size = kVocab, .eos_token_ids = {}, .chain = {5, 6, 7, 8, 9, 5}});
  rig.draft_head = space_head(kMasks, kPrefix);
  rig.start("space", {{"num_masks", 3}}, kPrompt, 30).run();
  int probes = 0;
  for (const capture::NodeRow& row : rig.recorder.node_rows) {
    CHECK((row.role == capture::NodeRole::kProbe) == (row.token >= kVocab));
    if (row.role != capture::NodeRole::kProbe) continue;
    ++probes;
    CHECK(row.drafter == 0);
    CHECK(row.token < kVocab + kMasks);
  }
  CHECK(probes > 50);
  for (int mask = 0; mask < kMasks; ++mask)
    CHECK(rig.recorder.pieces.at(kVocab + mask) == "[mask " + std::to_string(mask + 1) + "]");
}

// Texts of four tokens that SPACE samples, against what the model's own sampling gives.
ChiSquare chi_of(const std::string& verify, const json& warpers) {
  constexpr int kSmall = 4, kLength = 4;
  constexpr std::int64_t kDraws = kSanitized ? 4000 : 60000;
  const LogitsOf logits = markov_logits(kSmall, 3, 1.6, 17);
  json settings = warpers;
  settings["verify"] = verify;
  settings["num_masks"] = 2;
  const auto head = space_head(2, 0);
  LoopConfig config{.prompt = {1, 2, 3}, .max_new_tokens = kLength, .vocab = kSmall};
  config.settings = settings;
  config.keep_steps = false;
  RunContext run = run_context(config, find_method("space"));
  run.draft_head = head.get();
  run.first_unused_token = kSmall;
  const Warpers p_warpers(run.settings);
  std::map<Tokens, double> exact;
  const std::function<void(const Tokens&, double)> go = [&](const Tokens& text, double p) {
    if (text.size() == 3 + kLength) {
      exact[{text.begin() + 3, text.end()}] = p;
      return;
    }
    const Distribution of = p_warpers.apply(logits(text));
    for (std::size_t i = 0; i < of.size(); ++i) {
      Tokens more = text;
      more.push_back(of.tokens[i]);
      go(more, p * static_cast<double>(of.probabilities[i]));
    }
  };
  go(config.prompt, 1);
  std::map<Tokens, std::int64_t> counts;
  Rng rng(5);
  for (std::int64_t i = 0; i < kDraws; ++i) {
    MethodParts parts = find_method("space").make(run);
    ++counts[run_loop(config, logits, parts.drafter.get(), *parts.acceptor, run, rng).text];
  }
  return chi_square(exact, counts, kDraws, /*one in a hundred*/ 2.326);
}

TEST_CASE("space: sampling with the residual is without loss, as published it is not") {
  for (const json& warpers : {json::object(), json{{"temperature", 0.7}, {"top_k", 3}}}) {
    CAPTURE(warpers.dump());
    for (const char* verify : {"sample", "chain", "block", "multi_round"}) {
      CAPTURE(verify);
      const ChiSquare chi = chi_of(verify, warpers);
      CHECK(chi.cells > 50);
      CHECK(chi.value < chi.limit);
    }
    const ChiSquare published = chi_of("published", warpers);
    if (!kSanitized) CHECK(published.value > 2 * published.limit);
  }
}

TEST_CASE("space: as published, a token that was refused may be drawn again: as another node") {
  std::int64_t again = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rig rig({.vocab_size = 4, .seed = seed, .eos_token_ids = {}, .spread = 1});
    rig.draft_head = space_head(kMasks, kPrefix);
    Session& session = rig.start("space", {{"verify", "published"}, {"num_masks", 2}}, {1, 2, 3},
                                 20, /*seed=*/seed);
    session.run();
    CHECK(session.result().sequences[0].tokens.size() == 20);
    CHECK_FALSE(session.result().lossless);
    std::set<std::int32_t> refused;
    for (const capture::VerdictRow& row : rig.recorder.verdict_rows)
      if (row.verdict == capture::Verdict::kRejected) refused.insert(row.node);
    for (const capture::VerdictRow& row : rig.recorder.verdict_rows) {
      if (row.verdict != capture::Verdict::kCorrected) continue;
      CHECK_FALSE(refused.contains(row.node));
      const Node& node = session.tree()[NodeId(row.node)];
      for (const std::int32_t other : refused)
        again += session.tree()[NodeId(other)].parent == node.parent &&
                 session.tree()[NodeId(other)].token == node.token;
    }
  }
  CHECK(again > 3);
}

}  // namespace
}  // namespace triescope::test::test_space
