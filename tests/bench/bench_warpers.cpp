// What comes before a draw: the warpers over a row of logits. (The draws themselves:
// `triescope bench --only samplers`.)
//   make bench, or build/bench/bench_warpers
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
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

}  // namespace
}  // namespace triescope

BENCHMARK_MAIN();
