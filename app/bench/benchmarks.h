// Benchmarks: what `triescope bench` measures. Everything is timed on the loaded model, with the
// variants alternating within one run; figures are medians or means over prompts, as noted. Times
// are wall time in ms; a speedup is the ratio of summed times over the same prompts, prefill
// included.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/bench/prompts.h"
#include "app/session/loaded_model.h"
#include "core/base/log.h"
#include "core/session/session.h"

namespace triescope::app {

// How a model opens and decodes greedily, without a recorder, after meaningless tokens.
struct ModelCost {
  std::string name, family;
  double load_ms = 0;             // tokenizer included
  std::int64_t weights = 0;       // in bytes, in memory
  std::int64_t weights_read = 0;  // of a mixture: those that a row reads; else all
  int prompt_tokens = 0, emitted = 0;
  double prefill_per_second = 0, tokens_per_second = 0;  // in tokens; of the second of two runs
  // The largest difference of a logit after the prompt from the reference kernels' (libtorch's
  // plain operations) in the same dtype.
  double logits_difference = 0;
};
// Each model is alone in memory, twice: the reference is loaded when the other is gone. Errors:
// those of load_model, load_tokenizer and Session.
std::vector<ModelCost> measure_models(const std::vector<std::string>& paths,
                                      const LoadOptions& options, int prompt_tokens,
                                      int max_new_tokens, const ProgressSink& progress);

// One forward over `rows` rows that share a prompt.
struct ForwardCost {
  int rows = 0, prompt_tokens = 0;
  double ms = 0;        // median
  double over_one = 0;  // ratio to one row
};
std::vector<ForwardCost> measure_forward_rows(Model& model, int prompt_tokens,
                                              const std::vector<int>& rows, int repeats,
                                              const ProgressSink& progress);

// Beam search by KV policy.
struct BeamCost {
  int num_beams = 0, max_new_tokens = 0;
  std::string policy;
  int prompts = 0;
  double prompt_tokens = 0;      // mean
  double tokens_per_second = 0;  // one beam's tokens after prefill by decode time, over all prompts
  double ms_per_step = 0;        // for decode steps
  // KV tokens, mean over prompts.
  double peak_live = 0, peak_reserved = 0, peak_garbage = 0, moved = 0;
  // The most tokens held at once, live and garbage, over what batch beam search holds; the mean of
  // the prompts' ratios.
  double over_batch = 0;
  double saved = 0;  // the most tokens that batch beam search holds, less the most that this holds
  // Steps that moved KV or let garbage go, mean over prompts (recycle frees in every step), and the mean
  // time of their commit phase and of all forwards, over all prompts; NaN where there was none.
  double collections = 0, gc_ms = 0, forward_ms = 0;
  bool equal_to_batch = true;              // the same tokens for every prompt
  std::vector<capture::MemoryRow> memory;  // of the first prompt: the target's KV by step
};
struct BeamBenchOptions {
  std::vector<int> num_beams = {3, 6, 9, 15};
  std::vector<int> lengths = {64};
  int max_prompt_tokens = 1024;
};
std::vector<BeamCost> measure_beams(Model& model, const Tokenizer& tokenizer,
                                    const std::vector<BenchPrompt>& prompts,
                                    const BeamBenchOptions& options, const ProgressSink& progress);

// Drafting methods against greedy decoding, by category of prompts, and over all of them (category
// "all") where there are several.
struct DraftCost {
  std::string method, category, companion;
  int prompts = 0;
  double tokens_per_forward = 0;  // emitted / target forwards
  double accepted_per_step = 0;   // drafts that became text / steps after prefill
  double tokens_per_second = 0;   // emitted / (prefill + decode)
  double speedup = 0;             // over greedy on the same prompts
  double decode_speedup = 0;      // the same without prefill
  double draft_ms = 0, forward_ms = 0, accept_ms = 0, other_ms = 0;  // a step, mean
  int equal = 0;  // number of prompts whose text is greedy's
};
// A row of the table: a method with parameters ("eagle2:draft_tokens=20:draft_levels=4"), and what
// drafts for it.
struct DraftBenchMethod {
  std::string method;
  DraftWith draft = {};
  std::string companion = {};  // as the user named it; "" = none
};
// A draft model or head that stays loaded while it is measured.
struct BenchCompanion {
  std::string name;  // path or short name
  LoadedDraft loaded = {};
  DraftWith draft = {};
};
// Checks both lists as load_companions and bench_methods take them, before anything is loaded.
// Errors: those of resolve_draft, find_method and validate_settings; kInvalidArgument: a method
// needs a draft model or head and none is named.
void check_bench_names(const std::vector<std::string>& methods,
                       const std::vector<std::string>& companions);
// Loads each of them beside the target. Errors: those of draft_for.
std::vector<BenchCompanion> load_companions(const std::vector<std::string>& names,
                                            const LoadedModel& target,
                                            const ProgressSink& progress);
// The table's rows, greedy first: each method of `methods` with every companion that it takes. An
// empty list stands for the n-gram trie (32 drafts are the paper's), prompt lookup, and all methods
// that take a companion. Errors: those of find_method; kInvalidArgument: a method that needs a
// companion and finds none.
std::vector<DraftBenchMethod> bench_methods(const std::vector<std::string>& methods,
                                            const std::vector<BenchCompanion>& companions);
struct DraftBenchOptions {
  std::vector<DraftBenchMethod> methods;  // the first is the baseline
  int max_new_tokens = 96;
  int max_prompt_tokens = 1024;
};
std::vector<DraftCost> measure_drafting(Model& model, const Tokenizer& tokenizer,
                                        const std::vector<BenchPrompt>& prompts,
                                        const DraftBenchOptions& options,
                                        const ProgressSink& progress);

// How each sampler of core/sampling/samplers.h draws one token from a distribution.
struct SamplerCost {
  std::string sampler;
  int vocabulary = 0;
  // Time from logits to a token, with softmax and the sampler's tables, and for one more token from
  // the same distribution. Medians.
  double first_us = 0, next_us = 0;
};
// REQUIRES: logits [vocab], some of them finite; repeats >= 1.
std::vector<SamplerCost> measure_samplers(std::span<const float> logits, int repeats,
                                          const ProgressSink& progress);

// The cost of recording: trie beam search over the prompts without a recorder and with one at each
// level of detail, writing to a file in the system's temporary folder.
struct RecordingCost {
  std::string level;  // "off", "steps", "tree", "full"
  int num_beams = 0, prompts = 0, steps = 0;
  double ms_per_step = 0;     // wall time of decoding, closing the capture included
  double over_off = 0;        // median over the pairs (prompt, repeat) of the ratio to "off"
  double bytes_per_step = 0;  // the capture's
};
struct RecordingBenchOptions {
  int num_beams = 9, max_new_tokens = 64, max_prompt_tokens = 1024, repeats = 2;
};
std::vector<RecordingCost> measure_recording(Model& model, const Tokenizer& tokenizer,
                                             const std::vector<BenchPrompt>& prompts,
                                             const RecordingBenchOptions& options,
                                             const ProgressSink& progress);

}  // namespace triescope::app
