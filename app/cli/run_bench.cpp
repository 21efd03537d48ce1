// The benchmarks of `triescope bench`, and their tables.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"
#include "app/cli/bench_beams.h"
#include "app/cli/bench_options.h"
#include "app/cli/bench_output.h"
#include "app/cli/bench_spec.h"
#include "app/cli/terminal.h"
#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "app/session/loaded_model.h"
#include "app/session/text_tools.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/kernels/cpu_variant.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

std::vector<int> positive_numbers(const std::string& option, const std::string& text) {
  const std::vector<std::int32_t> ids = parse_ids(text);
  for (const std::int32_t value : ids)
    if (value < 1)
      throw Error(ErrorCode::kInvalidArgument,
                  option + ": expected numbers of at least 1, found " + std::to_string(value));
  if (ids.empty())
    throw Error(ErrorCode::kInvalidArgument,
                option + ": expected numbers separated by commas, found nothing");
  return {ids.begin(), ids.end()};
}

SpecBench spec_bench(const BenchOptions& options, bool quiet) {
  if (options.models.size() > 1)
    throw Error(ErrorCode::kInvalidArgument, "--only spec: expected one --model, found " +
                                                 std::to_string(options.models.size()));
  SpecBench bench;
  bench.plan.model = options.models.empty() ? "" : options.models.front();
  bench.plan.device = options.device;
  if (!options.dtype.empty()) bench.plan.dtype = dtype_from_string(options.dtype);
  bench.plan.threads = options.threads;
  bench.plan.methods = listed_names(options.methods);
  bench.plan.sweeps = options.sweeps;
  bench.plan.drafts = options.companions;
  bench.plan.prompts =
      spec_prompts(options.prompts, listed_names(options.categories), options.per_category);
  bench.plan.max_new_tokens = options.max_new_tokens;
  bench.prompt_files = options.prompts;
  bench.folder = options.folder;
  bench.plots = options.plots;
  bench.as_json = options.as_json;
  bench.as_csv = options.as_csv;
  bench.quiet = quiet;
  return bench;
}

}  // namespace

int run_bench(const BenchOptions& options, bool quiet) {
  const std::vector<std::string> only = listed_names(options.only);
  if (only == std::vector<std::string>{"spec"}) return run_spec_bench(spec_bench(options, quiet));
  for (const std::string& name : only)
    if (name != "models" && name != "rows" && name != "beams" && name != "drafts" &&
        name != "recording" && name != "samplers")
      throw Error(ErrorCode::kInvalidArgument,
                  "--only: expected models, rows, beams, drafts, recording, samplers or several of "
                  "them, or spec alone, found '" +
                      name + "'");
  if (!options.plots.empty() && !only.empty() &&
      std::find(only.begin(), only.end(), "beams") == only.end())
    throw Error(ErrorCode::kInvalidArgument, "--plots: goes with --only spec or beams");
  for (const auto& [name, is_given] :
       {std::pair("--sweep", !options.sweeps.empty()), std::pair("-o", options.folder_given)})
    if (is_given)
      throw Error(ErrorCode::kInvalidArgument, std::string(name) + ": goes with --only spec");
  const auto wanted = [&](const char* name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  BeamBenchOptions beam_options;
  beam_options.num_beams = positive_numbers("--beams", options.beams);
  beam_options.lengths = positive_numbers("--lengths", options.lengths);
  beam_options.max_prompt_tokens = options.max_prompt_tokens;
  DraftBenchOptions draft_options;
  draft_options.max_new_tokens = options.max_new_tokens;
  draft_options.max_prompt_tokens = options.max_prompt_tokens;

  const std::vector<std::string> methods = listed_names(options.methods);
  check_bench_names(methods, options.companions);

  std::vector<BenchPrompt> prompts;
  if (options.prompts.empty()) prompts = builtin_bench_prompts();
  for (const std::string& file : options.prompts)
    for (BenchPrompt& prompt :
         read_bench_prompts(file, listed_names(options.categories), options.per_category))
      prompts.push_back(std::move(prompt));
  const ProgressSink progress = terminal_progress(quiet);
  std::vector<std::string> paths;
  for (const std::string& name : options.models) paths.push_back(resolve_model(name));
  if (paths.empty()) paths.push_back(resolve_model(""));
  LoadOptions load;
  load.device = options.device;
  load.dtype =
      options.dtype.empty() ? default_dtype(options.device) : dtype_from_string(options.dtype);
  load.threads = options.threads;

  ordered_json model_table = ordered_json::array();
  if (wanted("models")) {
    for (const ModelCost& cost : measure_models(paths, load, 128, options.max_new_tokens, progress))
      model_table.push_back({{"name", cost.name},
                             {"family", cost.family},
                             {"load_ms", cost.load_ms},
                             {"weights_mb", static_cast<double>(cost.weights) / 1e6},
                             {"read_mb", static_cast<double>(cost.weights_read) / 1e6},
                             {"prompt_tokens", cost.prompt_tokens},
                             {"prefill_per_second", cost.prefill_per_second},
                             {"emitted", cost.emitted},
                             {"tokens_per_second", cost.tokens_per_second},
                             {"logits_difference", cost.logits_difference}});
  }
  LoadedModel target;
  target.load(paths.front(), load, progress, {});
  Model* const model = target.model.get();
  const Tokenizer* const tokenizer = target.tokenizer.get();
  const std::vector<BenchCompanion> companions =
      load_companions(options.companions, target, progress);
  draft_options.methods = bench_methods(methods, companions);

  ordered_json forward_table = ordered_json::array(), draft_table = ordered_json::array(),
               recording_table = ordered_json::array(), sampler_table = ordered_json::array();
  if (wanted("rows")) {
    for (const ForwardCost& cost : measure_forward_rows(
             *model, 128, {1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32}, options.repeats, progress))
      forward_table.push_back({{"rows", cost.rows},
                               {"prompt_tokens", cost.prompt_tokens},
                               {"ms", cost.ms},
                               {"over_one_row", cost.over_one}});
  }
  std::vector<BeamCost> beam_costs;
  if (wanted("beams"))
    beam_costs = measure_beams(*model, *tokenizer, prompts, beam_options, progress);
  const ordered_json beams = beam_table(beam_costs), overlaps = overlap_table(beam_costs);
  if (wanted("drafts")) {
    for (const DraftCost& cost :
         measure_drafting(*model, *tokenizer, prompts, draft_options, progress))
      draft_table.push_back({{"category", cost.category},
                             {"method", cost.method},
                             {"draft", cost.companion},
                             {"prompts", cost.prompts},
                             {"tokens_per_forward", cost.tokens_per_forward},
                             {"accepted_per_step", cost.accepted_per_step},
                             {"tokens_per_second", cost.tokens_per_second},
                             {"speedup", cost.speedup},
                             {"decode_speedup", cost.decode_speedup},
                             {"draft_ms", cost.draft_ms},
                             {"forward_ms", cost.forward_ms},
                             {"accept_ms", cost.accept_ms},
                             {"other_ms", cost.other_ms},
                             {"equal_to_greedy", cost.equal}});
  }
  if (wanted("recording")) {
    RecordingBenchOptions recording;
    recording.max_prompt_tokens = options.max_prompt_tokens;
    for (const RecordingCost& cost :
         measure_recording(*model, *tokenizer, prompts, recording, progress))
      recording_table.push_back({{"level", cost.level},
                                 {"num_beams", cost.num_beams},
                                 {"prompts", cost.prompts},
                                 {"steps", cost.steps},
                                 {"ms_per_step", cost.ms_per_step},
                                 {"over_off", cost.over_off},
                                 {"bytes_per_step", cost.bytes_per_step}});
  }
  if (wanted("samplers")) {
    const std::vector<float> logits =
        logits_after(*model, bench_tokens(*tokenizer, prompts.front(), options.max_prompt_tokens));
    for (const SamplerCost& cost : measure_samplers(logits, options.repeats, progress))
      sampler_table.push_back({{"sampler", cost.sampler},
                               {"vocabulary", cost.vocabulary},
                               {"first_us", cost.first_us},
                               {"next_us", cost.next_us}});
  }
  const ModelInfo& info = model->info();
  const std::string instruction_set = kernels::to_string(kernels::current_variant());
  if (options.as_json) {
    ordered_json all = {
        {"model", {{"name", info.name}, {"dtype", to_string(info.dtype)}, {"device", info.device}}},
        {"instruction_set", instruction_set},
        {"versions", versions()},
        {"models", model_table},
        {"forward_rows", forward_table},
        {"beams", beams},
        {"overlaps", overlaps},
        {"overlap", overlap_summary(overlaps)},
        {"drafts", draft_table},
        {"recording", recording_table},
        {"samplers", sampler_table}};
    std::cout << dump_json(all, 2) << "\n";
  } else if (options.as_csv) {
    print_csv("models", model_table);
    print_csv("forward_rows", forward_table);
    print_csv("beams", beams);
    print_csv("overlaps", overlaps);
    print_csv("drafts", draft_table);
    print_csv("recording", recording_table);
    print_csv("samplers", sampler_table);
  } else {
    std::cout << info.name << ", " << to_string(info.dtype) << ", " << info.device << ", "
              << instruction_set << ", " << prompts.size() << " prompts\n\n";
    if (wanted("models"))
      print_table(
          "Models, greedy (tokens a second; weights in memory, and of a mixture those that one row reads; "
          "largest difference of a logit to libtorch's plain operations)",
          model_table);
    if (wanted("rows")) print_table("One forward over several rows (median)", forward_table);
    if (wanted("beams")) {
      print_table("Beam search by KV policy (KV in tokens, mean of the peaks)", beams);
      print_table("KV of trie search over batch search's (overlap), tokens saved, and collection",
                  overlaps);
      print_overlap(overlap_summary(overlaps));
    }
    if (wanted("drafts"))
      print_table(
          "Drafting methods against greedy (times per step in ms; speedup with prefill and "
          "without)",
          draft_table);
    if (wanted("recording"))
      print_table("Recording a capture by level of detail (over_off: ratio to no recording)",
                  recording_table);
    if (wanted("samplers"))
      print_table("One token drawn from the model's logits (median; next: from the same logits)",
                  sampler_table);
  }
  if (!options.plots.empty())
    write_bench_plots(beam_plots(beam_costs), options.plots, paths.front(),
                      counted(prompts.size(), "prompt"), quiet);
  return 0;
}

}  // namespace triescope::app
