// Drafting methods against greedy decoding.
#include <algorithm>
#include <map>

#include "app/bench/bench_spec.h"
#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"

namespace triescope::app {
namespace {

struct DraftSums {
  double emitted = 0, decoded = 0;  // tokens; those after prefill
  double forwards = 0, steps = 0, accepted = 0;
  double ms = 0, decode_ms = 0, draft = 0, forward = 0, accept = 0, other = 0;
  int prompts = 0, equal = 0;

  void add(const RunResult& result, bool is_equal) {
    ++prompts;
    equal += is_equal;
    emitted += static_cast<double>(result.emitted_tokens);
    decoded += static_cast<double>(result.emitted_tokens - result.prefill_tokens);
    forwards += static_cast<double>(result.target_forwards);
    steps += static_cast<double>(result.steps - 1);  // prefill has no phases' times
    for (std::size_t k = 0; k < result.accepted_histogram.size(); ++k)
      accepted += static_cast<double>(k) * static_cast<double>(result.accepted_histogram[k]);
    ms += result.time.prefill_ms + result.time.decode_ms;
    decode_ms += result.time.decode_ms;
    draft += result.time.draft_ms;
    forward += result.time.forward_ms;
    accept += result.time.accept_ms;
    other += result.time.commit_ms + result.time.observe_ms;
  }
  double rate() const { return ms > 0 ? 1000 * emitted / ms : 0; }
  double decode_rate() const { return decode_ms > 0 ? 1000 * decoded / decode_ms : 0; }
};

double over(double value, double baseline) { return baseline > 0 ? value / baseline : 0; }

}  // namespace

std::vector<DraftCost> measure_drafting(Model& model, const Tokenizer& tokenizer,
                                        const std::vector<BenchPrompt>& prompts,
                                        const DraftBenchOptions& options,
                                        const ProgressSink& progress) {
  static const std::string kAll = "all";
  std::map<std::pair<std::string, std::size_t>, DraftSums> sums;  // (category, method)
  std::vector<std::string> categories;
  double done = 0;
  const double total = static_cast<double>(prompts.size() * options.methods.size());
  for (const BenchPrompt& prompt : prompts) {
    if (std::find(categories.begin(), categories.end(), prompt.category) == categories.end())
      categories.push_back(prompt.category);
    const std::vector<std::int32_t> tokens =
        bench_tokens(tokenizer, prompt, options.max_prompt_tokens);
    RunResult plain;
    for (std::size_t m = 0; m < options.methods.size(); ++m) {
      RunConfig config;
      const BenchSpec spec = bench_spec(options.methods[m].method);
      config.method = spec.method;
      config.settings = spec.settings;
      config.prompt_tokens = tokens;
      config.max_new_tokens = options.max_new_tokens;
      config.draft = options.methods[m].draft;
      const RunResult result = run_once(model, tokenizer, std::move(config));
      if (m == 0) plain = result;
      sums[{prompt.category, m}].add(result, same_tokens(result, plain));
      if (prompt.category != kAll) sums[{kAll, m}].add(result, same_tokens(result, plain));
      if (progress) progress("drafting", ++done, total);
    }
  }
  if (categories.size() > 1 &&
      std::find(categories.begin(), categories.end(), kAll) == categories.end())
    categories.push_back(kAll);
  std::vector<DraftCost> table;
  for (const std::string& category : categories) {
    const DraftSums& plain = sums[{category, 0}];
    for (std::size_t m = 0; m < options.methods.size(); ++m) {
      const DraftSums& sum = sums[{category, m}];
      DraftCost row;
      row.method = options.methods[m].method;
      row.companion = options.methods[m].companion;
      row.category = category;
      row.prompts = sum.prompts;
      row.equal = sum.equal;
      const double steps = std::max(1.0, sum.steps);
      row.tokens_per_forward = over(sum.emitted, sum.forwards);
      row.accepted_per_step = sum.accepted / steps;
      row.tokens_per_second = sum.rate();
      row.speedup = over(sum.rate(), plain.rate());
      row.decode_speedup = over(sum.decode_rate(), plain.decode_rate());
      row.draft_ms = sum.draft / steps;
      row.forward_ms = sum.forward / steps;
      row.accept_ms = sum.accept / steps;
      row.other_ms = sum.other / steps;
      table.push_back(row);
    }
  }
  return table;
}

}  // namespace triescope::app
