// `triescope acceptance`: where drafts are accepted and where not, of a run or of a study.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/cli/acceptance_tree.h"
#include "app/cli/commands.h"
#include "app/session/result_json.h"
#include "app/study/study_acceptance.h"
#include "core/base/error.h"
#include "core/base/nearest_name.h"
#include "viz/panels/acceptance_rows.h"
#include "viz/panels/acceptance_sheet.h"
#include "viz/panels/failure_rows.h"
#include "viz/query/acceptance_causes.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;
using viz::Acceptance;
using viz::AcceptanceBy;
using viz::AcceptanceGroup;

struct AcceptanceOptions {
  std::string path, by = "depth", steps, group;
  std::size_t best_tree = 0;  // 0 = not asked for
  bool as_json = false, as_csv = false, failures = false;

  TreeFormat tree_format() const {
    return as_json ? TreeFormat::kJson : as_csv ? TreeFormat::kCsv : TreeFormat::kText;
  }
};

AcceptanceBy by_named(const std::string& name) {
  if (const auto by = viz::acceptance_by_name(name)) return *by;
  std::vector<std::string> names;
  std::string list;
  for (int i = 0; i < viz::kAcceptanceByCount; ++i) {
    names.emplace_back(to_string(static_cast<AcceptanceBy>(i)));
    list += (list.empty() ? "" : ", ") + names.back();
  }
  throw Error(ErrorCode::kInvalidArgument, "--by: expected one of " + list + "; found '" + name +
                                               "'" + did_you_mean(name, names));
}

ordered_json group_json(const AcceptanceGroup& group) {
  const viz::ShareInterval interval = group.interval();
  return {{"group", group.label},
          {"n", group.n},
          {"accepted", group.accepted},
          {"share", group.share()},
          {"low", interval.low},
          {"high", interval.high},
          {"mean_p", number_or_null(group.sum_p / static_cast<double>(group.with_p))}};
}

void print_groups(AcceptanceBy by, const Acceptance& acceptance) {
  std::cout << "share of ";
  if (is_of_causes(by))
    std::cout << (is_of_places(by) ? "places without an accepted draft" : "refused drafts")
              << ", by " << title_of(by);
  else
    std::cout << (is_of_places(by) ? "places" : "drafts") << " accepted, by " << title_of(by);
  std::cout << " (95 % interval)\n";
  std::size_t width = 0;
  for (const AcceptanceGroup& group : acceptance.groups)
    width = std::max(width, group.label.size());
  for (const AcceptanceGroup& group : acceptance.groups) {
    if (is_of_causes(by) && group.accepted == 0) continue;
    const viz::ShareInterval interval = group.interval();
    const auto percent = [](double share) { return viz::number_text(100 * share, 1) + " %"; };
    std::cout << "  " << group.label << std::string(width - group.label.size(), ' ') << "  "
              << percent(group.share()) << "  (" << percent(interval.low) << " to "
              << percent(interval.high) << ")  " << group.accepted << " of " << group.n << "\n";
  }
  if (acceptance.groups.empty()) std::cout << "  no draft was verified\n";
  if (acceptance.unknown)
    std::cout << "  " << acceptance.unknown
              << " more: the capture does not know it (record with --capture-level full)\n";
}

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

int of_run(const AcceptanceOptions& options, AcceptanceBy by) {
  if (!options.group.empty())
    throw Error(
        ErrorCode::kInvalidArgument,
        "--group: goes with a study, whose runs it lists; the cases of a capture are in --json");
  const auto capture = capture::Capture::open(options.path);
  std::optional<std::pair<std::int32_t, std::int32_t>> range;
  if (!options.steps.empty()) range = parse_steps(options.steps, *capture);
  if (options.best_tree > 0) {
    print_tree_yield(viz::tree_yield(*capture, capture->end_tick(), range), options.best_tree,
                     options.tree_format());
    return 0;
  }
  if (options.failures) {
    std::cout << viz::failures_csv(*capture,
                                   viz::draft_failures(*capture, by, capture->end_tick(), range));
    return 0;
  }
  const Acceptance acceptance = viz::acceptance_by(*capture, by, capture->end_tick(), range);
  if (options.as_csv) {
    std::cout << viz::acceptance_csv(by, acceptance);
  } else if (options.as_json) {
    ordered_json groups = ordered_json::array();
    for (const AcceptanceGroup& group : acceptance.groups) {
      groups.push_back(group_json(group));
      for (const viz::AcceptanceCase& one : group.cases)
        groups.back()["cases"].push_back(
            {{"step", one.step}, {"node", one.node}, {"accepted", one.accepted}});
    }
    std::cout << ordered_json{{"by", to_string(by)},
                              {"of", is_of_places(by) ? "places" : "drafts"},
                              {"groups", groups},
                              {"unknown", acceptance.unknown}}
                     .dump(2)
              << "\n";
  } else {
    print_groups(by, acceptance);
  }
  return 0;
}

int trees_of_study(const AcceptanceOptions& options, StudyStore& store) {
  if (options.as_json || options.as_csv)
    throw Error(ErrorCode::kInvalidArgument,
                "--best-tree: --json and --csv go with one capture, not with a study");
  bool first = true;
  for (const MethodTreeYield& method : study_tree_yields(options.path, store.rows())) {
    std::cout << (first ? "" : "\n") << method.name << ", " << method.runs << " runs: ";
    first = false;
    print_tree_yield(method.yield, options.best_tree, TreeFormat::kText);
  }
  return 0;
}

int of_study(const AcceptanceOptions& options, AcceptanceBy by) {
  if (!options.steps.empty())
    throw Error(ErrorCode::kInvalidArgument, "--steps: goes with one capture, not with a study");
  if (options.failures)
    throw Error(ErrorCode::kInvalidArgument, "--failures: goes with one capture, not with a study");
  StudyStore store(options.path, /*writes=*/false);
  if (options.best_tree > 0) return trees_of_study(options, store);
  const std::vector<MethodAcceptance> methods = study_acceptance(options.path, store.rows(), by);
  if (!options.group.empty()) check_group(options.group, methods);
  if (options.as_csv) {
    std::vector<viz::NamedAcceptance> named;
    for (const MethodAcceptance& method : methods)
      named.push_back({method.name, method.runs, method.acceptance});
    std::cout << viz::acceptance_sheet_csv(by, named);
    return 0;
  }
  ordered_json all = ordered_json::array();
  bool first = true;
  for (const MethodAcceptance& method : methods) {
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
  if (options.as_json) std::cout << all.dump(2) << "\n";
  return 0;
}

}  // namespace

void add_acceptance_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<AcceptanceOptions>();
  CLI::App* command =
      root.add_subcommand("acceptance", "where drafts are accepted and where not, with intervals");
  command->add_option("PATH", options->path, ".tscap file, or the folder of a study")
      ->required()
      ->check(file_name());
  command
      ->add_option("--by", options->by,
                   "depth, position, kind (of the token that came), entropy (of the target); or of "
                   "each draft its rank, place in the tree, source, or the drafter's q; or why: "
                   "cause (of places where none was accepted), refused (of refused drafts)")
      ->capture_default_str();
  command->add_option("--steps", options->steps, "A:B: these steps of a capture alone");
  command
      ->add_option(
          "--best-tree", options->best_tree,
          "what each place of the drafting tree earned, and the tree of N drafts that would have "
          "earned the most")
      ->check(CLI::Range(1, 1024));
  command->add_flag(
      "--failures", options->failures,
      "with --by cause or refused: as CSV, a row for each, with the drafter's rank and "
      "q of the token that came");
  command->add_option("--group", options->group,
                      "of a study: list all runs behind this group, the worst first");
  auto* json =
      command->add_flag("--json", options->as_json,
                        "as JSON, with the cases (of a study: the worst run) of each group");
  command->add_flag("--csv", options->as_csv, "as CSV")->excludes(json);
  command->callback([options, &line] {
    line.action = [options] {
      const AcceptanceBy by = by_named(options->by);
      if (options->failures && !is_of_causes(by))
        throw Error(ErrorCode::kInvalidArgument,
                    "--failures: expected --by cause or --by refused; found --by " + options->by);
      std::error_code ec;
      return std::filesystem::is_directory(options->path, ec) ? of_study(*options, by)
                                                              : of_run(*options, by);
    };
  });
}

}  // namespace triescope::app
