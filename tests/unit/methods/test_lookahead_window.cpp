// Lookahead's drafts, token by token: guesses of the pool, the window, and the Jacobi step between.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/methods/text_methods.h"
#include "tests/support/draft_rig.h"

namespace triescope::test_lookahead_window {
namespace {

using test::DraftRig;
using test::LoopConfig;
using test::Tokens;
using Paths = std::vector<Tokens>;

constexpr int kVocab = 50;

std::int32_t after(std::int32_t token) { return (token * 3 + 7) % kVocab; }
// The best token depends on the last one alone.
std::vector<float> logits_after(std::span<const std::int32_t> text) {
  std::vector<float> logits(kVocab, 0.0f);
  logits[static_cast<std::size_t>(after(text.back()))] = 5;
  return logits;
}

// The window's first tokens, [rows][width]: of the prompt, by a generator of its own.
Paths first_window(const Tokens& prompt, int rows, int width, std::uint64_t seed) {
  Rng rng(seed ^ 0x9E3779B97F4A7C15ULL);
  Paths window(static_cast<std::size_t>(rows));
  for (Tokens& row : window)
    for (int i = 0; i < width; ++i) row.push_back(prompt[rng.next() % prompt.size()]);
  return window;
}

void add_chain(Paths& paths, Tokens path, const Tokens& tokens, std::size_t room) {
  for (const std::int32_t token : tokens) {
    if (path.size() >= room) return;
    path.push_back(token);
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  }
}

// Guesses first, each a chain; then row 0, and the rest of each column below its node.
Paths expected_drafts(const Paths& guesses, const Paths& window, std::size_t room = 1000) {
  Paths paths;
  for (const Tokens& guess : guesses) add_chain(paths, {}, guess, room);
  Tokens above;
  for (std::size_t j = 0; j < window[0].size(); ++j) {
    add_chain(paths, above, {window[0][j]}, room);
    above.push_back(window[0][j]);
    Tokens column;
    for (std::size_t r = 1; r < window.size(); ++r) column.push_back(window[r][j]);
    add_chain(paths, above, column, room);
  }
  return paths;
}

// What the pool holds for a token: the newest first, `limit` at most.
Paths guesses_for(const Paths& ngrams, std::int32_t token, std::size_t limit) {
  Paths found;
  for (auto ngram = ngrams.rbegin(); ngram != ngrams.rend(); ++ngram) {
    if (ngram->front() != token) continue;
    const Tokens rest(ngram->begin() + 1, ngram->end());
    if (std::ranges::find(found, rest) == found.end()) found.push_back(rest);
  }
  if (found.size() > limit) found.resize(limit);
  return found;
}

TEST_CASE("lookahead: window and pool go on by a Jacobi step after every forward, exactly") {
  for (const int n : {2, 3, 4})
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(n);
      CAPTURE(seed);
      const Tokens text = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
      const int width = 4;
      const std::size_t limit = 2;
      DraftRig rig(lookahead_method(), text,
                   {{"ngram_size", n},
                    {"window_size", width},
                    {"guess_set_size", limit},
                    {"pool_from_prompt", false}},
                   {.vocab = kVocab, .seed = seed});
      Paths window = first_window(rig.prompt, n - 1, width, seed), ngrams;
      std::int32_t pending = text.back();
      for (int step = 0; step < 8; ++step) {
        CAPTURE(step);
        CHECK(rig.draft() == expected_drafts(guesses_for(ngrams, pending, limit), window));
        for (const NodeId node : rig.drafts.sent)
          CHECK(rig.tree[node].source == capture::Source::kDraft);
        rig.read(logits_after);
        for (std::size_t j = 0; j < window[0].size(); ++j) {
          Tokens ngram;
          for (const Tokens& row : window) ngram.push_back(row[j]);
          ngram.push_back(after(ngram.back()));
          ngrams.push_back(ngram);
          for (std::size_t r = 0; r < window.size(); ++r) window[r][j] = ngram[r + 1];
        }
        // The text goes where the pool has something to say, in turn with where it has nothing.
        pending = step % 2 == 0 ? ngrams.back().front() : 49;
        rig.write({pending});
      }
    }
}

TEST_CASE("lookahead: pool_from_prompt holds the prompt's n-grams, the newest first, no others") {
  const Tokens text = {1, 2, 3, 1, 4, 5, 1, 2, 6, 1};  // the last 1 is pending
  const auto drafts = [&](nlohmann::json settings) {
    settings.update({{"ngram_size", 3}, {"window_size", 1}});
    DraftRig rig(lookahead_method(), text, settings, {.vocab = kVocab});
    const Paths window = first_window(rig.prompt, 2, 1, 1);
    return std::pair(rig.draft(), window);
  };
  const auto [all, window] = drafts({});
  CHECK(all == expected_drafts({{2, 6}, {4, 5}, {2, 3}}, window));
  CHECK(drafts({{"guess_set_size", 2}}).first == expected_drafts({{2, 6}, {4, 5}}, window));
  CHECK(drafts({{"guess_set_size", 1}}).first == expected_drafts({{2, 6}}, window));
  CHECK(drafts({{"pool_from_prompt", false}}).first == expected_drafts({}, window));
  // An n-gram that ends with the prompt is in; one that would take the pending token is not.
  DraftRig rig(lookahead_method(), {7, 8, 9, 7}, {{"ngram_size", 3}, {"window_size", 1}},
               {.vocab = kVocab});
  CHECK(rig.draft().front() == Tokens{8});
  rig.write({8});
  CHECK(guesses_for({{7, 8, 9}}, 8, 7).empty());
  CHECK(rig.draft() == expected_drafts({}, first_window(rig.prompt, 2, 1, 1)));
}

TEST_CASE("lookahead: no draft is deeper than the room, and a cut column waits for its turn") {
  const Tokens text = {1, 2, 3, 4, 5, 6};
  for (std::size_t room = 0; room <= 6; ++room) {
    CAPTURE(room);
    DraftRig rig(lookahead_method(), text,
                 {{"ngram_size", 4}, {"window_size", 3}, {"pool_from_prompt", false}},
                 {.vocab = kVocab});
    Paths window = first_window(rig.prompt, 3, 3, 1);
    CHECK(rig.draft(static_cast<int>(room)) == expected_drafts({}, window, room));
    rig.read(logits_after);
    // Column j ends at level j + 3.
    for (std::size_t j = 0; j < 3; ++j) {
      if (j + 3 > room) continue;
      const std::int32_t next = after(window[2][j]);
      window[0][j] = window[1][j], window[1][j] = window[2][j], window[2][j] = next;
    }
    rig.write({40});
    CHECK(rig.draft() == expected_drafts({}, window));
  }
}

TEST_CASE("lookahead: a column that was not drafted in this step makes no Jacobi step") {
  DraftRig rig(lookahead_method(), {1, 2, 3, 4},
               {{"ngram_size", 2}, {"window_size", 1}, {"pool_from_prompt", false}},
               {.vocab = kVocab});
  const std::int32_t first = first_window(rig.prompt, 1, 1, 1)[0][0];
  CHECK(rig.draft() == Paths{{first}});
  rig.read(logits_after);
  rig.write({first});  // it came true, and is the pending node now: it has a row again
  CHECK(rig.draft(0).empty());
  rig.read([](std::span<const std::int32_t>) {
    std::vector<float> logits(kVocab, 0.0f);
    logits[33] = 5;
    return logits;
  });
  rig.write({49});
  CHECK(rig.draft() == Paths{{after(first)}});  // one step, not two
}

TEST_CASE("lookahead: guesses end with an EOS, and the window begins without one") {
  DraftRig rig(lookahead_method(), {1, 2, 9, 3, 1}, {{"ngram_size", 4}, {"window_size", 1}},
               {.eos = {9}, .vocab = kVocab});
  // The prompt's tokens but the EOS: the generator chooses among three.
  CHECK(rig.draft() == expected_drafts({{2, 9}}, first_window({1, 2, 3}, 3, 1, 1)));
  // A prompt of EOS tokens alone: any other token of the vocabulary.
  DraftRig all_eos(lookahead_method(), {9, 9, 9, 1},
                   {{"ngram_size", 3}, {"window_size", 5}, {"pool_from_prompt", false}},
                   {.eos = {9, 0}, .vocab = 12});
  CHECK(all_eos.draft() ==
        expected_drafts({}, first_window({1, 2, 3, 4, 5, 6, 7, 8, 10, 11}, 2, 5, 1)));
  // A vocabulary of EOS tokens alone: nothing to guess.
  DraftRig only_eos(lookahead_method(), {1, 1, 0}, {{"pool_from_prompt", false}},
                    {.eos = {0, 1}, .vocab = 2});
  CHECK(only_eos.draft().empty());
  only_eos.read([](std::span<const std::int32_t>) { return std::vector<float>{0, 1}; });
  CHECK(only_eos.draft().empty());
}

TEST_CASE(
    "lookahead: a column that meets an EOS gives its n-gram and begins again, the others go on") {
  constexpr std::int32_t kEos = 49;
  const Tokens text = {1, 2, 3, 4, 5, 6};
  for (const int n : {2, 3, 5}) {
    CAPTURE(n);
    const int rows = n - 1, width = 3;
    DraftRig rig(lookahead_method(), text,
                 {{"ngram_size", n}, {"window_size", width}, {"pool_from_prompt", false}},
                 {.eos = {kEos}, .vocab = kVocab});
    // One column at a time meets the EOS; the generator goes on where the window's beginning left
    // it.
    Rng rng(1 ^ 0x9E3779B97F4A7C15ULL);
    Paths window(static_cast<std::size_t>(rows));
    for (Tokens& row : window)
      for (int i = 0; i < width; ++i) row.push_back(rig.prompt[rng.next() % rig.prompt.size()]);
    Paths ngrams;
    std::int32_t pending = text.back();
    for (std::size_t step = 0; step < 6; ++step) {
      CAPTURE(step);
      CHECK(rig.draft() == expected_drafts(guesses_for(ngrams, pending, 7), window));
      // The node that ends this step's column is followed by an EOS, all others are not.
      const std::size_t ending = step % window[0].size();
      Tokens ends = rig.text_to(rig.pending);
      for (std::size_t j = 0; j <= ending; ++j) ends.push_back(window[0][j]);
      for (std::size_t r = 1; r < window.size(); ++r) ends.push_back(window[r][ending]);
      const auto next = [&](std::span<const std::int32_t> path) {
        return std::ranges::equal(path, ends) ? kEos : after(path.back());
      };
      rig.read([&](std::span<const std::int32_t> path) {
        std::vector<float> logits(kVocab, 0.0f);
        logits[static_cast<std::size_t>(next(path))] = 5;
        return logits;
      });
      Tokens path = rig.text_to(rig.pending);
      for (std::size_t j = 0; j < window[0].size(); ++j) {
        path.push_back(window[0][j]);
        Tokens column = path, ngram{window[0][j]};
        for (std::size_t r = 1; r < window.size(); ++r) {
          column.push_back(window[r][j]);
          ngram.push_back(window[r][j]);
        }
        ngram.push_back(next(column));
        ngrams.push_back(ngram);
      }
      for (std::size_t j = 0; j < window[0].size(); ++j) {
        const Tokens& ngram = ngrams[ngrams.size() - window[0].size() + j];
        for (std::size_t r = 0; r < window.size(); ++r)
          window[r][j] =
              ngram.back() == kEos ? rig.prompt[rng.next() % rig.prompt.size()] : ngram[r + 1];
      }
      pending = ngrams[ngrams.size() - window[0].size() + ending].front();
      rig.write({pending});
    }
  }
}

TEST_CASE("lookahead: a text that repeats takes exactly one step for every N tokens") {
  const auto circle = [](std::span<const std::int32_t> text) {
    std::vector<float> logits(6, 0.0f);
    logits[static_cast<std::size_t>((text.back() + 1) % 6)] = 5;
    return logits;
  };
  for (const int n : {2, 3, 5}) {
    CAPTURE(n);
    // Prefill gives one token; then N - 1 guesses come true and the token after them.
    for (const int steps : {1, 4, 9}) {
      LoopConfig config{.prompt = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5},
                        .max_new_tokens = 1 + steps * n,
                        .vocab = 6,
                        .settings = {{"ngram_size", n}, {"window_size", 1}}};
      const auto run = test::run_method(lookahead_method(), config, circle);
      CHECK(run.text == test::plain_greedy(config, circle));
      CHECK(static_cast<int>(run.steps.size()) == 1 + steps);
      for (std::size_t i = 1; i < run.steps.size(); ++i)
        CHECK(run.steps[i].result.accepted == n - 1);
    }
    // Without the prompt's n-grams the pool has learnt the circle once the window has gone round.
    LoopConfig config{.prompt = {0, 1, 2, 3, 4, 5},
                      .max_new_tokens = 100,
                      .vocab = 6,
                      .settings = {{"ngram_size", n}, {"window_size", 6}}};
    config.settings["pool_from_prompt"] = false;
    const auto run = test::run_method(lookahead_method(), config, circle);
    CHECK(run.text == test::plain_greedy(config, circle));
    CHECK(static_cast<int>(run.steps.size()) <= 1 + 6 + (100 + n - 1) / n);
  }
}

}  // namespace
}  // namespace triescope::test_lookahead_window
