// Speculative beam search, exact: whatever drafts, plain beam search's texts, scores and ends, in no more
// forwards; what the drafter sends, level by level.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/methods/registry.h"
#include "core/methods/search_methods.h"
#include "tests/support/draft_rig.h"
#include "tests/support/fake_head.h"
#include "tests/support/session_run.h"

namespace triescope::test::test_speculative_beam {
namespace {

using nlohmann::json;

const Tokens kPrompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};

struct Run {
  RunResult result;
  std::vector<std::string> finishes() const {
    std::vector<std::string> all;
    for (const ReturnedSequence& sequence : result.sequences) all.push_back(sequence.finish);
    return all;
  }
};

enum class By { kText, kModel, kHead };

Run run(const std::string& method, const FakeOptions& options, json settings, By by = By::kText,
        std::uint64_t draft_seed = 0, const Tokens& prompt = kPrompt, int most = 17) {
  Rig rig(options);
  if (by == By::kModel) {
    FakeOptions draft = options;
    if (draft_seed > 0) draft.seed = draft_seed;
    rig.draft_with(draft);
  }
  if (by == By::kHead)
    rig.draft_head = fake_head(formats::HeadKind::kEagle, options.vocab_size, options.context,
                               options.seed, options.chain);
  rig.start(method, std::move(settings), prompt, most).run();
  return {rig.session->result()};
}

void check_same(const Run& drafted, const Run& plain) {
  REQUIRE(tokens_of(drafted.result) == tokens_of(plain.result));
  CHECK(scores_of(drafted.result) == scores_of(plain.result));
  CHECK(drafted.finishes() == plain.finishes());
  CHECK(drafted.result.emitted_tokens == plain.result.emitted_tokens);
  CHECK(drafted.result.target_forwards <= plain.result.target_forwards);
}

std::vector<FakeOptions> targets() {
  const Tokens chain = {5, 6, 7, 8, 9, 5};
  return {
      {.vocab_size = 14, .eos_boost = 1},
      {.vocab_size = 14, .eos_boost = -1, .chain = chain, .quantum = 1},
      {.vocab_size = 14, .sliding_window = 4, .eos_boost = -1, .chain = chain},
      {.vocab_size = 14, .sliding_window = 4, .all_layers_slide = true, .eos_boost = 0},
      {.vocab_size = 14, .kv_valid_until = 15, .eos_token_ids = {}},
      {.vocab_size = 14, .context = 27, .eos_token_ids = {}},
      {.vocab_size = 4, .eos_token_ids = {0}, .eos_boost = -2},  // fewer tokens than candidates
  };
}

TEST_CASE("speculative beams: plain beam search's texts, whatever drafts, under every KV policy") {
  std::int64_t forwards = 0, plain_forwards = 0;
  for (FakeOptions options : targets()) {
    const Tokens prompt = options.vocab_size > 9 ? kPrompt : Tokens{1, 2, 3, 1, 2, 3, 1};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      options.seed = seed;
      for (const int beams : {1, 2, 3, 5}) {
        CAPTURE(options.vocab_size);
        CAPTURE(options.sliding_window);
        CAPTURE(options.kv_valid_until);
        CAPTURE(seed);
        CAPTURE(beams);
        const json common = {{"num_beams", beams},
                             {"num_return_sequences", beams},
                             {"length_penalty", 0.8},
                             {"early_stopping", seed == 2 ? "true" : "false"}};
        const Run plain = run("beam", options, common, By::kText, 0, prompt);
        for (const char* kv : {"recycle", "compact", "keep"}) {
          for (const auto& [by, draft_seed] :
               {std::pair{By::kText, 0}, {By::kModel, 0}, {By::kModel, 9}, {By::kHead, 0}}) {
            for (const json& shape :
                 {json{{"draft_levels", 2}}, json{{"draft_width", 1}, {"draft_levels", 4}},
                  json{{"dynamic_width", true}, {"draft_margin", 0.5}}}) {
              CAPTURE(kv);
              CAPTURE(static_cast<int>(by));
              CAPTURE(draft_seed);
              CAPTURE(shape.dump());
              json settings = common;
              settings.update(shape);
              settings.update({{"kv", kv}, {"gc_every", 3}});
              const Run drafted = run("speculative_beam", options, settings, by,
                                      static_cast<std::uint64_t>(draft_seed), prompt);
              check_same(drafted, plain);
              if (by != By::kModel || draft_seed != 0) continue;
              forwards += drafted.result.target_forwards;
              plain_forwards += plain.result.target_forwards;
            }
          }
        }
      }
    }
  }
  CHECK(forwards * 3 < plain_forwards * 2);  // drafted by the target itself
}

TEST_CASE("speculative beams: logits processors and pruning leave both searches the same") {
  const FakeOptions options{.vocab_size = 14, .eos_boost = -1, .chain = {5, 6, 7, 8, 9, 5}};
  for (const json& rules : {json{{"repetition_penalty", 1.5}}, json{{"no_repeat_ngram_size", 2}},
                            json{{"prune_absolute", 1.0}}, json{{"min_new_tokens", 9}}}) {
    CAPTURE(rules.dump());
    json settings = rules;
    settings["num_beams"] = 3;
    const Run plain = run("beam", options, settings);
    for (const By by : {By::kText, By::kModel, By::kHead})
      check_same(run("speculative_beam", options, settings, by), plain);
  }
}

TEST_CASE(
    "speculative beams: levels gained are the target's own where the target drafts for itself") {
  const FakeOptions options{.vocab_size = 32, .eos_token_ids = {}};
  const Run drafted =
      run("speculative_beam", options, {{"num_beams", 3}, {"draft_levels", 3}}, By::kModel);
  // Prefill gives a level; four forwards of four levels.
  CHECK(drafted.result.target_forwards == 5);
  CHECK(drafted.result.levels_histogram == std::vector<std::int64_t>{0, 0, 0, 4});
  CHECK(drafted.result.levels_gained().value() == 3);
  CHECK(drafted.result.emitted_tokens == 17);
  CHECK_FALSE(run("beam", options, {{"num_beams", 3}}).result.levels_gained());
}

// One draft phase below three beams of the prompt: the paths that were sent, and their scores' order.
struct OneLevel {
  OneLevel(const json& given, Model* model, const Tokens& prompt, const Tokens& beams,
           const Tokens& eos = {})
      : rig(speculative_beam_method(), prompt, given,
            {.eos = eos, .vocab = 14, .draft_model = model}) {
    float score = -1;
    for (const std::int32_t token : beams) {
      frontier.push_back(
          rig.tree.hang(rig.pending, TokenId(token), capture::Source::kBeam, score).node);
      rig.tree[frontier.back()].score = score;
      score -= 1;
    }
  }
  std::vector<Tokens> draft(int room = 9) {
    DraftContext context{rig.tree, frontier, rig.run, rig.rng, room};
    return rig.below(rig.parts.drafter->draft(context).sent);
  }
  DraftRig rig;
  std::vector<NodeId> frontier;
};

TEST_CASE("speculative beams: a level's drafts are the best of all beams, and none ends a text") {
  FakeModel model({.vocab_size = 14, .seed = 3, .eos_token_ids = {}});
  const Tokens prompt = {5, 6, 7}, beams = {1, 2, 4};
  const auto continuations = [&](const std::vector<std::pair<Tokens, double>>& above,
                                 const Tokens& eos) {
    std::vector<std::pair<Tokens, double>> all;
    for (const auto& [path, score] : above) {
      Tokens text = prompt;
      text.insert(text.end(), path.begin(), path.end());
      const auto p = softmax(model.logits_of(text));
      for (std::int32_t token = 0; token < 14; ++token) {
        if (std::ranges::find(eos, token) != eos.end()) continue;
        Tokens longer = path;
        longer.push_back(token);
        all.emplace_back(longer, score + std::log(p[static_cast<std::size_t>(token)]));
      }
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &std::pair<Tokens, double>::second);
    return all;
  };
  const std::vector<std::pair<Tokens, double>> start = {{{1}, -1.0}, {{2}, -2.0}, {{4}, -3.0}};
  for (const Tokens& eos : {Tokens{}, Tokens{7, 8, 9}}) {
    auto first = continuations(start, eos);
    first.resize(6);
    // What a beam search keeps of the second level stands below the three best of the first.
    auto second = continuations({first.begin(), first.begin() + 3}, eos);
    second.resize(3);
    for (const auto& other : continuations(first, eos))
      if (second.size() < 6 && std::ranges::find(second, other) == second.end())
        second.push_back(other);
    std::ranges::stable_sort(second, std::ranges::greater(), &std::pair<Tokens, double>::second);
    std::vector<Tokens> expected;
    for (const auto& level : {first, second})
      for (const auto& [path, score] : level) expected.push_back(path);
    OneLevel one({{"num_beams", 3}, {"draft_levels", 2}}, &model, prompt, beams, eos);
    CHECK(one.draft() == expected);
    OneLevel short_room({{"num_beams", 3}, {"draft_levels", 2}}, &model, prompt, beams, eos);
    CHECK(short_room.draft(1) == std::vector<Tokens>(expected.begin(), expected.begin() + 6));
    // Dynamic: those within the margin of the third.
    OneLevel narrow(
        {{"num_beams", 3}, {"draft_levels", 1}, {"dynamic_width", true}, {"draft_margin", 0.25}},
        &model, prompt, beams, eos);
    std::vector<Tokens> near;
    for (const auto& [path, score] : first)
      if (score >= first[2].second - 0.25) near.push_back(path);
    CHECK(near.size() >= 3);
    CHECK(narrow.draft() == near);
  }
}

TEST_CASE("speculative beams: the text drafts what followed a beam's ending in the beam itself") {
  // "5 6" was followed by 7 twice and by 8 once; "9" by 3; 1 never stood before.
  OneLevel one({{"num_beams", 3}, {"draft_levels", 2}, {"draft_width", 9}}, nullptr,
               {5, 6, 7, 5, 6, 8, 5, 6, 7, 9, 3, 5}, {6, 9, 1});
  auto drafts = one.draft();
  std::sort(drafts.begin() + 4, drafts.end());  // equal but for rounding
  CHECK(drafts ==
        std::vector<Tokens>{{6, 7}, {9, 3}, {6, 8}, {9, 3, 5}, {6, 7, 5}, {6, 7, 9}, {6, 8, 5}});
}

TEST_CASE(
    "speculative beams: rows of the draft model, their candidates and verdicts are recorded") {
  const FakeOptions options{.vocab_size = 14, .eos_token_ids = {}};
  Rig rig(options);
  rig.draft_with(options);
  rig.start("speculative_beam", {{"num_beams", 2}, {"candidates", 4}}, kPrompt, 9).run();
  const auto of = [](capture::Whose whose) {
    return [whose](const auto& row) { return row.whose == whose; };
  };
  CHECK(std::ranges::any_of(rig.recorder.input_rows, of(capture::Whose::kDraft)));
  CHECK(std::ranges::any_of(rig.recorder.candidate_rows, of(capture::Whose::kDraft)));
  std::int64_t drafted = 0, kept = 0, rejected = 0;
  for (const auto& row : rig.recorder.steps) drafted += row.drafted;
  const TokenTree& tree = rig.session->tree();
  for (const auto& row : rig.recorder.verdict_rows) {
    if (!capture::is_drafted(tree[NodeId(row.node)].source)) continue;
    kept += row.verdict == capture::Verdict::kKept;
    rejected += row.verdict == capture::Verdict::kRejected;
  }
  CHECK(drafted > 20);
  CHECK(kept > 5);
  CHECK(rejected > 5);
}

}  // namespace
}  // namespace triescope::test::test_speculative_beam
