// `triescope acceptance FOLDER`: by method of a study.
#include <algorithm>
#include <iostream>

#include "app/cli/acceptance_report.h"
#include "app/cli/output_file.h"
#include "app/study/study_acceptance.h"
#include "app/study/study_chart.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/nearest_name.h"
#include "viz/panels/acceptance_rows.h"
#include "viz/panels/acceptance_sheet.h"
#include "viz/panels/tree_rows.h"
#include "viz/query/acceptance_causes.h"
#include "viz/text/csv_columns.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;
using viz::AcceptanceBy;
using viz::AcceptanceGroup;

ordered_json run_json(const WorstRun& run) {
  return {{"capture", run.capture},   {"category", run.category},
          {"prompt", run.prompt},     {"n", run.n},
          {"accepted", run.accepted}, {"step", run.step}};
}

// The command that opens a run where it went wrong first.
std::string opening(const std::string& folder, const WorstRun& run) {
  return run.category + " " + std::to_string(run.prompt) + ", " + std::to_string(run.accepted) +
         " of " + std::to_string(run.n) + ": triescope " + capture_path(folder, run.capture) +
         (run.step < 0 ? "" : " --open step/" + std::to_string(run.step));
}

void check_group(const std::string& label, const std::vector<MethodAcceptance>& methods) {
  std::vector<std::string> labels;
  std::string list;
  for (const MethodAcceptance& method : methods)
    for (const AcceptanceGroup& group : method.acceptance.groups) {
      if (std::find(labels.begin(), labels.end(), group.label) != labels.end()) continue;
      labels.push_back(group.label);
      list += (list.empty() ? "" : ", ") + group.label;
    }
  if (std::find(labels.begin(), labels.end(), label) == labels.end())
    throw Error(ErrorCode::kInvalidArgument, "--group: expected one of " + list + "; found '" +
                                                 label + "'" + did_you_mean(label, labels));
}

// The worst run of each group; of one group all its runs.
void print_runs(const AcceptanceOptions& options, AcceptanceBy by, const MethodAcceptance& method) {
  for (std::size_t i = 0; i < method.behind.size(); ++i) {
    const AcceptanceGroup& group = method.acceptance.groups[i];
    if (is_of_causes(by) && group.accepted == 0) continue;
    const std::string& label = group.label;
    if (options.group.empty())
      std::cout << "  worst of " << label << ": " << opening(options.path, method.behind[i].front())
                << "\n";
    else if (options.group == label)
      for (const WorstRun& run : method.behind[i])
        std::cout << "  " << opening(options.path, run) << "\n";
  }
}

int trees_of_study(const AcceptanceOptions& options, StudyStore& store, const StudyFilter& filter) {
  ordered_json all = ordered_json::array();
  bool first = true;
  for (const MethodTreeYield& method : study_tree_yields(options.path, store.rows(), filter)) {
    const auto best = viz::best_tree(method.yield, options.best_tree);
    if (options.as_json) {
      all.push_back({{"name", method.name}, {"runs", method.runs}});
      all.back().update(tree_yield_json(method.yield, best));
    } else if (options.as_csv) {
      std::cout << viz::with_columns("name", viz::csv_field(method.name),
                                     viz::tree_yield_csv(method.yield, best), first);
    } else {
      std::cout << (first ? "" : "\n") << method.name << ", " << method.runs << " runs: ";
      print_tree_yield(method.yield, best, TreeFormat::kText);
    }
    first = false;
  }
  if (options.as_json) std::cout << dump_json(all, 2) << "\n";
  return 0;
}

void draw_study(const AcceptanceOptions& options, AcceptanceBy by, StudyStore& store,
                const std::vector<MethodAcceptance>& methods) {
  std::vector<AcceptanceSeries> series;
  for (const MethodAcceptance& method : methods)
    series.push_back({method.name, &method.acceptance});
  const viz::BarChart chart = acceptance_bars(by, series);
  const StudyProvenance made =
      study_provenance(options.path, store.rows(), store.fact("title"), chart.title);
  write_acceptance_chart(options, chart, made.facts, made.created);
}

}  // namespace

int acceptance_of_study(const AcceptanceOptions& options, AcceptanceBy by) {
  if (!options.steps.empty())
    throw Error(ErrorCode::kInvalidArgument, "--steps: goes with one capture, not with a study");
  StudyStore store(options.path, /*writes=*/false);
  const StudyFilter filter{.where = options.filter, .baseline = store.fact("baseline")};
  if (options.failures) {
    std::cout << study_failures_csv(options.path, store.rows(), by, filter);
    return 0;
  }
  if (options.best_tree > 0) return trees_of_study(options, store, filter);
  const std::vector<MethodAcceptance> methods =
      study_acceptance(options.path, store.rows(), by, filter);
  if (!options.group.empty()) check_group(options.group, methods);
  if (!options.output.empty()) {
    draw_study(options, by, store, methods);
    if (is_standard_output(options.output)) return 0;
  }
  ordered_json all = ordered_json::array();
  std::vector<viz::NamedAcceptance> named;
  bool first = true;
  for (const MethodAcceptance& method : methods) {
    if (options.as_csv) {
      named.push_back({method.name, method.runs, method.acceptance});
      continue;
    }
    if (!options.as_json) {
      std::cout << (first ? "" : "\n") << method.name << ", " << method.runs << " runs: ";
      first = false;
      print_groups(by, method.acceptance);
      print_runs(options, by, method);
      continue;
    }
    ordered_json groups = ordered_json::array();
    for (std::size_t i = 0; i < method.acceptance.groups.size(); ++i) {
      groups.push_back(group_json(method.acceptance.groups[i]));
      groups.back()["worst"] = run_json(method.behind[i].front());
      for (const WorstRun& run : method.behind[i]) groups.back()["runs"].push_back(run_json(run));
    }
    all.push_back({{"name", method.name},
                   {"runs", method.runs},
                   {"by", to_string(by)},
                   {"groups", groups},
                   {"unknown", method.acceptance.unknown}});
  }
  if (options.as_csv) std::cout << viz::acceptance_sheet_csv(by, named);
  if (options.as_json) std::cout << dump_json(all, 2) << "\n";
  return 0;
}

}  // namespace triescope::app
