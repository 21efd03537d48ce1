// The indexes of methods that look drafts up: what a prompt costs once, and a step.
//   make bench, or build/bench/bench_lookup
#include <benchmark/benchmark.h>

#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/lookup/ngram_trie.h"
#include "core/lookup/suffix_automaton.h"

namespace triescope {
namespace {

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
