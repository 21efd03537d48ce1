// Drafts of a model with another tokenizer, token by token: two tokenizers that cut the same letters
// otherwise.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"
#include "tests/support/fake_model.h"
#include "tests/support/refusal.h"

namespace triescope::test::test_universal_draft {
namespace {

using Paths = std::vector<Tokens>;

// Ids 0 to 25 are letters, those from 26 on longer pieces; the longest that fits is taken, from the left.
struct PieceTokenizer final : FakeTokenizer {
  explicit PieceTokenizer(std::vector<std::string> longer, std::vector<std::int32_t> eos = {})
      : FakeTokenizer(26, std::move(eos)) {
    for (char c = 'a'; c <= 'z'; ++c) of_id.emplace_back(1, c);
    for (std::string& piece : longer) of_id.push_back(std::move(piece));
  }
  std::vector<std::int32_t> encode(std::string_view text, bool) const override {
    Tokens ids;
    while (!text.empty()) {
      std::int32_t best = -1;
      for (std::size_t id = 0; id < of_id.size(); ++id)
        if (text.starts_with(of_id[id]) &&
            (best < 0 || of_id[id].size() > of_id[static_cast<std::size_t>(best)].size()))
          best = static_cast<std::int32_t>(id);
      REQUIRE(best >= 0);
      ids.push_back(best);
      text.remove_prefix(of_id[static_cast<std::size_t>(best)].size());
    }
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const override {
    std::string text;
    for (const std::int32_t id : ids)
      if (!skip_special_tokens || !is_special(id)) text += of_id.at(static_cast<std::size_t>(id));
    return text;
  }
  int vocab_size() const override { return static_cast<int>(of_id.size()); }
  std::vector<std::string> of_id;
};

FakeOptions alphabet(int context = 4096) {
  FakeOptions options{.vocab_size = 26, .context = context, .eos_token_ids = {}};
  for (int i = 0; i < 26; ++i) options.chain.push_back(i);
  return options;
}

// The target has "ab", "cd" and "ef"; the draft model letters alone, and says the alphabet.
struct Setting {
  explicit Setting(std::vector<std::int32_t> draft_eos = {}, int context = 4096)
      : own({}, std::move(draft_eos)), model(alphabet(context)) {}
  Paths drafts(std::string_view text, nlohmann::json settings = {}, int room = 1000,
               int vocab = 29) {
    return after(target.encode(text, false), std::move(settings), room, vocab);
  }
  Paths after(const Tokens& text, nlohmann::json settings = {}, int room = 1000, int vocab = 29) {
    DraftRig rig(
        universal_draft_method(), text, std::move(settings),
        {.vocab = vocab, .draft_model = &model, .tokenizer = &target, .draft_tokenizer = &own});
    const Paths paths = rig.draft(room);
    for (const NodeId node : rig.drafts.sent)
      CHECK(rig.tree[node].source == capture::Source::kDraft);
    return paths;
  }
  PieceTokenizer target{{"ab", "cd", "ef"}};
  PieceTokenizer own;
  FakeModel model;
};

constexpr std::int32_t kAb = 26, kCd = 27, kEf = 28;

TEST_CASE(
    "universal draft: universal drafts are what the draft model wrote, in the target's tokens") {
  Setting setting;
  // x ab cd, then e f g h: "ef" is one token.
  CHECK(setting.drafts("xabcd") == Paths{{kEf}, {kEf, 6}, {kEf, 6, 7}});
  CHECK(setting.drafts("xab") == Paths{{kCd}, {kCd, kEf}});
  CHECK(setting.drafts("xab", {{"num_assistant_tokens", 1}}) == Paths{{2}});
  CHECK(setting.drafts("xab", {{"num_assistant_tokens", 3}}) == Paths{{kCd}, {kCd, 4}});
  CHECK(setting.drafts("xabcd", {}, 2) == Paths{{kEf}, {kEf, 6}});
  CHECK(setting.drafts("xabcd", {}, 0).empty());
  // An id that the model lacks ends the drafts.
  CHECK(setting.drafts("xabcd", {}, 1000, 28).empty());
  CHECK(setting.drafts("fg") == Paths{{7}, {7, 8}, {7, 8, 9}, {7, 8, 9, 10}});
}

TEST_CASE(
    "universal drafts at a seam: what stands behind the common run, less what the text goes on") {
  Setting setting;
  // The text ends with "e" alone; encoded with what follows it would be "ef".
  CHECK(setting.after({23, kAb, kCd, 4}) == Paths{{6}, {6, 7}, {6, 7, 8}});
  // "a b" as two tokens, "ab" once encoded again: "x" and "y" are the common run.
  CHECK(setting.after({23, 24, 0, 1}) == Paths{{kEf}});
  // Nothing in common: nothing is drafted.
  CHECK(setting.after({0, 1}).empty());
}

TEST_CASE(
    "universal drafts: the window begins so many of the draft model's tokens before its drafts") {
  Setting setting;
  // Two tokens back, "cd": the window is "cdefgh".
  CHECK(setting.drafts("xabcd", {{"assistant_lookbehind", 2}}) ==
        Paths{{kEf}, {kEf, 6}, {kEf, 6, 7}});
  // One back, "d" alone: the text has no such token at its end.
  CHECK(setting.drafts("xabcd", {{"assistant_lookbehind", 1}}).empty());
}

TEST_CASE(
    "universal draft: universal drafts end where the draft model ends its text, is unsure, or has no room") {
  Setting ends({6});  // "g"
  CHECK(ends.drafts("xabcd") == Paths{{kEf}});
  CHECK(ends.drafts("xef").empty());
  Setting setting;
  // z is followed by nothing that the model likes: the first token is drafted, and nothing below it.
  const Paths unsure = setting.drafts("xz", {{"assistant_confidence_threshold", 0.99}});
  CHECK(unsure.size() == 1);
  Setting small({}, 8);
  CHECK(small.drafts("ghij").size() == 4);
  CHECK(small.drafts("ghijk").empty());
}

TEST_CASE(
    "universal draft: universal drafts go on over one text: KV of what the next text has in common is kept") {
  Setting setting;
  DraftRig rig(universal_draft_method(), setting.target.encode("xab", false), {},
               {.vocab = 29,
                .draft_model = &setting.model,
                .tokenizer = &setting.target,
                .draft_tokenizer = &setting.own});
  CHECK(rig.draft() == Paths{{kCd}, {kCd, kEf}});
  CHECK(setting.model.forward_rows == 3 + 3);  // the text, and three of four tokens written
  rig.write({kCd, kEf});
  CHECK(rig.draft() == Paths{{6}, {6, 7}, {6, 7, 8}, {6, 7, 8, 9}});
  // c d e were there, f is the text's last token, three more were written.
  CHECK(setting.model.forward_rows == 6 + 1 + 3);
  rig.write({9});  // j instead: g h i go
  CHECK(rig.draft() == Paths{{10}, {10, 11}, {10, 11, 12}, {10, 11, 12, 13}});
  CHECK(setting.model.forward_rows == 10 + 1 + 3);
}

TEST_CASE("universal draft: universal_draft asks for two tokenizers that encode text") {
  FakeModel model(alphabet());
  LoopConfig config{.vocab = 29};
  RunContext run = run_context(config, universal_draft_method());
  run.draft_model = &model;
  CHECK(refusal(ErrorCode::kInvalidArgument, [&] {
          universal_draft_method().make(run);
        }).starts_with("universal_draft: expected two models with their tokenizers"));
  struct Mute final : FakeTokenizer {
    bool encodes_text() const override { return false; }
  } mute;
  const PieceTokenizer target({});
  run.tokenizer = &target;
  run.draft_tokenizer = &mute;
  CHECK(refusal(ErrorCode::kNotSupported, [&] {
          universal_draft_method().make(run);
        }).ends_with("the draft model came without one"));
}

}  // namespace
}  // namespace triescope::test::test_universal_draft
