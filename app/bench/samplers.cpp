// Measures the cost of drawing one token with each of the four samplers.
#include <algorithm>
#include <cmath>
#include <functional>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"
#include "core/kernels/row_ops.h"
#include "core/sampling/samplers.h"

namespace triescope::app {
namespace {

// Draws are timed in blocks of at least this length, because reading the clock costs as much as a
// draw.
constexpr double kBlockMs = 2;

using Draw = std::function<std::size_t()>;

// One way to draw, and its cost each time it was measured.
struct Way {
  Draw draw;
  int block = 1;                // draws at a time
  std::vector<double> us = {};  // a draw
};

double block_ms(const Way& way) {
  const auto start = BenchClock::now();
  std::size_t sum = 0;
  for (int i = 0; i < way.block; ++i) sum += way.draw();
  // The sum is used, so that the compiler drops no draw.
  return ms_since(start) + (sum == std::size_t(-1) ? 1e-9 : 0);
}

}  // namespace

std::vector<SamplerCost> measure_samplers(std::span<const float> logits, int repeats,
                                          const ProgressSink& progress) {
  std::vector<float> fresh(logits.size()), ready(logits.size());
  kernels::softmax(logits, ready);
  const CdfTable sums(ready);
  const AliasTable alias(ready);
  Rng rng(1);
  const auto softmax = [&]() -> std::span<const float> {
    kernels::softmax(logits, fresh);
    return fresh;
  };
  const Draw inverse_cdf = [&] { return sample_inverse_cdf(softmax(), rng.uniform()); };
  const Draw next_inverse_cdf = [&] { return sample_inverse_cdf(ready, rng.uniform()); };
  const Draw gumbel = [&] { return sample_gumbel_max(logits, rng); };  // nothing to prepare
  const Draw search = [&] { return CdfTable(softmax()).draw(rng.uniform()); };
  const Draw next_search = [&] { return sums.draw(rng.uniform()); };
  const Draw tables = [&] { return AliasTable(softmax()).draw(rng.uniform()); };
  const Draw next_tables = [&] { return alias.draw(rng.uniform()); };

  struct Sampler {
    const char* name;
    Way first, next;
  };
  Sampler samplers[] = {{"inverse CDF", {inverse_cdf}, {next_inverse_cdf}},
                        {"Gumbel-max", {gumbel}, {gumbel}},
                        {"binary search", {search}, {next_search}},
                        {"alias tables", {tables}, {next_tables}}};
  for (Sampler& sampler : samplers)
    for (Way* way : {&sampler.first, &sampler.next})
      while (block_ms(*way) < kBlockMs && way->block < (1 << 24)) way->block *= 2;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    // Samplers take turns, so that a machine that slows down slows all of them.
    for (Sampler& sampler : samplers)
      for (Way* way : {&sampler.first, &sampler.next})
        way->us.push_back(block_ms(*way) * 1000 / way->block);
    if (progress) progress("samplers", repeat + 1, repeats);
  }
  std::vector<SamplerCost> costs;
  for (const Sampler& sampler : samplers)
    costs.push_back({sampler.name, static_cast<int>(logits.size()), median(sampler.first.us),
                     median(sampler.next.us)});
  return costs;
}

}  // namespace triescope::app
