// Beam search's parts by hand: the pool of finished sequences, the candidates, pruning limits and
// ties at equality, and what a stopped search returns.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/kernels/row_ops.h"
#include "core/verify/beam.h"
#include "tests/support/session_run.h"
#include "tests/support/text_loop.h"

namespace triescope::test::test_beam_exact {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::vector<float> pool_scores(const FinishedPool& pool) {
  std::vector<float> all;
  for (const FinishedSequence& sequence : pool.sequences()) all.push_back(sequence.score);
  return all;
}
std::vector<std::int32_t> nodes_of(const std::vector<FinishedSequence>& sequences) {
  std::vector<std::int32_t> all;
  for (const FinishedSequence& sequence : sequences) all.push_back(sequence.node.value);
  return all;
}
FinishedSequence finished(std::int32_t node, float score) { return {NodeId(node), score, "eos"}; }

TEST_CASE("finished pool: a score is the sum over length to the power of the penalty") {
  CHECK(FinishedPool(1, 1, EarlyStopping::kFalse, 9).normalised(-6, 3) == -2);
  CHECK(FinishedPool(1, 0, EarlyStopping::kFalse, 9).normalised(-6, 3) == -6);
  CHECK(FinishedPool(1, 2, EarlyStopping::kFalse, 9).normalised(-18, 3) == -2);
  CHECK(FinishedPool(1, -1, EarlyStopping::kFalse, 9).normalised(-6, 3) == -18);
  CHECK(FinishedPool(1, 0.5, EarlyStopping::kFalse, 9).normalised(-6, 4) == -3);
}

TEST_CASE("finished pool: the best of old and new stay, ties to the older; the rest is returned") {
  FinishedPool pool(2, 1, EarlyStopping::kFalse, 9);
  CHECK_FALSE(pool.full());
  CHECK(pool.worst() == FinishedPool::kEmpty);
  CHECK(pool.add({finished(1, -3)}).empty());
  CHECK(pool.worst() == FinishedPool::kEmpty);  // one place is empty yet
  CHECK(nodes_of(pool.add({finished(2, -1), finished(3, -3)})) == std::vector<std::int32_t>{3});
  CHECK(pool.full());
  CHECK(pool.worst() == -3);
  CHECK(nodes_of(pool.sequences()) == std::vector<std::int32_t>{2, 1});
  CHECK(nodes_of(pool.add({finished(4, -2), finished(5, -4)})) == std::vector<std::int32_t>{5, 1});
  CHECK(nodes_of(pool.sequences()) == std::vector<std::int32_t>{2, 4});
  CHECK(nodes_of(pool.add({finished(6, -1)})) == std::vector<std::int32_t>{4});
  CHECK(nodes_of(pool.sequences()) == std::vector<std::int32_t>{2, 6});
  CHECK(pool_scores(pool) == std::vector<float>{-1, -1});
  // Empty places hold -1e9 and are older.
  FinishedPool empty(2, 1, EarlyStopping::kFalse, 9);
  CHECK(nodes_of(empty.add({finished(1, FinishedPool::kEmpty)})) == std::vector<std::int32_t>{1});
  CHECK(empty.sequences().empty());
  CHECK(empty.add({finished(1, -9.9e8f)}).empty());
}

TEST_CASE("finished pool: when a search may go on, by early_stopping, exactly at a tie") {
  const auto with = [](EarlyStopping how, double penalty, std::vector<float> scores) {
    FinishedPool pool(2, penalty, how, 8);
    for (std::size_t i = 0; i < scores.size(); ++i)
      pool.add({finished(static_cast<std::int32_t>(i), scores[i])});
    return pool;
  };
  using enum EarlyStopping;
  CHECK(with(kTrue, 1, {-1}).may_improve(-100, 2));
  CHECK_FALSE(with(kTrue, 1, {-1, -2}).may_improve(-0.1f, 2));
  CHECK(with(kFalse, 1, {-1}).may_improve(-100, 2));
  // At the current length: -8 / 4 = -2 is no better than the worst.
  CHECK_FALSE(with(kFalse, 1, {-1, -2}).may_improve(-8, 4));
  CHECK(with(kFalse, 1, {-1, -2}).may_improve(-7.99f, 4));
  CHECK_FALSE(with(kFalse, 1, {-1, -2}).may_improve(-8.01f, 4));
  // never: at the greatest length, 8, where longer texts are favoured; else at the current one.
  CHECK(with(kNever, 1, {-1, -2}).may_improve(-8, 4));
  CHECK_FALSE(with(kNever, 1, {-1, -2}).may_improve(-16, 4));
  CHECK(with(kNever, 1, {-1, -2}).may_improve(-15.9f, 4));
  CHECK_FALSE(with(kNever, 0, {-1, -2}).may_improve(-2, 4));
  CHECK(with(kNever, 0, {-1, -2}).may_improve(-1.9f, 4));
  CHECK_FALSE(with(kNever, -1, {-1, -8}).may_improve(-2, 4));
  // Once it may not, it never may again.
  FinishedPool pool = with(kFalse, 1, {-1, -2});
  CHECK_FALSE(pool.may_improve(-9, 4));
  CHECK_FALSE(pool.may_improve(-1, 4));
  CHECK(early_stopping_from_string("true") == kTrue);
  CHECK(early_stopping_from_string("false") == kFalse);
  CHECK(early_stopping_from_string("never") == kNever);
  CHECK_THROWS(early_stopping_from_string("maybe"));
}

TEST_CASE("candidates: the best k of the flat list; ties to the lower beam, then the lower token") {
  CandidateHeap heap(4);
  const std::vector<float> first = {-2, -1, kNever, -2}, second = {-1, -2, 0, kNever};
  heap.add_row(0, -1, first);
  CHECK_FALSE(heap.full());  // an impossible token is no candidate
  heap.add_row(1, -2, second);
  REQUIRE(heap.full());
  std::vector<std::pair<std::int32_t, std::int32_t>> order;
  for (const BeamCandidate& c : heap.best()) order.emplace_back(c.beam, c.token);
  // Scores -2, -2, -3, -3, -3, -4: of the three at -3 the two of beam 0 came first.
  CHECK(order ==
        std::vector<std::pair<std::int32_t, std::int32_t>>{{0, 1}, {1, 2}, {0, 0}, {0, 3}});
  CHECK(heap.best()[1].score == -2);
  CHECK(heap.best()[1].logprob == 0);
  CandidateHeap none(0);
  none.add_row(0, 0, first);
  CHECK(none.best().empty());
}

// A search whose logits depend on the last token alone: rows[token], rows[0] after the prompt.
LoopRun search(nlohmann::json settings, const std::vector<std::vector<float>>& rows, Tokens eos,
               int max_new_tokens = 8) {
  LoopConfig config{.prompt = {0}, .max_new_tokens = max_new_tokens, .eos = std::move(eos)};
  config.vocab = static_cast<int>(rows[0].size());
  MethodInfo info;
  info.name = "beam";
  info.parameters = beam_parameters();
  config.settings = validate_settings(info, settings);
  const RunContext run = run_context(config);
  BeamAcceptor acceptor(run);
  LoopRun out;
  out.tree = TokenTree(1);
  std::vector<NodeId> frontier{TokenTree::root()};
  Rng rng(1);
  for (int step = 0; !frontier.empty(); ++step) {
    const LogitsFrom computed([&](int row) {
      const auto token = out.tree[frontier[static_cast<std::size_t>(row)]].token.value;
      return LogitsRow(rows.at(static_cast<std::size_t>(std::max(token, 0))));
    });
    const StepView view{.tree = out.tree,
                        .run = run,
                        .rows = frontier,
                        .frontier = frontier,
                        .step = step,
                        .computed = computed};
    LoopStep done{frontier, acceptor.accept(view, rng)};
    frontier = done.result.frontier;
    out.steps.push_back(std::move(done));
  }
  return out;
}

TEST_CASE("beam exact: a tie of the best live and the worst finished beam ends the search") {
  // EOS is 4. After each step one text ends with the same sum as the best live one.
  const auto tied = log_row({0, 0.4, 0.1, 0.1, 0.4});
  const std::vector<std::vector<float>> rows = {tied, tied, tied, tied, tied};
  const nlohmann::json settings = {{"num_beams", 2}, {"length_penalty", 0}};
  const LoopRun run = search(settings, rows, {4});
  // Step 0: token 1 (rank 0, the lower id) lives and EOS finishes at .4; step 1: 1,1 and 1,EOS tie
  // at .16, and the pool is full.
  REQUIRE(run.steps.size() == 2);
  CHECK(run.steps[0].result.finished.size() == 1);
  CHECK(run.steps[0].result.frontier.size() == 2);
  CHECK(run.steps[1].result.finished.size() == 1);
  CHECK(run.steps[1].result.finished[0].score == run.tree[NodeId(1)].score * 2);
  // Where the live one is a little better, it goes on.
  const auto better = log_row({0, 0.41, 0.1, 0.09, 0.4});
  CHECK(search(settings, {better, better, better, better, better}, {4}).steps.size() > 2);
}

TEST_CASE("pruning limits: a beam at exactly the limit goes, one just above it stays") {
  // All rows alike: at the first step scores are log-probs.
  const auto row = log_row({0.4, 0.28, 0.32});
  const float sum = kernels::log_sum_exp(row);
  const double best = row[0] - sum, second = row[2] - sum, third = row[1] - sum;
  const auto left = [&](const char* rule, double value) {
    const LoopRun run = search({{"num_beams", 3}, {rule, value}}, {row, row, row}, {}, 2);
    return run.steps[0].result.frontier.size();
  };
  for (const char* rule : {"prune_relative", "prune_relative_local"}) {
    CAPTURE(rule);
    for (const double worse : {second, third}) {
      double ratio = worse / best;
      for (int i = 0; i < 4 && ratio * best != worse; ++i)
        ratio = std::nextafter(ratio, ratio * best < worse ? 0 : 9);
      REQUIRE(ratio * best == worse);
      CHECK(left(rule, ratio) == (worse == second ? 1 : 2));
      CHECK(left(rule, ratio * (1 + 1e-12)) == (worse == second ? 2 : 3));
    }
  }
  for (const double worse : {second, third}) {
    CHECK(left("prune_absolute", best - worse) == (worse == second ? 1 : 2));
    CHECK(left("prune_absolute", (best - worse) * (1 + 1e-12)) == (worse == second ? 2 : 3));
  }
  CHECK(left("prune_absolute", 0) == 3);  // off
}

TEST_CASE(
    "beam exact: relative local pruning looks at the newest token, relative pruning at the whole text") {
  // After 1: two good tokens. After 2: likewise, but 2 itself was bad.
  const std::vector<std::vector<float>> rows = {
      log_row({0, 0.78, 0.2, 0.02, 0}), log_row({0, 0, 0, 0.9, 0.1}), log_row({0, 0, 0, 0.9, 0.1}),
      log_row({0, 0.5, 0.5, 0, 0}), log_row({0, 0.5, 0.5, 0, 0})};
  const auto kept = [&](nlohmann::json settings) {
    settings["num_beams"] = 3;
    const LoopRun run = search(settings, rows, {}, 3);
    std::vector<Tokens> texts;
    for (const NodeId node : run.steps.at(1).result.frontier) {
      texts.emplace_back();
      for (const TokenId token : run.tree.tokens_to(node)) texts.back().push_back(token.value);
    }
    return texts;
  };
  CHECK(kept({}) == std::vector<Tokens>{{1, 3}, {2, 3}, {1, 4}});
  CHECK(kept({{"prune_relative_local", 8}}) == std::vector<Tokens>{{1, 3}, {2, 3}});
  // Sums: ln .702 = -.35, ln .18 = -1.71, ln .078 = -2.55.
  CHECK(kept({{"prune_relative", 7.0}}) == std::vector<Tokens>{{1, 3}, {2, 3}});
  CHECK(kept({{"prune_absolute", 1.0}}) == std::vector<Tokens>{{1, 3}});
}

TEST_CASE(
    "beam exact: a stopped search returns finished and live texts, normalised, best first, cut to what was asked") {
  int mixed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    for (const int returned : {1, 3, 4}) {
      Rig rig({.seed = seed, .eos_boost = 2.5f});
      Session& session = rig.start("beam",
                                   {{"num_beams", 4},
                                    {"num_return_sequences", returned},
                                    {"length_penalty", 2.0},
                                    {"early_stopping", "never"}},
                                   {5, 6, 7}, 30);
      for (int i = 0; i < 4 && !session.done(); ++i) session.step();
      if (session.done()) continue;
      session.request_stop();
      session.run();
      // What finished on the way, at most the best four, then what lives.
      struct Text {
        float score;
        std::string finish;
        std::vector<std::int32_t> tokens;
      };
      std::vector<Text> all;
      for (const auto& row : rig.recorder.sequence_rows)
        if (row.rank < 0) all.push_back({row.score, row.finish, row.tokens});
      std::ranges::stable_sort(all, std::ranges::greater(), &Text::score);
      if (all.size() > 4) all.resize(4);
      const std::size_t ended = all.size();
      for (const auto& row : rig.recorder.frontier_rows) {
        if (row.step != 3) continue;
        std::vector<std::int32_t> tokens;
        for (const TokenId token : session.tree().tokens_to(NodeId(row.node)))
          tokens.push_back(token.value);
        all.push_back({row.score / 16, "stopped", tokens});
      }
      mixed += ended > 0 && ended < all.size();
      std::ranges::stable_sort(all, std::ranges::greater(), &Text::score);
      all.resize(static_cast<std::size_t>(returned));
      const RunResult result = session.result();
      REQUIRE(result.sequences.size() == all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(result.sequences[i].tokens == all[i].tokens);
        CHECK(static_cast<float>(result.sequences[i].score) == all[i].score);
        CHECK(result.sequences[i].finish == all[i].finish);
      }
    }
  }
  CHECK(mixed > 5);
}

TEST_CASE("beam exact: one beam ends with its first EOS; several go on until the pool is full") {
  const auto row = log_row({0.1, 0.2, 0.7});
  const LoopRun one = search({{"num_beams", 1}, {"early_stopping", "never"}}, {row, row, row}, {2});
  CHECK(one.steps.size() == 1);
  CHECK(one.steps[0].result.finished.size() == 1);
  CHECK(one.steps[0].result.emitted == Tokens{2});
  const LoopRun all = search({{"num_beams", 2}, {"early_stopping", "true"}}, {row, row, row}, {2});
  CHECK(all.steps.size() == 2);
}

TEST_CASE("beam exact: a kept beam's gap is its distance to the best one left out") {
  const auto row = log_row({0.4, 0.28, 0.32});
  const LoopRun run = search({{"num_beams", 2}}, {row, row, row}, {}, 4);
  const float sum = kernels::log_sum_exp(row);
  int kept = 0;
  for (const auto& verdict : run.steps[0].result.verdicts) {
    if (verdict.verdict != capture::Verdict::kKept) continue;
    CHECK(verdict.gap == verdict.score - (row[1] - sum));
    CHECK(verdict.rank == kept++);
  }
  CHECK(kept == 2);
}

TEST_CASE(
    "beam exact: min_length counts the prompt, min_new_tokens does not: EOS is possible from there on") {
  const auto possible = [](const char* name, std::size_t context, int generated) {
    const LogitsProcessors processors(settings({{name, 3}}), Tokens{1}, 4);
    std::vector<float> scores(4, 0.0f);
    processors.apply(Tokens(context, 2), generated, scores);
    return scores[1] == 0;
  };
  CHECK_FALSE(possible("min_length", 2, 9));
  CHECK(possible("min_length", 3, 0));
  CHECK_FALSE(possible("min_new_tokens", 9, 2));
  CHECK(possible("min_new_tokens", 9, 3));
}

}  // namespace
}  // namespace triescope::test::test_beam_exact
