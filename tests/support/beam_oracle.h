// A second beam search, written straight down from transformers 5.17.0 (generation/utils.py,
// _beam_search): no tree, no KV, whole token lists, its tensors as vectors and its -1e9 arithmetic
// kept. What the real one is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/base/count_up.h"
#include "core/verify/beam_candidates.h"

namespace triescope::test {

struct OracleConfig {
  std::vector<std::int32_t> prompt;
  int num_beams = 3;
  int max_new_tokens = 8;
  double length_penalty = 1;
  std::string early_stopping = "false";
  int num_return_sequences = 1;
  std::vector<std::int32_t> eos;
  // Logits of a whole text, and what is done to its log-probs (transformers' logits processors),
  // maybe empty.
  std::function<std::vector<float>(const std::vector<std::int32_t>&)> logits;
  std::function<void(const std::vector<std::int32_t>& text, int generated, std::vector<float>&)>
      process = {};
};

struct OracleSequence {
  std::vector<std::int32_t> tokens;  // generated
  float score = 0;
};

// The one thing taken from the real one, whose last bits depend on the processor (its own test
// compares it with fp64).
inline std::vector<float> oracle_log_softmax(const std::vector<float>& logits) {
  std::vector<float> out(logits.size());
  finite_log_softmax(logits, out);
  return out;
}

// torch.topk with ties to the lower index.
inline std::vector<std::size_t> oracle_topk(const std::vector<float>& values, std::size_t k) {
  std::vector<std::size_t> order = count_up<std::size_t>(values.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return values[a] > values[b]; });
  order.resize(std::min(k, order.size()));
  return order;
}

struct OracleRun {
  std::vector<OracleSequence> sequences;
  int steps = 0;
};

inline OracleRun oracle_beam_search(const OracleConfig& c) {
  using Text = std::vector<std::int32_t>;
  const auto b = static_cast<std::size_t>(c.num_beams);
  const std::size_t keep = std::max<std::size_t>(2, 1 + c.eos.size()) * b;
  std::vector<Text> running(b, c.prompt), sequences(b, c.prompt);
  std::vector<float> running_scores(b, -1e9f), scores(b, -1e9f);
  running_scores[0] = 0;
  std::vector<bool> finished(b, false);
  bool unsatisfied = true;
  const auto prompt = c.prompt.size();
  OracleRun run;
  while (true) {
    ++run.steps;
    std::vector<float> flat;
    std::size_t vocab = 0;
    for (std::size_t i = 0; i < b; ++i) {
      std::vector<float> lp = oracle_log_softmax(c.logits(running[i]));
      if (c.process) c.process(running[i], static_cast<int>(running[i].size() - prompt), lp);
      vocab = lp.size();
      for (const float x : lp) flat.push_back(x + running_scores[i]);
    }
    const int length = static_cast<int>(running[0].size() - prompt) + 1;
    const auto top = oracle_topk(flat, keep);
    std::vector<Text> texts;
    std::vector<float> sums;
    std::vector<bool> hits;
    for (const auto index : top) {
      texts.push_back(running[index / vocab]);
      const auto token = static_cast<std::int32_t>(index % vocab);
      texts.back().push_back(token);
      sums.push_back(flat[index]);
      hits.push_back(length >= c.max_new_tokens ||
                     std::find(c.eos.begin(), c.eos.end(), token) != c.eos.end());
    }
    // Running beams.
    std::vector<float> open;
    for (std::size_t i = 0; i < sums.size(); ++i)
      open.push_back(sums[i] + (hits[i] ? -1.0e9f : 0.0f));
    const auto next = oracle_topk(open, b);
    std::vector<Text> new_running;
    std::vector<float> new_running_scores;
    for (const auto i : next) {
      new_running.push_back(texts[i]);
      new_running_scores.push_back(open[i]);
    }
    // Finished beams.
    const auto power = [&](int n) {
      return static_cast<float>(std::pow(static_cast<double>(n), c.length_penalty));
    };
    const bool full = std::all_of(finished.begin(), finished.end(), [](bool x) { return x; });
    std::vector<Text> merged = sequences;
    std::vector<float> merged_scores = scores;
    std::vector<bool> merged_finished = finished;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const bool just = hits[i] && i < b;
      float score = sums[i] / power(length);
      score += (full && c.early_stopping == "true") ? -1.0e9f : 0.0f;
      score += unsatisfied ? 0.0f : -1.0e9f;
      score += just ? 0.0f : -1.0e9f;
      merged.push_back(texts[i]);
      merged_scores.push_back(score);
      merged_finished.push_back(just);
    }
    const auto best = oracle_topk(merged_scores, b);
    for (std::size_t i = 0; i < b; ++i) {
      sequences[i] = merged[best[i]];
      scores[i] = merged_scores[best[i]];
      finished[i] = merged_finished[best[i]];
    }
    running = std::move(new_running);
    running_scores = std::move(new_running_scores);
    // Stop?
    const int hypothetical =
        c.early_stopping == "never" && c.length_penalty > 0 ? c.max_new_tokens : length;
    const float possible = running_scores[0] / power(hypothetical);
    const float lowest = *std::min_element(scores.begin(), scores.end());
    bool any = false;
    for (std::size_t i = 0; i < b; ++i) any = any || possible > (finished[i] ? lowest : -1.0e9f);
    unsatisfied = unsatisfied && any;
    const bool all_finished =
        std::all_of(finished.begin(), finished.end(), [](bool x) { return x; });
    const bool all_hit = std::all_of(hits.begin(), hits.end(), [](bool x) { return x; });
    if (!unsatisfied || (all_finished && c.early_stopping == "true") || all_hit) break;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.num_return_sequences) && i < b; ++i)
    if (finished[i])
      run.sequences.push_back(
          {{sequences[i].begin() + static_cast<std::ptrdiff_t>(prompt), sequences[i].end()},
           scores[i]});
  return run;
}

}  // namespace triescope::test
