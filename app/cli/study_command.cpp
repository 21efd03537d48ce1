// `triescope study`: many runs into a folder, and the table of what they gave.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "app/cli/command_line.h"
#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/cli/study_words.h"
#include "app/cli/terminal.h"
#include "app/session/text_tools.h"
#include "app/study/run_study.h"
#include "app/study/study_chart.h"
#include "app/study/study_table.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "viz/export/export_picture.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct StudyCommandOptions {
  std::string path, folder, format = "text", columns, group_by, chart, of, size;
  StudyTableOptions table;
  bool dry_run = false, wants_table = false;
};

int draw_study_chart(const std::string& folder, const StudyCommandOptions& options, bool quiet) {
  if (options.of.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "--chart: expected --of COLUMN beside it, the figure to draw: accepted_per_step, "
                "tokens_per_forward, speedup; found none");
  const viz::ExportOptions picture = picture_options(options.chart, options.size);
  StudyStore store(folder, /*writes=*/false);
  const std::vector<StudyRow> runs = store.rows();
  const auto group_by = listed_names(options.group_by.empty() ? "name" : options.group_by);
  const auto bars = viz::make_bar_picture(
      study_bars(runs, store.fact("baseline"), options.table.filter, group_by, options.of));
  const StudyProvenance made = study_provenance(folder, runs, store.fact("title"), options.of);
  OutputFile file(options.chart);
  viz::export_picture(*bars, made.facts, made.created, file.path(), picture);
  file.finish(quiet);
  return 0;
}

int print_study_table(const std::string& folder, StudyCommandOptions options, bool quiet) {
  options.table.columns = listed_names(options.columns);
  options.table.group_by = listed_names(options.group_by);
  StudyStore store(folder, /*writes=*/false);
  const std::vector<StudyRow> runs = store.rows();
  const bool whole = options.format == "csv" || options.format == "jsonl";
  const StudyTable table = study_table(runs, store.fact("baseline"), options.table, whole);
  std::cout << (options.format == "csv"     ? study_csv(table)
                : options.format == "jsonl" ? study_jsonl(table)
                : options.format == "latex" ? study_latex(table)
                                            : study_text(table));
  const auto failed = std::count_if(
      runs.begin(), runs.end(), [](const StudyRow& run) { return run.at("status") == "failed"; });
  if (failed && !quiet) {
    const auto first = std::find_if(
        runs.begin(), runs.end(), [](const StudyRow& run) { return run.at("status") == "failed"; });
    std::fprintf(stderr, "note: %s failed and %s not in the table, the first (%s): %s\n",
                 counted(static_cast<std::int64_t>(failed), "run").c_str(),
                 failed == 1 ? "is" : "are", first->at("name").get<std::string>().c_str(),
                 first->at("message").get<std::string>().c_str());
  }
  return 0;
}

// Says on stderr, a line a run, what runs and how long the rest will take.
class StudyTeller final : public StudyWatcher {
 public:
  explicit StudyTeller(bool quiet) : quiet_(quiet) {}
  ProgressSink progress() override { return terminal_progress(quiet_); }
  void begins(const StudyRun& run, int done, int of, std::optional<double> left) override {
    if (quiet_) return;
    clear_progress();
    std::fprintf(stderr, "%d/%d %s%s\n", done + 1, of, run.words().c_str(),
                 left ? (" (about " + time_left_text(*left) + " left)").c_str() : "");
  }
  void ended(const StudyRun&, const json& result) override {
    if (quiet_) return;
    clear_progress();
    const json& rate = result.at("tokens_per_second");
    std::fprintf(stderr, "    %.2f tokens per forward, %.1f tokens/s\n",
                 result.at("tokens_per_forward").get<double>(),
                 rate.is_number() ? rate.get<double>() : 0.0);
  }
  void failed(const StudyRun& run, const std::string& why) override { say_run_failed(run, why); }

 private:
  bool quiet_;
};

// The settings that have more than one value.
std::vector<std::string> swept_by(const StudyFile& study) {
  std::vector<std::string> names;
  for (const StudyMethod& method : study.methods)
    for (const StudySetting& setting : method.settings)
      if (setting.values.size() > 1 &&
          std::find(names.begin(), names.end(), setting.name) == names.end())
        names.push_back(setting.name);
  return names;
}

std::string folder_of(const StudyCommandOptions& options) {
  if (!options.folder.empty()) return options.folder;
  const fs::path file(options.path);
  if (file.extension() != ".toml")
    throw Error(ErrorCode::kInvalidArgument,
                options.path +
                    ": where do the runs go? Name a folder with -o, or call the study "
                    "NAME.toml: its folder is then NAME");
  return fs::path(file).replace_extension().string();
}

int list_runs(const std::vector<StudyRun>& runs, const std::string& folder) {
  std::unique_ptr<StudyStore> store;
  std::error_code ec;
  if (fs::exists(folder, ec)) try {
      store = std::make_unique<StudyStore>(folder, /*writes=*/false);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kNotFound) throw;
    }
  std::size_t done = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_there = store && store->is_done(runs[i].key);
    done += is_there;
    std::cout << i + 1 << " " << runs[i].words() << (is_there ? " (done)" : "") << "\n";
  }
  std::cout << counted(runs.size(), "run") << ", " << done << " done, into " << folder << "\n";
  return 0;
}

int run_study_command(const StudyCommandOptions& options, bool quiet) {
  std::error_code ec;
  if (fs::is_directory(options.path, ec)) {
    if (options.dry_run || !options.folder.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "--dry-run and -o go with a study's file; " + options.path + " is a folder");
    if (!options.chart.empty()) return draw_study_chart(options.path, options, quiet);
    if (!options.of.empty() || !options.size.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "--of and --size go with --chart FILE, the picture to write");
    return print_study_table(options.path, options, quiet);
  }
  if (options.wants_table)
    throw Error(
        ErrorCode::kInvalidArgument,
        "--table, --sort, --filter, --group-by, --columns and --chart go with a study's folder: "
        "triescope study FOLDER --table");
  std::stop_source stop;
  const InterruptGuard interrupt([&] { stop.request_stop(); });
  const StudyFile study = read_study(options.path);
  const std::vector<StudyRun> runs = study_runs(study);
  const std::string folder = folder_of(options);
  if (options.dry_run) return list_runs(runs, folder);
  StudyTeller teller(quiet);
  const StudyOutcome outcome =
      run_study(study, runs, folder, teller, stop.get_token(), command_line());
  if (!quiet) clear_progress();
  if (!quiet) say_outcome(folder, outcome, "the same command goes on");
  if (interrupt.interrupted()) return 130;
  StudyCommandOptions summary;
  summary.group_by = "name";
  for (const std::string& setting : swept_by(study)) summary.group_by += "," + setting;
  print_study_table(folder, summary, quiet);
  return outcome.failed ? exit_code(ErrorCode::kOutOfMemory) : 0;
}

}  // namespace

void add_study_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<StudyCommandOptions>();
  CLI::App* command =
      root.add_subcommand("study", "many runs into a folder, and their table (docs/study.md)");
  command
      ->add_option("PATH", options->path,
                   "a study's .toml file: makes its runs, or goes on with them; or its folder: "
                   "prints the table")
      ->required()
      ->check(file_name());
  command
      ->add_option("-o", options->folder,
                   "the folder of captures and table; default: the file's name without .toml")
      ->check(file_name());
  command->add_flag("--dry-run", options->dry_run, "list the runs, make none");
  std::vector<CLI::Option*> of_table = {
      command->add_option("--table", options->format, "text, csv, jsonl or latex (default: text)")
          ->check(CLI::IsMember({"text", "csv", "jsonl", "latex"}))
          ->expected(0, 1)
          ->default_str("text"),
      command->add_option("--sort", options->table.sort,
                          "by this column; -COLUMN: the largest first"),
      command->add_option("--filter", options->table.filter,
                          "an expression over columns: 'speedup > 1 and category = \"rag\"'"),
      command->add_option("--group-by", options->group_by,
                          "a row for each value of these columns, with means and their 95 % "
                          "intervals: name,category"),
      command->add_option("--columns", options->columns, "these columns, with commas"),
      command
          ->add_option(
              "--chart", options->chart,
              "a bar chart of --of in place of the table: a .svg, .pdf, .png or .csv file. "
              "--group-by category,name: groups of bars by the first, a bar by the second")
          ->check(file_name()),
      command->add_option("--of", options->of, "with --chart: the figure, a column"),
      command->add_option("--size", options->size,
                          "with --chart: WxH in px; default: a slide of 16:9")};
  command->callback([options, of_table, &line] {
    for (const CLI::Option* one : of_table) options->wants_table |= one->count() > 0;
    line.action = [options, &line] { return run_study_command(*options, line.quiet); };
  });
}

}  // namespace triescope::app
