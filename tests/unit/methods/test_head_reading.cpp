// Draft heads used in another way than published: which tokens their rows read, which of them draft.
#include <doctest/doctest.h>

#include "tests/support/fake_head.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_head_reading {
namespace {

using formats::HeadKind;

const Tokens kPrompt = {3, 1, 2, 1, 0};

TEST_CASE("reading: a row of EAGLE reads the next token, or with own_token the one of its state") {
  for (const bool own_token : {false, true}) {
    CAPTURE(own_token);
    Rig rig(FakeOptions{.vocab_size = 4, .eos_token_ids = {}});
    rig.draft_head = fake_head(HeadKind::kEagle3, 4, 4096, 7);
    rig.draft_head->config.own_token = own_token;
    auto* const head = dynamic_cast<FakeHead*>(rig.draft_head->layers.get());
    rig.start("eagle3", {{"draft_top_k", 2}, {"draft_levels", 3}, {"draft_tokens", 6}}, kPrompt,
              30);
    std::size_t checked = 0;
    while (!rig.session->done()) {
      head->seen.clear();
      rig.session->advance();
      // Of every row that the head ran: the tokens of its path, one place further or not.
      const TokenTree& tree = rig.session->tree();
      for (const Pairs& row : head->seen) {
        Tokens read;
        for (const Pair& pair : row) read.push_back(pair.token);
        bool is_found = false;
        for (std::int32_t id = 0; id < tree.size() && !is_found; ++id) {
          Tokens text = kPrompt;
          for (const TokenId token : tree.tokens_to(NodeId(id))) text.push_back(token.value);
          if (text.size() < read.size() + 1) continue;
          const auto first = text.begin() + (own_token ? 0 : 1);
          is_found = std::equal(read.begin(), read.end(), first);
        }
        CHECK(is_found);
        ++checked;
      }
    }
    CHECK(checked > 20);
  }
}

TEST_CASE(
    "reading: Medusa's heads may begin at the second, Hydra's read tokens one place earlier") {
  const auto row_of = [](std::int32_t best) {
    std::vector<float> row(16);
    for (std::int32_t i = 0; i < 16; ++i)
      row[static_cast<std::size_t>((best + i) % 16)] = -static_cast<float>(i);
    return row;
  };
  Rig medusa(FakeOptions{.vocab_size = 16, .eos_token_ids = {}});
  medusa.draft_head = token_head(
      HeadKind::kMedusa, std::make_unique<FakeTokenHeads>(
                             3, false, [&](int head, auto, auto) { return row_of(4 * head); }));
  medusa.draft_head->config.first_head = 1;
  medusa.start("medusa", {{"tree", "0;0,0"}}, kPrompt, 30);
  medusa.session->step();
  medusa.session->advance();
  const TokenTree& tree = medusa.session->tree();
  REQUIRE(tree.size() == 4);
  CHECK(tree[NodeId(2)].token.value == 4);
  CHECK(tree[NodeId(3)].token.value == 8);

  std::vector<Tokens> asked;
  Rig hydra(FakeOptions{.vocab_size = 16, .eos_token_ids = {}});
  hydra.draft_head = token_head(
      HeadKind::kHydra, std::make_unique<FakeTokenHeads>(3, true, [&](int head, auto, auto tokens) {
        asked.emplace_back(tokens.begin(), tokens.end());
        return row_of(4 * head);
      }));
  hydra.draft_head->config.own_token = true;
  hydra.start("hydra", {{"tree", "0;0,0"}}, kPrompt, 30);
  hydra.session->step();
  const std::int32_t pending = hydra.session->tree()[NodeId(1)].token.value;
  hydra.session->advance();
  CHECK(asked == std::vector<Tokens>{{kPrompt.back()}, {kPrompt.back(), pending}});
}

}  // namespace
}  // namespace triescope::test::test_head_reading
