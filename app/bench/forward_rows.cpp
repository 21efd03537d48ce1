// Measures a forward's cost by its number of rows.
#include <algorithm>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"
#include "core/base/count_up.h"

namespace triescope::app {
namespace {

constexpr int kStretch = 5;
constexpr double kSettleMs = 40;

}  // namespace

std::vector<ForwardCost> measure_forward_rows(Model& model, int prompt_tokens,
                                              const std::vector<int>& rows, int repeats,
                                              const ProgressSink& progress) {
  const int most = *std::max_element(rows.begin(), rows.end());
  const auto kv = model.make_kv(prompt_tokens + most);
  const int vocabulary = model.info().vocab_size;
  const auto slots = count_up(static_cast<std::size_t>(prompt_tokens));
  prefill(model, *kv, spread_tokens(prompt_tokens, vocabulary), slots);

  std::vector<std::vector<double>> times(rows.size());
  const auto step = [&](int count) {
    std::vector<std::int32_t> tokens, at, where, own, offsets{0}, wanted;
    for (int r = 0; r < count; ++r) {
      tokens.push_back((r * 104729 + 7) % vocabulary);
      at.push_back(prompt_tokens);
      where.push_back(prompt_tokens + r);
      own.push_back(prompt_tokens + r);
      offsets.push_back(r + 1);
      wanted.push_back(r);
    }
    ForwardBatch batch;
    batch.tokens = tokens;
    batch.positions = at;
    batch.slots = where;
    batch.prefix_slots = slots;
    batch.own_slots = own;
    batch.own_offsets = offsets;
    batch.logit_rows = wanted;
    const auto start = BenchClock::now();
    model.forward(batch, *kv);
    return ms_since(start);
  };
  // Row counts take turns, so that a machine that slows down slows all of them. Each turn is a
  // stretch of forwards, as in decoding: for some 30 ms after forwards of 32 rows a forward of a
  // single row took a third longer.
  for (int done = 0; done < repeats; done += kStretch) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto start = BenchClock::now();
      do step(rows[i]);
      while (ms_since(start) < kSettleMs);
      for (int n = done; n < std::min(done + kStretch, repeats); ++n)
        times[i].push_back(step(rows[i]));
    }
    if (progress) progress("forward rows", std::min(done + kStretch, repeats), repeats);
  }
  std::vector<ForwardCost> result;
  double one = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ForwardCost cost{rows[i], prompt_tokens, median(times[i]), 0};
    if (rows[i] == 1) one = cost.ms;
    result.push_back(cost);
  }
  for (ForwardCost& cost : result) cost.over_one = one > 0 ? cost.ms / one : 0;
  return result;
}

}  // namespace triescope::app
