// `triescope acceptance`: where drafts are accepted and where not, of a run or of a study.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "app/cli/acceptance_report.h"
#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/cli/study_words.h"
#include "core/base/error.h"
#include "core/base/json_io.h"
#include "core/base/nearest_name.h"
#include "viz/export/run_facts.h"
#include "viz/panels/acceptance_rows.h"
#include "viz/query/acceptance_causes.h"
#include "viz/query/step_range.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;
using viz::Acceptance;
using viz::AcceptanceBy;
using viz::AcceptanceGroup;

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

int of_run(const AcceptanceOptions& options, AcceptanceBy by) {
  if (!options.group.empty())
    throw Error(
        ErrorCode::kInvalidArgument,
        "--group: goes with a study, whose runs it lists; the cases of a capture are in --json");
  check_is_of_study(options.filter);
  const auto capture = capture::Capture::open(options.path);
  viz::StepRange range;
  if (!options.steps.empty()) range = parse_steps(options.steps, *capture);
  if (options.best_tree > 0) {
    const viz::TreeYield yield = viz::tree_yield(*capture, capture->end_tick(), range);
    print_tree_yield(yield, viz::best_tree(yield, options.best_tree), options.tree_format());
    return 0;
  }
  if (options.failures) {
    std::cout << viz::failures_csv(*capture,
                                   viz::draft_failures(*capture, by, capture->end_tick(), range));
    return 0;
  }
  const Acceptance acceptance = viz::acceptance_by(*capture, by, capture->end_tick(), range);
  if (!options.output.empty()) {
    const std::string& title = capture->run().method_title;
    const viz::BarChart chart =
        acceptance_bars(by, {{title.empty() ? capture->run().method : title, &acceptance}});
    viz::Facts facts = viz::run_facts(*capture);
    facts.insert(facts.begin(), {"Title", chart.title});
    write_acceptance_chart(options, chart, facts, capture->run().created_utc);
    if (is_standard_output(options.output)) return 0;
  }
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
    std::cout << dump_json(ordered_json{{"by", to_string(by)},
                                        {"of", is_of_places(by) ? "places" : "drafts"},
                                        {"groups", groups},
                                        {"unknown", acceptance.unknown}},
                           2)
              << "\n";
  } else {
    print_groups(by, acceptance);
  }
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
  command->add_option("--filter", options->filter,
                      "of a study: only runs for which this holds, as of its table: 'category = "
                      "\"rag\"'");
  command
      ->add_option("-o", options->output,
                   "bars with their intervals as a .svg, .pdf, .png or .csv file, of a study a bar "
                   "a method")
      ->check(file_name());
  command->add_option("--size", options->size, "with -o: WxH in px; default: a slide of 16:9");
  auto* json =
      command->add_flag("--json", options->as_json,
                        "as JSON, with the cases (of a study: the worst run) of each group");
  command->add_flag("--csv", options->as_csv, "as CSV")->excludes(json);
  command->callback([options, &line] {
    line.action = [options, &line] {
      options->quiet = line.quiet;
      const AcceptanceBy by = by_named(options->by);
      if (options->failures && !is_of_causes(by))
        throw Error(ErrorCode::kInvalidArgument,
                    "--failures: expected --by cause or --by refused; found --by " + options->by);
      if (!options->output.empty() && (options->failures || options->best_tree > 0))
        throw Error(ErrorCode::kInvalidArgument,
                    "-o: draws the shares of --by; --failures and --best-tree have no chart");
      std::error_code ec;
      return std::filesystem::is_directory(options->path, ec) ? acceptance_of_study(*options, by)
                                                              : of_run(*options, by);
    };
  });
}

}  // namespace triescope::app
