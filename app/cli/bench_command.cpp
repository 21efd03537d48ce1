// `triescope bench`: the benchmark tables.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "app/bench/benchmarks.h"
#include "app/bench/runs.h"
#include "app/cli/commands.h"
#include "app/cli/terminal.h"
#include "app/session/catalog.h"
#include "app/session/device_choice.h"
#include "app/session/loaded_model.h"
#include "app/session/text_tools.h"
#include "core/base/error.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

struct BenchOptions {
  std::vector<std::string> models, companions;
  std::string device = "cpu", dtype, prompts, categories, only, methods, beams = "3,6,9,15",
              lengths = "64";
  int per_category = 2, max_new_tokens = 96, max_prompt_tokens = 1024, repeats = 15, threads = 0;
  bool as_json = false, as_csv = false;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

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

// A table as text: columns as wide as their widest cell.
void print_table(const std::string& title, const ordered_json& rows) {
  std::cout << title << "\n";
  if (rows.empty()) return;
  std::vector<std::string> columns;
  for (const auto& [key, value] : rows[0].items()) columns.push_back(key);
  const auto cell = [](const ordered_json& value) -> std::string {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_number_float()) return value.dump();
    char text[32];
    const double number = value.get<double>();
    std::snprintf(text, sizeof text, number != 0 && std::abs(number) < 0.005 ? "%.1e" : "%.2f",
                  number);
    return text;
  };
  for (std::size_t row = 0; row <= rows.size(); ++row) {
    for (const std::string& column : columns) {
      std::size_t width = column.size();
      for (const ordered_json& entry : rows) width = std::max(width, cell(entry[column]).size());
      const std::string text = row == 0 ? column : cell(rows[row - 1][column]);
      std::cout << "  " << std::string(width - text.size(), ' ') << text;
    }
    std::cout << "\n";
  }
  std::cout << "\n";
}

void print_csv(const std::string& table, const ordered_json& rows) {
  if (rows.empty()) return;
  std::cout << "table";
  for (const auto& [key, value] : rows[0].items()) std::cout << "," << key;
  std::cout << "\n";
  for (const ordered_json& row : rows) {
    std::cout << table;
    for (const auto& [key, value] : row.items()) std::cout << "," << json_text(value);
    std::cout << "\n";
  }
}

int run_bench(const BenchOptions& options, bool quiet) {
  const std::vector<std::string> only = split(options.only);
  for (const std::string& name : only)
    if (name != "models" && name != "rows" && name != "beams" && name != "drafts" &&
        name != "recording" && name != "samplers")
      throw Error(ErrorCode::kInvalidArgument,
                  "--only: expected models, rows, beams, drafts, recording, samplers or several of "
                  "them, found '" +
                      name + "'");
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

  const std::vector<std::string> methods = split(options.methods);
  check_bench_names(methods, options.companions);

  const std::vector<BenchPrompt> prompts =
      options.prompts.empty()
          ? builtin_bench_prompts()
          : read_bench_prompts(options.prompts, split(options.categories), options.per_category);
  const ProgressSink progress = terminal_progress(quiet);
  std::vector<std::string> paths;
  for (const std::string& name : options.models) paths.push_back(resolve_model(name));
  if (paths.empty()) paths.push_back(resolve_model(""));
  LoadOptions load;
  load.device = options.device;
  load.dtype =
      options.dtype.empty() ? default_dtype(options.device) : dtype_from_string(options.dtype);
  load.threads = options.threads;

  using ordered = ordered_json;
  ordered model_table = ordered::array();
  if (wanted("models")) {
    for (const ModelCost& cost : measure_models(paths, load, 128, options.max_new_tokens, progress))
      model_table.push_back({{"name", cost.name},
                             {"family", cost.family},
                             {"load_ms", cost.load_ms},
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

  ordered forward_table = ordered::array(), beam_table = ordered::array(),
          draft_table = ordered::array(), recording_table = ordered::array(),
          sampler_table = ordered::array();
  if (wanted("rows")) {
    for (const ForwardCost& cost : measure_forward_rows(
             *model, 128, {1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32}, options.repeats, progress))
      forward_table.push_back({{"rows", cost.rows},
                               {"prompt_tokens", cost.prompt_tokens},
                               {"ms", cost.ms},
                               {"over_one_row", cost.over_one}});
  }
  if (wanted("beams")) {
    for (const BeamCost& cost : measure_beams(*model, *tokenizer, prompts, beam_options, progress))
      beam_table.push_back({{"num_beams", cost.num_beams},
                            {"max_new_tokens", cost.max_new_tokens},
                            {"kv", cost.policy},
                            {"prompts", cost.prompts},
                            {"prompt_tokens", cost.prompt_tokens},
                            {"tokens_per_second", cost.tokens_per_second},
                            {"ms_per_step", cost.ms_per_step},
                            {"peak_live_tokens", cost.peak_live},
                            {"peak_garbage_tokens", cost.peak_garbage},
                            {"reserved_tokens", cost.peak_reserved},
                            {"moved_tokens", cost.moved},
                            {"kv_over_batch", cost.over_batch},
                            {"equal_to_batch", cost.equal_to_batch}});
  }
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
  if (options.as_json) {
    ordered all = {
        {"model", {{"name", info.name}, {"dtype", to_string(info.dtype)}, {"device", info.device}}},
        {"versions", versions()},
        {"models", model_table},
        {"forward_rows", forward_table},
        {"beams", beam_table},
        {"drafts", draft_table},
        {"recording", recording_table},
        {"samplers", sampler_table}};
    std::cout << all.dump(2) << "\n";
  } else if (options.as_csv) {
    print_csv("models", model_table);
    print_csv("forward_rows", forward_table);
    print_csv("beams", beam_table);
    print_csv("drafts", draft_table);
    print_csv("recording", recording_table);
    print_csv("samplers", sampler_table);
  } else {
    std::cout << info.name << ", " << to_string(info.dtype) << ", " << info.device << ", "
              << prompts.size() << " prompts\n\n";
    if (wanted("models"))
      print_table(
          "Models, greedy (tokens a second; largest difference of a logit to libtorch's plain "
          "operations)",
          model_table);
    if (wanted("rows")) print_table("One forward over several rows (median)", forward_table);
    if (wanted("beams"))
      print_table("Beam search by KV policy (KV in tokens, mean of the peaks)", beam_table);
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
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = root.add_subcommand(
      "bench", "the benchmark tables: speed and memory by method, beams, length");
  command
      ->add_option("--model", options->models,
                   "Hugging Face directory, .gguf file, or a short name; repeat it for more "
                   "rows in the table of models")
      ->allow_extra_args(false);
  command
      ->add_option("--draft", options->companions,
                   "draft model or draft head: adds rows for the methods that take it to the "
                   "drafting table; repeat it for more")
      ->allow_extra_args(false);
  command->add_option(
      "--methods", options->methods,
      "of the drafting table beside greedy, with commas and parameters: "
      "prompt_lookup,eagle2:draft_tokens=20; default: n-gram trie, prompt lookup, what takes --draft");
  command->add_option("--device", options->device, "cpu, cuda, cuda:1")->capture_default_str();
  command->add_option("--dtype", options->dtype,
                      "f32, bf16, f16 (default: f32 on a CPU, bf16 on a GPU)");
  command->add_option("--threads", options->threads, "CPU threads; 0 = all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option(
      "--only", options->only,
      "models, rows, beams, drafts, recording, samplers (several with commas); default: "
      "all");
  command
      ->add_option("--prompts", options->prompts,
                   "prompts as .jsonl (Spec-Bench's format); default: five of our own")
      ->check(file_name());
  command->add_option("--categories", options->categories,
                      "of the prompts, with commas; default: all");
  command->add_option("--per-category", options->per_category, "prompts of each category")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--beams", options->beams, "beam widths")->capture_default_str();
  command->add_option("--lengths", options->lengths, "max_new_tokens of the beam table")
      ->capture_default_str();
  command->add_option("--max-new-tokens", options->max_new_tokens, "of the drafting table")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--max-prompt-tokens", options->max_prompt_tokens,
                   "longer prompts lose their middle")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  command->add_option("--repeats", options->repeats, "of the row and sampler tables")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  auto* as_json = command->add_flag("--json", options->as_json, "as JSON");
  command->add_flag("--csv", options->as_csv, "as CSV")->excludes(as_json);
  command->callback([options, &line] {
    line.action = [options, &line] { return run_bench(*options, line.quiet); };
  });
}

}  // namespace triescope::app
