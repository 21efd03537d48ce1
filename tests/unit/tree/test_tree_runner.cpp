// A model over a token tree: whatever was kept or dropped before, a row's logits and features are
// those of its path.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/tree/tree_runner.h"
#include "tests/support/fake_model.h"

namespace triescope::test::test_tree_runner {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr auto kSource = capture::Source::kDraft;
const Tokens kPrompt = {5, 6, 7, 3, 5, 6, 4, 7, 3};

FakeOptions options(int kv_valid_until = 0) {
  FakeOptions out;
  out.vocab_size = 14;
  out.kv_valid_until = kv_valid_until;
  return out;
}

struct Bench {
  explicit Bench(FakeOptions model_options = options(), KvPolicyOptions kv = {},
                 bool record = false, Tokens prompt_tokens = kPrompt)
      : prompt(std::move(prompt_tokens)),
        model(model_options),
        runner(model, prompt, kv, record),
        tree(static_cast<std::int32_t>(prompt.size())) {}

  NodeId hang(NodeId parent, std::int32_t token) {
    return tree.hang(parent, TokenId(token), kSource, 0).node;
  }
  Tokens text_of(NodeId node) const {
    Tokens text = prompt;
    for (const TokenId token : tree.tokens_to(node)) text.push_back(token.value);
    return text;
  }
  void check_rows(std::span<const NodeId> rows) {
    REQUIRE(std::ranges::equal(runner.rows(), rows));
    for (std::size_t i = 0; i < rows.size(); ++i)
      CHECK(std::ranges::equal(runner.logits(static_cast<int>(i)),
                               model.logits_of(text_of(rows[i]))));
  }
  void check_features(std::span<const NodeId> rows, std::span<const std::int32_t> layers) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const std::int32_t layer : layers)
        CHECK(std::ranges::equal(runner.feature(static_cast<int>(i), layer),
                                 model.feature_of(text_of(rows[i]), layer)));
  }

  Tokens prompt;
  FakeModel model;
  TreeRunner runner;
  TokenTree tree;
};

TEST_CASE("advance follows a text: whatever was run below it, logits are those of the path") {
  for (const int kv_valid_until : {0, 14}) {
    CAPTURE(kv_valid_until);
    Bench bench(options(kv_valid_until));
    Rng rng(11);
    const auto random_child = [&](NodeId parent) {
      return bench.hang(parent, static_cast<std::int32_t>(rng.next() % 14));
    };
    NodeId at = TokenTree::root();
    for (int step = 0; step < 40; ++step) {
      at = random_child(at);
      bench.runner.advance(bench.tree, at, {});
      const NodeId row[] = {at};
      bench.check_rows(row);
      std::vector<NodeId> level = {at}, all = {at};
      const int levels = std::min(3, bench.runner.levels_below(bench.tree, at));
      for (int depth = 0; depth < levels; ++depth) {
        std::vector<NodeId> next;
        for (const NodeId parent : level)
          for (int i = 0; i < 2; ++i)
            if (const NodeId child = random_child(parent);
                std::ranges::find(next, child) == next.end())
              next.push_back(child);
        level = next;
        bench.runner.forward(bench.tree, level, {});
        bench.check_rows(level);
        all.insert(all.end(), level.begin(), level.end());
      }
      at = all[rng.next() % all.size()];  // as if the drafts up to it had been accepted
    }
    CHECK(bench.tree[at].depth > 40);
    // Only the text has KV, once the drafts are left behind.
    const std::int32_t live = bench.runner.store().live();
    at = random_child(at);
    bench.runner.advance(bench.tree, at, {});
    CHECK(bench.runner.store().live() == bench.tree.position(at) + 1);
    CHECK(live >= bench.tree.position(at));
  }
}

TEST_CASE(
    "tree runner: a path below the prompt is prefilled with it, in pieces; the row before the last is shown") {
  for (const auto& [prompt, chunk] : {std::pair{std::size_t{1}, kPrefillChunk},
                                      {kPrefillChunk - 1, kPrefillChunk},
                                      {kPrefillChunk, kPrefillChunk},
                                      {2 * kPrefillChunk, kPrefillChunk},
                                      {std::size_t{40}, std::size_t{7}},
                                      {std::size_t{300}, std::size_t{1024}}})
    for (const int path_length : {0, 1, 2}) {
      CAPTURE(prompt);
      CAPTURE(chunk);
      CAPTURE(path_length);
      Tokens tokens;
      for (std::size_t i = 0; i < prompt; ++i)
        tokens.push_back(static_cast<std::int32_t>(i * 7 % 14));
      FakeOptions fake = options();
      fake.prefill_rows = static_cast<int>(chunk);
      Bench bench(fake, {}, false, tokens);
      std::vector<NodeId> path;
      for (int i = 0; i < path_length; ++i)
        path.push_back(bench.hang(path.empty() ? TokenTree::root() : path.back(), 3 + i));
      std::vector<float> before_last;
      std::vector<double> progress;
      bench.runner.prefill(
          bench.tree, path, {},
          [&](const std::string&, double done, double) { progress.push_back(done); },
          [&](std::span<const float> logits) { before_last.assign(logits.begin(), logits.end()); });
      const NodeId row[] = {path.empty() ? TokenTree::root() : path.back()};
      bench.check_rows(row);
      Tokens text = bench.text_of(row[0]);
      REQUIRE(progress.size() == (text.size() + chunk - 1) / chunk);
      CHECK(progress.back() == static_cast<double>(text.size()));
      text.pop_back();
      if (text.empty()) {
        CHECK(before_last.empty());
      } else {
        CHECK(before_last == bench.model.logits_of(text));
      }
    }
}

TEST_CASE("features: of every row of a forward, and of every position of the prefill") {
  Tokens prompt;
  for (int i = 0; i < static_cast<int>(kPrefillChunk) + 40; ++i) prompt.push_back(i * 5 % 14);
  Bench bench(options(), {}, false, prompt);
  const std::vector<std::int32_t> layers = {2, kFinalNorm, 0};
  bench.runner.read_features(layers);
  const NodeId a = bench.hang(TokenTree::root(), 3);
  const NodeId path[] = {a};
  bench.runner.prefill(bench.tree, path, {});
  Tokens text;
  for (const std::int32_t token : bench.text_of(a)) {
    text.push_back(token);
    for (const std::int32_t layer : layers)
      CHECK(std::ranges::equal(
          bench.runner.feature_at(static_cast<std::int32_t>(text.size()) - 1, layer),
          bench.model.feature_of(text, layer)));
  }
  bench.check_features(path, layers);  // the row is the last position
  CHECK_THROWS_AS((void)bench.runner.feature_at(static_cast<std::int32_t>(text.size()), 0), Error);
  CHECK_THROWS_AS((void)bench.runner.feature_at(-1, 0), Error);
  CHECK_THROWS_AS((void)bench.runner.feature(0, 1), Error);
  bench.runner.forget_prefill_features();
  CHECK_THROWS_AS((void)bench.runner.feature_at(0, 0), Error);

  const NodeId b = bench.hang(a, 4), c = bench.hang(b, 5), d = bench.hang(b, 6);
  const NodeId rows[] = {b, c, d};
  bench.runner.forward(bench.tree, rows, {});
  bench.check_rows(rows);
  bench.check_features(rows, layers);
  // A later text: of the rows that run, the last is the one asked for.
  const NodeId e = bench.hang(d, 2), f = bench.hang(e, 9);
  bench.runner.advance(bench.tree, f, {});
  const NodeId last[] = {f};
  bench.check_rows(last);
  bench.check_features(last, layers);
}

TEST_CASE(
    "tree runner: levels_below ends a draft at the context and at the length where the rope changes") {
  FakeOptions model = options(14);
  model.context = 20;
  Bench bench(model);  // 9 tokens: the first node has position 9
  NodeId node = TokenTree::root();
  Tokens levels;
  for (int i = 0; i < 11; ++i) {
    node = bench.hang(node, i);
    levels.push_back(bench.runner.levels_below(bench.tree, node));
    CHECK(bench.runner.follows(bench.tree, node));
  }
  // Positions 9 to 13 lie before the rope changes at 14; 19 is the context's last.
  CHECK(levels == Tokens{4, 3, 2, 1, 0, 5, 4, 3, 2, 1, 0});
  CHECK_FALSE(bench.runner.follows(bench.tree, bench.hang(node, 1)));
  Bench small(options());
  CHECK_FALSE(small.runner.follows(small.tree, small.hang(TokenTree::root(), 14)));
  CHECK(small.runner.follows(small.tree, small.hang(TokenTree::root(), 13)));
}

TEST_CASE("a forest: several roots with drafts of their own, in one forward and over commits") {
  for (const KvPolicyKind kind :
       {KvPolicyKind::kRecycle, KvPolicyKind::kCompact, KvPolicyKind::kKeep}) {
    Bench bench(options(), {.kind = kind, .gc_every = 1});
    bench.runner.prefill(bench.tree, {}, {});
    const NodeId a = bench.hang(TokenTree::root(), 1), b = bench.hang(TokenTree::root(), 2);
    const NodeId first[] = {a, b};
    bench.runner.commit(bench.tree, {.frontier = first, .step = 0});
    const NodeId a1 = bench.hang(a, 3), a2 = bench.hang(a1, 4), b1 = bench.hang(b, 3),
                 b2 = bench.hang(b, 5);
    const NodeId rows[] = {a, b, a1, a2, b1, b2};
    bench.runner.forward(bench.tree, rows, {});
    bench.check_rows(rows);
    // a2 is accepted below a, b2 goes through the next forward again, the rest dies.
    const NodeId c = bench.hang(a2, 6);
    const NodeId dropped[] = {b2, b1}, second[] = {c, b2};
    bench.runner.commit(bench.tree, {.dropped = dropped, .frontier = second, .step = 1});
    const NodeId c1 = bench.hang(c, 7), b3 = bench.hang(b2, 8);
    const NodeId again[] = {c, b2, c1, b3};
    bench.runner.forward(bench.tree, again, {});
    bench.check_rows(again);
    CHECK(bench.runner.store().live() == static_cast<std::int32_t>(kPrompt.size()) + 4 + 4);
  }
}

TEST_CASE(
    "tree runner: inputs say row, node, position, slot and the sequential position, a forward each") {
  Bench bench(options(), {.kind = KvPolicyKind::kKeep}, true, {5, 6});
  bench.runner.prefill(bench.tree, {}, {});
  const NodeId a = bench.hang(TokenTree::root(), 1), b = bench.hang(TokenTree::root(), 2);
  const NodeId first[] = {a, b};
  bench.runner.commit(bench.tree, {.frontier = first, .step = 0});
  bench.runner.forward(bench.tree, first, {});
  const NodeId c = bench.hang(b, 3);
  const NodeId dropped[] = {a}, second[] = {c};
  bench.runner.commit(bench.tree, {.dropped = dropped, .frontier = second, .step = 1});
  bench.runner.forward(bench.tree, second, {});
  const auto forwards = bench.runner.take_inputs();
  REQUIRE(forwards.size() == 3);
  const auto as_text = [](const std::vector<capture::InputRow>& rows) {
    std::string text;
    for (const auto& row : rows)
      text += std::to_string(row.row) + ":" + std::to_string(row.node) + "@" +
              std::to_string(row.position) + "/" + std::to_string(row.slot) + "~" +
              std::to_string(row.naive_position) + " ";
    return text;
  };
  CHECK(as_text(forwards[0]) == "0:-2@0/0~0 1:-3@1/1~1 ");
  CHECK(as_text(forwards[1]) == "0:1@2/2~2 1:2@2/3~3 ");
  // Garbage counts: it lies in the cache before the row.
  CHECK(as_text(forwards[2]) == "0:3@3/4~4 ");
  CHECK(bench.runner.take_inputs().empty());
  CHECK(bench.runner.figures().forwards == 3);
  CHECK(bench.runner.figures().rows == 5);
  CHECK(bench.runner.figures().peak_live == 4);
  CHECK(bench.runner.figures().peak_garbage == 1);
}

TEST_CASE(
    "tree runner: what every window has passed by is given up, and rows see the rest in order") {
  FakeOptions model = options();
  model.sliding_window = 4;
  model.all_layers_slide = true;
  Bench bench(model);
  bench.runner.prefill(bench.tree, {}, {});
  NodeId at = TokenTree::root();
  for (int i = 0; i < 12; ++i) {
    at = bench.hang(at, i);
    const NodeId next[] = {at};
    bench.runner.commit(bench.tree, {.frontier = next, .step = i});
    // A row at position p sees p - 3 .. p: the one to come needs three slots of what is there.
    CHECK(bench.runner.horizon() == bench.tree.position(at) - 3);
    CHECK(bench.runner.store().live() == 3);
    bench.runner.forward(bench.tree, next, {});
    bench.check_rows(next);
    CHECK(bench.runner.store().live() == 4);
  }
}

TEST_CASE(
    "tree runner: the sequential position counts garbage until it is collected; the tree position never does") {
  struct Case {
    KvPolicyOptions kv;
    Tokens naive;  // of the last row of each forward
  };
  // Prompt of two; each forward has the pending node and a wrong draft beside its successor.
  for (const Case& c : {
           Case{{.kind = KvPolicyKind::kKeep}, {3, 5, 7, 9}},
           // Collected after the second and the fourth forward.
           Case{{.kind = KvPolicyKind::kCompact, .gc_every = 2}, {3, 5, 5, 7}},
           Case{{.kind = KvPolicyKind::kRecycle}, {3, 4, 5, 6}},
       }) {
    CAPTURE(to_string(c.kv.kind));
    Bench bench(options(), c.kv, true, {5, 6});
    bench.runner.prefill(bench.tree, {}, {});
    NodeId at = bench.hang(TokenTree::root(), 1);
    const NodeId first[] = {at};
    bench.runner.commit(bench.tree, {.frontier = first, .step = 0});
    (void)bench.runner.take_inputs();
    Tokens naive;
    for (int step = 1; step <= 4; ++step) {
      const NodeId wrong = bench.hang(at, 2);
      const NodeId rows[] = {at, wrong};
      bench.runner.forward(bench.tree, rows, {});
      const auto inputs = bench.runner.take_inputs();
      REQUIRE(inputs.size() == 1);
      REQUIRE(inputs[0].size() == 2);
      CHECK(inputs[0][0].position == 1 + step);
      CHECK(inputs[0][1].position == 2 + step);
      CHECK(inputs[0][1].naive_position == inputs[0][0].naive_position + 1);
      naive.push_back(inputs[0][1].naive_position);
      at = bench.hang(at, 3);
      const NodeId dropped[] = {wrong}, next[] = {at};
      bench.runner.commit(bench.tree, {.dropped = dropped, .frontier = next, .step = step});
    }
    CHECK(naive == c.naive);
  }
}

TEST_CASE("tree runner: advance gives up what the text left behind, children before parents") {
  Bench bench(options(), {}, true, {5, 6});
  const NodeId a = bench.hang(TokenTree::root(), 1);
  bench.runner.advance(bench.tree, a, {});
  const NodeId b = bench.hang(a, 2), c = bench.hang(b, 3), d = bench.hang(c, 4);
  for (const NodeId node : {b, c, d}) {
    const NodeId row[] = {node};
    bench.runner.forward(bench.tree, row, {});
  }
  (void)bench.runner.take_slot_events();
  const NodeId other = bench.hang(a, 9);
  bench.runner.advance(bench.tree, other, {});
  Tokens freed;
  for (const auto& row : bench.runner.take_slot_events())
    if (row.action == capture::SlotAction::kFree) freed.push_back(row.node);
  CHECK(freed == Tokens{d.value, c.value, b.value});
}

}  // namespace
}  // namespace triescope::test::test_tree_runner
