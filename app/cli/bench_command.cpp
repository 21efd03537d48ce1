// `triescope bench`: the benchmark tables.
#include "app/cli/bench_options.h"
#include "app/cli/commands.h"

namespace triescope::app {

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
      "models, rows, beams, drafts, recording, samplers (several with commas); default: all "
      "these; or spec: drafting methods by task, as papers report them");
  command
      ->add_option(
          "--prompts", options->prompts,
          "prompts as .jsonl (Spec-Bench's question.jsonl, HumanEval.jsonl), several times "
          "for more; default: five of our own")
      ->allow_extra_args(false)
      ->check(file_name());
  command->add_option("--categories", options->categories,
                      "of the prompts, with commas; default: all");
  command->add_option("--per-category", options->per_category, "prompts of each category or task")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--beams", options->beams, "beam widths")->capture_default_str();
  command->add_option("--lengths", options->lengths, "max_new_tokens of the beam table")
      ->capture_default_str();
  command
      ->add_option("--max-new-tokens", options->max_new_tokens, "of the drafting table and of spec")
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
  command
      ->add_option("--sweep", options->sweeps,
                   "of spec: a method over one or two settings, ngram_trie:num_draft=8,16,32:"
                   "prefix_length=2,3; or standard; several times for more")
      ->allow_extra_args(false);
  const CLI::Option* const folder =
      command->add_option("-o", options->folder, "of spec: the folder that keeps its runs")
          ->check(file_name())
          ->capture_default_str();
  command
      ->add_option("--plots", options->plots,
                   "of spec and beams: write plots into this folder, as SVG, PDF and CSV")
      ->check(file_name());
  auto* as_json = command->add_flag("--json", options->as_json, "as JSON");
  command->add_flag("--csv", options->as_csv, "as CSV")->excludes(as_json);
  command->callback([options, folder, &line] {
    options->folder_given = folder->count() > 0;
    line.action = [options, &line] { return run_bench(*options, line.quiet); };
  });
}

}  // namespace triescope::app
