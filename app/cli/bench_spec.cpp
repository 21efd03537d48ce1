#include "app/cli/bench_spec.h"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

#include "app/cli/bench_output.h"
#include "app/cli/command_line.h"
#include "app/cli/study_words.h"
#include "app/cli/terminal.h"
#include "app/session/catalog.h"
#include "app/session/loaded_model.h"
#include "app/spec/spec_tables.h"
#include "app/study/run_study.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/kernels/cpu_variant.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// A bar on the terminal with the run that is made and how long the rest will take.
class SpecTeller final : public StudyWatcher {
 public:
  explicit SpecTeller(bool quiet) : bar_(terminal_progress(quiet)) {}
  void begins(const StudyRun& run, int done, int of, std::optional<double> left) override {
    if (!bar_) return;
    clear_progress();
    bar_(std::to_string(done + 1) + "/" + std::to_string(of) + " " + run.name + ", " +
             run.category + " " + std::to_string(run.number) +
             (left ? ", about " + time_left_text(*left) + " left" : ""),
         done, of);
  }
  void failed(const StudyRun& run, const std::string& why) override { say_run_failed(run, why); }

 private:
  ProgressSink bar_;
};

// The rows of this plan alone: the folder may hold others of an earlier one.
std::vector<StudyRow> rows_of(const std::string& folder, const std::vector<StudyRun>& runs) {
  std::set<std::string> keys;
  for (const StudyRun& run : runs) keys.insert(run.key);
  std::vector<StudyRow> rows = StudyStore(folder, /*writes=*/false).rows();
  std::erase_if(rows, [&](const StudyRow& row) { return !keys.contains(row.at("key")); });
  return rows;
}

std::string prompts_text(const SpecBench& bench, std::size_t count) {
  if (bench.prompt_files.empty())
    return counted(count, "small prompt") +
           " of the program's own (--prompts FILE takes "
           "Spec-Bench's and HumanEval's)";
  std::string names;
  for (const std::string& file : bench.prompt_files)
    names += (names.empty() ? "" : ", ") + fs::path(file).filename().string();
  return counted(count, "prompt") + " of " + names;
}

void print(const SpecBench& bench, const std::string& prompts, const std::string& model,
           const std::vector<SpecCell>& cells) {
  if (bench.as_json) {
    ordered_json all = {{"model", fs::path(model).filename().string()},
                        {"prompts", prompts},
                        {"max_new_tokens", bench.plan.max_new_tokens},
                        {"threads", bench.plan.threads},
                        {"folder", bench.folder},
                        {"instruction_set", kernels::to_string(kernels::current_variant())},
                        {"versions", versions()}};
    for (const auto& [name, rows] : spec_tables(cells)) all[name] = rows;
    std::cout << dump_json(all, 2) << "\n";
  } else if (bench.as_csv) {
    for (const auto& [name, rows] : spec_tables(cells)) print_csv(name, rows);
  } else {
    std::cout << fs::path(model).filename().string() << ", " << prompts << ", up to "
              << bench.plan.max_new_tokens << " tokens each\n\n";
    for (const auto& [title, rows] : spec_summary(cells)) print_table(title, rows);
  }
}

}  // namespace

int run_spec_bench(const SpecBench& bench) {
  std::stop_source stop;
  const InterruptGuard interrupt([&] { stop.request_stop(); });
  const std::string model = resolve_model(bench.plan.model);
  SpecOptions plan = bench.plan;
  plan.chat = open_tokenizer(model)->has_chat_template();
  if (plan.methods.empty()) plan.methods = default_spec_methods(model, plan.drafts);
  std::vector<std::string> sweeps;
  for (const std::string& sweep : plan.sweeps) {
    if (sweep != "standard") {
      sweeps.push_back(sweep);
      continue;
    }
    for (const std::string& standard : standard_spec_sweeps(plan.methods))
      sweeps.push_back(standard);
  }
  plan.sweeps = std::move(sweeps);
  const StudyFile study = spec_study(plan);
  const std::vector<StudyRun> runs = study_runs(study);
  const std::string prompts = prompts_text(bench, plan.prompts.size());
  if (!bench.quiet)
    std::fprintf(stderr, "%s on %s, kept in %s; a call like this one goes on where it stopped\n",
                 counted(runs.size(), "run").c_str(), prompts.c_str(), bench.folder.c_str());
  SpecTeller teller(bench.quiet);
  const StudyOutcome outcome =
      run_study(study, runs, bench.folder, teller, stop.get_token(), command_line());
  clear_progress();
  if (!bench.quiet) say_outcome(bench.folder, outcome, "what is there follows");
  const std::vector<SpecCell> cells = spec_cells(bench.folder, rows_of(bench.folder, runs));
  print(bench, prompts, model, cells);
  if (!bench.plots.empty())
    write_bench_plots(spec_plots(cells), bench.plots, model, prompts, bench.quiet);
  if (interrupt.interrupted()) return 130;
  return outcome.failed ? exit_code(ErrorCode::kOutOfMemory) : 0;
}

}  // namespace triescope::app
