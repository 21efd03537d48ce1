// What one draw from a next-token distribution costs: the four samplers, from logits (decoding: one
// draw from each distribution) and once prepared (many draws from one). And the drafters' indexes:
// what a prompt costs once, and a step.
//   make bench, or build/bench/bench_samplers
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "core/accept/samplers.h"
#include "core/accept/warpers.h"
#include "core/lookup/ngram_trie.h"
#include "core/lookup/suffix_automaton.h"

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

void softmax_into(const std::vector<float>& logits, std::vector<float>& p) {
  const float best = *std::ranges::max_element(logits);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::exp(logits[i] - best);
}

enum class Way { kInverseCdf, kGumbel, kBinarySearch, kAlias };

// From logits to one token.
void OneDraw(benchmark::State& state, Way way) {
  const auto logits = zipf_logits(static_cast<int>(state.range(0)));
  std::vector<float> p(logits.size());
  Rng rng(2);
  for (auto _ : state) {
    if (way != Way::kGumbel) softmax_into(logits, p);
    std::size_t token = 0;
    if (way == Way::kInverseCdf) token = sample_inverse_cdf(p, rng.uniform());
    if (way == Way::kGumbel) token = sample_gumbel_max(logits, rng);
    if (way == Way::kBinarySearch) token = CdfTable(p).draw(rng.uniform());
    if (way == Way::kAlias) token = AliasTable(p).draw(rng.uniform());
    benchmark::DoNotOptimize(token);
  }
}
BENCHMARK_CAPTURE(OneDraw, inverse_cdf, Way::kInverseCdf)->Arg(50)->Arg(49152);
BENCHMARK_CAPTURE(OneDraw, gumbel_max, Way::kGumbel)->Arg(50)->Arg(49152);
BENCHMARK_CAPTURE(OneDraw, binary_search, Way::kBinarySearch)->Arg(50)->Arg(49152);
BENCHMARK_CAPTURE(OneDraw, alias, Way::kAlias)->Arg(50)->Arg(49152);

// One more token from a distribution that was prepared before.
void NextDraw(benchmark::State& state, Way way) {
  const auto logits = zipf_logits(static_cast<int>(state.range(0)));
  std::vector<float> p(logits.size());
  softmax_into(logits, p);
  const CdfTable table(p);
  const AliasTable alias(p);
  Rng rng(2);
  for (auto _ : state) {
    std::size_t token = 0;
    if (way == Way::kInverseCdf) token = sample_inverse_cdf(p, rng.uniform());
    if (way == Way::kGumbel) token = sample_gumbel_max(logits, rng);
    if (way == Way::kBinarySearch) token = table.draw(rng.uniform());
    if (way == Way::kAlias) token = alias.draw(rng.uniform());
    benchmark::DoNotOptimize(token);
  }
}
BENCHMARK_CAPTURE(NextDraw, inverse_cdf, Way::kInverseCdf)->Arg(50)->Arg(49152);
BENCHMARK_CAPTURE(NextDraw, gumbel_max, Way::kGumbel)->Arg(50)->Arg(49152);
BENCHMARK_CAPTURE(NextDraw, binary_search, Way::kBinarySearch)->Arg(50)->Arg(49152);
BENCHMARK_CAPTURE(NextDraw, alias, Way::kAlias)->Arg(50)->Arg(49152);

// The whole way of the method "sample": warpers, then a draw.
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
