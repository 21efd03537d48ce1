// What comes before a draw: the warpers over a row of logits (the draws themselves:
// `triescope bench --only samplers`). And the drafters' indexes: what a prompt costs once, and a
// step.
//   make bench, or build/bench/bench_samplers
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/lookup/ngram_trie.h"
#include "core/lookup/suffix_automaton.h"
#include "core/sampling/warpers.h"

namespace triescope {
namespace {

// Logits of a language model's shape: log-probabilities fall like a power of the rank, in random
// order.
std::vector<float> zipf_logits(int vocab) {
  std::vector<float> logits;
  for (int rank = 1; rank <= vocab; ++rank)
    logits.push_back(-1.3f * std::log(static_cast<float>(rank)));
  Rng rng(1);
  for (std::size_t i = logits.size() - 1; i > 0; --i)
    std::swap(logits[i], logits[rng.next() % (i + 1)]);
  return logits;
}

// The warpers of the method "sample".
void Warp(benchmark::State& state, const nlohmann::json& settings) {
  const auto logits = zipf_logits(49152);
  const Warpers warpers{Settings(settings)};
  for (auto _ : state) benchmark::DoNotOptimize(warpers.apply(logits));
}
BENCHMARK_CAPTURE(Warp, softmax, nlohmann::json::object());
BENCHMARK_CAPTURE(Warp, top_k_50, nlohmann::json{{"top_k", 50}});
BENCHMARK_CAPTURE(Warp, top_k_50_top_p_95, (nlohmann::json{{"top_k", 50}, {"top_p", 0.95}}));
BENCHMARK_CAPTURE(Warp, top_p_95, nlohmann::json{{"top_p", 0.95}});

// A text that repeats itself as documents do: words of 3 tokens out of a few hundred.
std::vector<std::int32_t> prompt(int tokens) {
  Rng rng(3);
  std::vector<std::int32_t> text;
  while (static_cast<int>(text.size()) < tokens) {
    const auto u = rng.uniform();
    const auto word = static_cast<std::int32_t>(300 * u * u);
    text.insert(text.end(), {word, word + 1000, word + 2000});
  }
  text.resize(static_cast<std::size_t>(tokens));
  return text;
}

void IndexPrompt(benchmark::State& state) {
  const auto text = prompt(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    NgramTrie trie(13, 3);
    trie.append(text);
    benchmark::DoNotOptimize(trie.nodes());
  }
}
BENCHMARK(IndexPrompt)->Arg(500)->Arg(2000)->Arg(8000)->Unit(benchmark::kMicrosecond);

// A step: three tokens come, the last of them is looked up, 64 drafts are named.
void TrieStep(benchmark::State& state) {
  const auto text = prompt(static_cast<int>(state.range(0)));
  NgramTrie trie(13, 3);
  trie.append(text);
  std::size_t at = 0;
  for (auto _ : state) {
    const auto news = std::span(text).subspan(at, 3);
    trie.append(news);
    benchmark::DoNotOptimize(trie.continuations(news, 64, 10));
    at = (at + 3) % (text.size() - 3);
  }
}
BENCHMARK(TrieStep)->Arg(2000)->Iterations(5000)->Unit(benchmark::kMicrosecond);

void AutomatonPrompt(benchmark::State& state) {
  const auto text = prompt(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    SuffixAutomaton automaton;
    automaton.append(text);
    benchmark::DoNotOptimize(automaton.match());
  }
}
BENCHMARK(AutomatonPrompt)->Arg(2000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace triescope

BENCHMARK_MAIN();
