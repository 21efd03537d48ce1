// Drafting methods against greedy decoding.
#include <algorithm>
#include <map>

#include "app/bench/bench_spec.h"
#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"

namespace triescope::app {
std::vector<DraftCost> measure_drafting(Model& model, const Tokenizer& tokenizer,
                                        const std::vector<BenchPrompt>& prompts,
                                        const DraftBenchOptions& options,
                                        const ProgressSink& progress) {
  struct Sum {
    double emitted = 0, forwards = 0, steps = 0, ms = 0, draft = 0, forward = 0, accept = 0,
           other = 0;
    int prompts = 0, equal = 0;
  };
  std::map<std::pair<std::string, std::size_t>, Sum> sums;  // (category, method)
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
      Sum& sum = sums[{prompt.category, m}];
      ++sum.prompts;
      sum.equal += same_tokens(result, plain);
      sum.emitted += static_cast<double>(result.emitted_tokens);
      sum.forwards += static_cast<double>(result.target_forwards);
      sum.steps += static_cast<double>(result.steps - 1);  // prefill has no phases' times
      sum.ms += result.time.prefill_ms + result.time.decode_ms;
      sum.draft += result.time.draft_ms;
      sum.forward += result.time.forward_ms;
      sum.accept += result.time.accept_ms;
      sum.other += result.time.commit_ms + result.time.observe_ms;
      if (progress) progress("drafting", ++done, total);
    }
  }
  std::vector<DraftCost> table;
  for (const std::string& category : categories) {
    const Sum& plain = sums[{category, 0}];
    for (std::size_t m = 0; m < options.methods.size(); ++m) {
      const Sum& sum = sums[{category, m}];
      DraftCost row;
      row.method = options.methods[m].method;
      row.companion = options.methods[m].companion;
      row.category = category;
      row.prompts = sum.prompts;
      row.equal = sum.equal;
      row.tokens_per_forward = sum.forwards > 0 ? sum.emitted / sum.forwards : 0;
      row.tokens_per_second = sum.ms > 0 ? 1000 * sum.emitted / sum.ms : 0;
      const double plain_rate = plain.ms > 0 ? 1000 * plain.emitted / plain.ms : 0;
      row.speedup = plain_rate > 0 ? row.tokens_per_second / plain_rate : 0;
      const double steps = std::max(1.0, sum.steps);
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
