// MTP and DFlash over heads made by hand: what their rows read, what becomes of a block's masks, and that drafts drawn
// from them leave sampling's distribution alone.
#include <doctest/doctest.h>

#include <functional>

#include "core/methods/registry.h"
#include "core/sampling/warpers.h"
#include "tests/support/fake_head.h"
#include "tests/support/refusal.h"
#include "tests/support/sanitized.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_ahead_heads {
namespace {

using formats::HeadKind;
using nlohmann::json;

const Tokens kChain = {5, 6, 7, 8, 9, 5};

struct Blocks {
  explicit Blocks(FakeOptions options, json settings, int block = 5, int max_new_tokens = 30)
      : rig(options) {
    options.seed += 3;
    auto layers =
        std::make_unique<FakeBlockHead>(std::make_shared<FakeModel>(options), options.context);
    head = layers.get();
    rig.draft_head = block_head(std::move(layers), block);
    rig.start("dflash", std::move(settings), {5, 6, 7, 3, 5}, max_new_tokens).run();
  }
  Tokens text_to(NodeId node) const {
    Tokens text = {5, 6, 7, 3, 5};
    for (const TokenId token : tree().tokens_to(node)) text.push_back(token.value);
    return text;
  }
  const TokenTree& tree() const { return rig.session->tree(); }
  Rig rig;
  FakeBlockHead* head = nullptr;
};

TEST_CASE(
    "dflash: a block reads the text by the target's states, each at its own position, and nothing else") {
  for (const FakeOptions& options :
       {FakeOptions{.vocab_size = 14, .eos_token_ids = {}, .chain = kChain},
        FakeOptions{.vocab_size = 14,
        .sliding_window = 4,
        .all_layers_slide = true,
        .eos_token_ids = {},
        .chain = kChain},
        FakeOptions{.vocab_size = 14, .context = 24, .eos_token_ids = {}, .chain = kChain}}) {
    const Blocks run(options, json::object(), 5, std::min(30, options.context - 5));
    REQUIRE(run.head->blocks.size() > 2);
    std::size_t longest = 0;
    for (const FakeBlockHead::Block& block : run.head->blocks) {
      Tokens text;
      for (const Pair& pair : block.text) {
        text.push_back(pair.token);
        std::vector<float> states;
        for (const std::int32_t layer : {1, 3})
          for (const float x : run.rig.model.feature_of(text, layer)) states.push_back(x);
        if (options.kv_valid_until == 0) CHECK(pair.state == states);
      }
      CHECK(text.size() > longest);  // steps go on
      longest = text.size();
      const auto left = static_cast<std::size_t>(options.context) - text.size();
      CHECK(block.tokens.size() == std::min<std::size_t>(5, left));
      for (std::size_t i = 1; i < block.tokens.size(); ++i) CHECK(block.tokens[i] == 1);  // masks
    }
  }
}

TEST_CASE(
    "dflash: the masks of a block are withdrawn probes below the pending token and no target's row") {
  const Blocks run({.vocab_size = 14, .eos_token_ids = {}, .chain = kChain},
                   {{"num_assistant_tokens", 2}});
  int probes = 0, drafts = 0;
  for (std::int32_t i = 1; i < run.tree().size(); ++i) {
    const Node& node = run.tree()[NodeId(i)];
    if (!node.is_probe()) {
      drafts += capture::is_drafted(node.source);
      continue;
    }
    ++probes;
    CHECK(node.status == NodeStatus::kWithdrawn);
    CHECK(node.token.value == 1);
    for (const capture::InputRow& row : run.rig.recorder.input_rows)
      if (row.node == i) CHECK(row.whose == capture::Whose::kHead);
    for (const capture::VerdictRow& row : run.rig.recorder.verdict_rows) CHECK(row.node != i);
  }
  CHECK(probes == 4 * static_cast<int>(run.head->blocks.size()));
  CHECK(drafts <= 2 * static_cast<int>(run.head->blocks.size()));
  CHECK(drafts > 10);
}

TEST_CASE("dflash: a tree's rule is one for chosen drafts, and says so") {
  Rig rig({.vocab_size = 14, .eos_token_ids = {}});
  rig.draft_head = fake_head(HeadKind::kDFlash, 14, 4096, 3);
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          rig.start("dflash", {{"tree_budget", 4}, {"verify", "chain"}});
        }).starts_with("verify=chain: min(1, p/q) is for drafts drawn"));
}

TEST_CASE("mtp: depth by depth the layer reads its own normed state, one row a depth") {
  Rig rig({.vocab_size = 14, .eos_token_ids = {}, .chain = kChain});
  auto layers = std::make_unique<FakeHead>(14, 4096, [](const Pairs& seen) {
    std::vector<float> row(14, 0.0f);
    row[static_cast<std::size_t>((seen.back().token + 1) % 14)] = 9;
    return row;
  });
  FakeHead* head = layers.get();
  rig.draft_head = eagle_head(HeadKind::kMtp, std::move(layers));
  Session& session = rig.start("mtp", {{"num_assistant_tokens", 3}}, {5, 6, 7}, 20);
  session.step();
  session.advance();
  REQUIRE(head->seen.size() == 3 + 2);  // the text's pairs, then two drafts
  CHECK(head->seen[3].back().state == FakeHead::state_of(head->seen[2]));
  CHECK(head->seen[4].back().state == FakeHead::state_of(head->seen[3]));
  const std::vector<float> last = rig.model.feature_of(Tokens{5, 6, 7}, kFinalNorm);
  CHECK(head->seen[2].back().state == last);
}

// Texts of four tokens that a method samples with drawn drafts, against sampling's own distribution.
ChiSquare chi_of(const std::string& method, const std::string& verify, const json& warpers) {
  constexpr int kSmall = 4, kLength = 4;
  constexpr std::int64_t kDraws = kSanitized ? 2000 : 20000;
  const FakeOptions options{.vocab_size = kSmall, .seed = 5, .eos_token_ids = {}, .spread = 1.2f};
  Rig rig(options, capture::Level::kOff);
  rig.draft_head = fake_head(find_method(method).heads.front(), kSmall, 4096, 9);
  json settings = warpers;
  settings["verify"] = verify;
  settings["num_assistant_tokens"] = 2;
  const Tokens prompt = {1, 2, 3};
  std::map<Tokens, std::int64_t> counts;
  for (std::int64_t i = 0; i < kDraws; ++i) {
    Session& session = rig.start(method, settings, prompt, kLength, static_cast<std::uint64_t>(i));
    session.run();
    ++counts[session.result().sequences.at(0).tokens];
  }
  const Warpers p_warpers(Settings(validate_settings(find_method(method), settings)));
  std::map<Tokens, double> exact;
  const std::function<void(const Tokens&, double)> go = [&](const Tokens& text, double p) {
    if (text.size() == prompt.size() + kLength) {
      exact[{text.begin() + 3, text.end()}] = p;
      return;
    }
    const Distribution of = p_warpers.apply(rig.model.logits_of(text));
    for (std::size_t i = 0; i < of.size(); ++i) {
      Tokens more = text;
      more.push_back(of.tokens[i]);
      go(more, p * static_cast<double>(of.probabilities[i]));
    }
  };
  go(prompt, 1);
  return chi_square(exact, counts, kDraws, /*one in a hundred*/ 2.326);
}

TEST_CASE("mtp and dflash: drawn drafts are verified without loss") {
  for (const char* method : {"mtp", "dflash"})
    for (const json& warpers : {json::object(), json{{"temperature", 0.7}, {"top_k", 3}}})
      for (const char* verify : {"sample", "chain", "block", "multi_round"}) {
        CAPTURE(method);
        CAPTURE(warpers.dump());
        CAPTURE(verify);
        const ChiSquare chi = chi_of(method, verify, warpers);
        CHECK(chi.cells > 50);
        CHECK(chi.value < chi.limit);
      }
}

}  // namespace
}  // namespace triescope::test::test_ahead_heads
