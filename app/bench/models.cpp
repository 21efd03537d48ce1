// How fast a model opens and decodes, and how far its logits are from libtorch's.
#include <algorithm>
#include <cmath>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"
#include "app/session/loaded_model.h"
#include "core/model/memory_need.h"

namespace triescope::app {

std::vector<ModelCost> measure_models(const std::vector<std::string>& paths,
                                      const LoadOptions& options, int prompt_tokens,
                                      int max_new_tokens, const ProgressSink& progress) {
  std::vector<ModelCost> table;
  for (const std::string& path : paths) {
    LoadedModel opened;
    const auto start = BenchClock::now();
    opened.load(path, options, progress, {});
    const ModelInfo& info = opened.model->info();
    ModelCost& cost = table.emplace_back();
    cost.load_ms = ms_since(start);
    cost.name = info.name;
    cost.family = info.family;
    cost.weights = memory_need(info, options).weights;
    cost.weights_read = info.experts > 0 ? info.active_bytes : cost.weights;
    cost.prompt_tokens = prompt_tokens;
    const std::vector<std::int32_t> tokens = spread_tokens(prompt_tokens, info.vocab_size);
    const auto first_logits = [&] { return logits_after(*opened.model, tokens); };
    const std::vector<float> logits = first_logits();

    RunConfig config;
    config.method = "greedy";
    config.settings = {{"eos_token_id", {-1}}};  // none, so that every model writes equally much
    config.prompt_tokens = tokens;
    config.max_new_tokens = max_new_tokens;
    run_once(*opened.model, *opened.tokenizer, config);  // warm-up
    const RunResult result = run_once(*opened.model, *opened.tokenizer, config);
    cost.emitted = static_cast<int>(result.emitted_tokens);
    cost.prefill_per_second = 1000 * prompt_tokens / result.time.prefill_ms;
    cost.tokens_per_second = result.tokens_per_second().value_or(0);

    LoadOptions reference = options;
    reference.reference_kernels = true;
    opened.load(path, reference, progress, {});
    const std::vector<float> expected = first_logits();
    for (std::size_t i = 0; i < logits.size(); ++i)
      cost.logits_difference =
          std::max(cost.logits_difference, std::abs(static_cast<double>(logits[i]) - expected[i]));
  }
  return table;
}

}  // namespace triescope::app
