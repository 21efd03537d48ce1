// `triescope cost`: whether drafts pay in a run or a study, at costs measured here or given by the user.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

#include "app/bench/benchmarks.h"
#include "app/cli/commands.h"
#include "app/cli/cost_json.h"
#include "app/cli/output_file.h"
#include "app/cli/study_words.h"
#include "app/cli/terminal.h"
#include "app/session/catalog.h"
#include "app/study/study_chart.h"
#include "app/study/study_cost.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/nearest_name.h"
#include "viz/export/export_picture.h"
#include "viz/export/file_ending.h"
#include "viz/export/run_facts.h"
#include "viz/panels/charts.h"
#include "viz/panels/cost_words.h"
#include "viz/query/step_range.h"

namespace triescope::app {
namespace {

using viz::CostChoice, viz::CostsFrom;

struct CostOptions {
  std::string path, costs = "run", steps, filter, experts, output, format, size, theme = "light";
  double row = -1, dear_row = -1, of_experts = 0.8, round = -1, scale = 1;
  int cheap_rows = 0, threads = 0;
  bool measure = false, as_json = false, as_csv = false;
};

// "8/64" -> the share of a layer's experts that a row chooses.
double chosen_experts(const std::string& text) {
  int chosen = 0, of = 0;
  if (char rest = 0;
      std::sscanf(text.c_str(), "%d/%d%c", &chosen, &of, &rest) == 2 && chosen >= 1 && chosen <= of)
    return static_cast<double>(chosen) / of;
  throw Error(ErrorCode::kInvalidArgument,
              "--experts: expected how many of a layer's experts a row chooses, as 8/64; found '" +
                  text + "'");
}

// The model of the run, loaded as it was and timed with 1 to 17 rows.
viz::ForwardCosts measured_here(const capture::Capture& capture, int threads, bool quiet) {
  const RunRequest request = request_of_run(capture.run(), nullptr);
  const LoadOptions options{.device = request.device,
                            .dtype = request.dtype,
                            .kv_dtype = request.kv_dtype,
                            .threads = threads};
  const auto model = load_model(resolve_model(request.model), options, terminal_progress(quiet));
  std::vector<std::pair<double, double>> points;
  constexpr int kMeasuredPrompt = 128, kMeasuredRepeats = 15;
  for (const ForwardCost& one : measure_forward_rows(*model, kMeasuredPrompt, {1, 2, 3, 5, 9, 17},
                                                     kMeasuredRepeats, terminal_progress(quiet)))
    points.emplace_back(one.rows, one.over_one);
  if (!quiet) clear_progress();
  return viz::ForwardCosts(points);
}

CostChoice choice_of(const CostOptions& options) {
  CostChoice choice;
  const auto from = viz::costs_from_name(options.costs);
  if (!from || *from > CostsFrom::kExperts) {
    const std::vector<std::string> names = {"run", "model", "gpu", "experts"};
    throw Error(ErrorCode::kInvalidArgument,
                "--costs: expected one of run, model, gpu, experts; found '" + options.costs + "'" +
                    did_you_mean(options.costs, names));
  }
  choice.from = *from;
  const bool is_typed = options.row >= 0 || !options.experts.empty() || options.dear_row >= 0;
  if (is_typed) {
    choice.from = CostsFrom::kTyped;
    RowCosts& typed = choice.typed;
    if (options.row >= 0) typed.second_row = typed.cheap_row = typed.dear_row = options.row;
    if (options.cheap_rows > 0) typed.cheap_rows = options.cheap_rows;
    if (options.dear_row >= 0) typed.dear_row = options.dear_row;
    if (!options.experts.empty()) {
      typed.chosen = chosen_experts(options.experts);
      typed.of_experts = options.of_experts;
    }
  }
  if (options.round >= 0) choice.round = options.round;
  return choice;
}

viz::ExportOptions export_options(const CostOptions& options) {
  viz::ExportOptions out = picture_options(options.output, options.size, options.format);
  viz::check_file_ending(options.output, viz::name_of(out.format));
  out.theme = viz::theme_name_from_string(options.theme);
  out.scale = static_cast<float>(options.scale);
  return out;
}

// The series, and how they came to be.
struct Answer {
  std::vector<viz::CostSeries> series;
  viz::Facts facts;
  std::string created;
};

Answer answer_of_run(const CostOptions& options, CostChoice choice, bool quiet) {
  check_is_of_study(options.filter);
  const auto capture = capture::Capture::open(options.path);
  viz::StepRange range;
  if (!options.steps.empty()) range = parse_steps(options.steps, *capture);
  auto facts = viz::speculation_facts(*capture, capture->end_tick(), range);
  if (!facts || facts->drafting == 0)
    throw Error(
        ErrorCode::kInvalidArgument,
        options.path +
            ": expected a run of a drafting method with verified drafts; found none. Decode "
            "with one, prompt_lookup for example, and --capture-level tree or full");
  if (options.measure) {
    choice.measured = measured_here(*capture, options.threads, quiet);
    choice.from = CostsFrom::kMeasured;
  }
  const std::string& title = capture->run().method_title;
  Answer answer;
  answer.series = {
      {.name = title.empty() ? capture->run().method : title,
       .model = viz::cost_model(std::move(*facts), choice, viz::recorded_row_costs(*capture))}};
  answer.facts = viz::run_facts(*capture);
  answer.facts.insert(answer.facts.begin(), {"Title", "Worth it, " + capture->run().method});
  answer.created = capture->run().created_utc;
  return answer;
}

Answer answer_of_study(const CostOptions& options, CostChoice choice, bool quiet) {
  if (!options.steps.empty())
    throw Error(ErrorCode::kInvalidArgument, "--steps: goes with one capture, not with a study");
  StudyStore store(options.path, /*writes=*/false);
  const std::vector<StudyRow> rows = store.rows();
  if (options.measure) {
    const auto capture = capture::Capture::open(first_capture(options.path, rows));
    choice.measured = measured_here(*capture, options.threads, quiet);
    choice.from = CostsFrom::kMeasured;
  }
  StudyCost cost = study_cost(
      options.path, rows, {.where = options.filter, .baseline = store.fact("baseline")}, choice);
  StudyProvenance made = study_provenance(options.path, rows, store.fact("title"), "Worth it");
  return {std::move(cost.series), std::move(made.facts), std::move(made.created)};
}

int print_answer(const CostOptions& options, const Answer& answer,
                 const std::optional<viz::ExportOptions>& picture, bool quiet) {
  if (picture) {
    const auto chart = viz::make_cost_picture(answer.series);
    OutputFile file(options.output);
    viz::export_picture(*chart, answer.facts, answer.created, file.path(), *picture);
    file.finish(quiet);
  }
  if (options.as_csv)
    std::cout << viz::cost_csv(answer.series);
  else if (options.as_json)
    std::cout << dump_json(cost_json(answer.series), 2) << "\n";
  else if (options.output != "-") {
    for (const viz::CostSeries& one : answer.series)
      std::cout << viz::worth_sentence(one) << "\n  " << viz::needs_sentence(one.model) << "\n";
    std::cout << viz::costs_sentence(answer.series.front().model) << "\n";
  }
  return 0;
}

}  // namespace

void add_cost_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<CostOptions>();
  CLI::App* command = root.add_subcommand(
      "cost", "whether drafts pay: tokens of a step against its cost, and how many would pay best");
  command->add_option("PATH", options->path, ".tscap file, or the folder of a study")
      ->required()
      ->check(file_name());
  command
      ->add_option(
          "--costs", options->costs,
          "run (the times of its own forwards), model (the costs by which drafting methods "
          "decide), gpu, or experts (a mixture of experts on a GPU)")
      ->capture_default_str();
  auto* measure = command->add_flag(
      "--measure", options->measure,
      "load the run's model and time its forwards with 1 to 17 rows; nothing else should run");
  command->add_option("--threads", options->threads, "for --measure; 0 = all cores")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option("--row", options->row,
                   "what each row after the first costs, in forwards of one row")
      ->check(number_within(0, 10))
      ->excludes(measure);
  command
      ->add_option(
          "--cheap-rows", options->cheap_rows,
          "with --dear-row: how many rows cost what --row says; each further row costs what "
          "--dear-row says")
      ->check(CLI::Range(1, 100000));
  command->add_option("--dear-row", options->dear_row, "what a row beyond --cheap-rows costs")
      ->check(number_within(0, 10))
      ->excludes(measure);
  command
      ->add_option(
          "--experts", options->experts,
          "8/64: a row chooses 8 of a layer's 64 experts, and n rows read the distinct ones")
      ->excludes(measure);
  command
      ->add_option("--of-experts", options->of_experts,
                   "with --experts: the share of a one-row forward that goes into its experts")
      ->check(number_within(0, 1))
      ->capture_default_str();
  command
      ->add_option("--drafter", options->round,
                   "what a round of the drafter costs, in forwards of one row; default: as timed")
      ->check(number_within(0, 100));
  command->add_option("--steps", options->steps, "A:B: these steps of a capture alone");
  command->add_option("--filter", options->filter,
                      "of a study: only runs for which this holds, as of its table");
  command->add_option("-o", options->output, "the chart: a .svg, .pdf, .png or .csv file")
      ->check(file_name());
  command->add_option("--format", options->format,
                      "svg, pdf, png or csv; default: the file's ending");
  command->add_option("--size", options->size, "WxH in px; default: a slide of 16:9");
  command->add_option("--scale", options->scale, "pixels per px of a PNG")
      ->check(number_within(0.1, 16));
  command->add_option("--theme", options->theme, "light, dark or projector")->capture_default_str();
  auto* json = command->add_flag("--json", options->as_json, "as JSON");
  command->add_flag("--csv", options->as_csv, "the chart's figures as CSV")->excludes(json);
  command->callback([options, &line] {
    line.action = [options, &line] {
      const CostChoice choice = choice_of(*options);
      std::optional<viz::ExportOptions> picture;
      if (!options->output.empty()) picture = export_options(*options);
      std::error_code ec;
      return print_answer(*options,
                          std::filesystem::is_directory(options->path, ec)
                              ? answer_of_study(*options, choice, line.quiet)
                              : answer_of_run(*options, choice, line.quiet),
                          picture, line.quiet);
    };
  });
}

}  // namespace triescope::app
