// Shared by the benchmarks: runs on a loaded model, and the prompts with which they begin.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "app/bench/prompts.h"
#include "core/capture/recorder.h"
#include "core/session/session.h"

namespace triescope::app {

using BenchClock = std::chrono::steady_clock;

double ms_since(BenchClock::time_point start);
// The upper of the two middle values of an even number; 0 for an empty list.
double median(std::vector<double> values);

RunResult run_recorded(Model& model, const Tokenizer& tokenizer, RunConfig config,
                       capture::Recorder& recorder);
RunResult run_once(Model& model, const Tokenizer& tokenizer, RunConfig config);

// The prompt in the model's chat format, if it has one, without its middle if it is too long.
std::vector<std::int32_t> bench_tokens(const Tokenizer& tokenizer, const BenchPrompt& prompt,
                                       int max_tokens);
// Meaningless tokens, spread over the vocabulary.
std::vector<std::int32_t> spread_tokens(int count, int vocabulary);

// Puts position i into slots[i] = i, and returns the logits of the last one.
std::vector<float> prefill(Model& model, KvStorage& kv, std::span<const std::int32_t> tokens,
                           std::span<const std::int32_t> slots);
// The same, with storage of its own.
std::vector<float> logits_after(Model& model, std::span<const std::int32_t> tokens);

// Whether the sequences are the same, token for token.
bool same_tokens(const RunResult& a, const RunResult& b);

}  // namespace triescope::app
