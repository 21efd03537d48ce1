// `triescope find`: the steps of a run for which a condition is true, or where a text stands.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "app/cli/commands.h"
#include "app/session/step_condition.h"
#include "app/session/text_search.h"
#include "app/study/study_store.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/json_io.h"

namespace triescope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct FindOptions {
  std::string path, where, text, steps;
  bool as_json = false;
};

struct Found {
  std::int32_t step = 0;
  std::vector<std::int32_t> nodes;  // {-1} = the step itself
};

// The captures of a study's folder, in its order, or the one that the path names.
std::vector<std::string> captures_at(const std::string& path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec)) return {path};
  std::vector<std::string> paths;
  for (const StudyRow& row : StudyStore(path, /*writes=*/false).rows())
    if (row.at("capture").is_string() && !row.at("capture").get<std::string>().empty())
      paths.push_back(capture_path(path, row.at("capture")));
  return paths;
}

std::vector<Found> found_in(const capture::Capture& capture, const FindOptions& options,
                            const std::optional<StepCondition>& where,
                            std::pair<std::int32_t, std::int32_t> steps) {
  std::vector<Found> found;
  if (where) {
    where->check_metrics(capture);
    for (const StepMatch& match : steps_where(capture, *where, steps.first, steps.second))
      found.push_back({match.step, match.nodes});
    return found;
  }
  for (const std::int32_t node : nodes_with(capture, options.text)) {
    const std::int32_t step =
        capture::step_of(capture.nodes()[static_cast<std::size_t>(node)].tick);
    if (step < steps.first || step > steps.second) continue;
    if (found.empty() || found.back().step != step) found.push_back({step, {}});
    found.back().nodes.push_back(node);
  }
  return found;
}

ordered_json found_json(const capture::Capture& capture, const Found& found) {
  ordered_json nodes = ordered_json::array();
  for (const std::int32_t node : found.nodes) {
    if (node < 0) continue;
    const capture::NodeRow& row = capture.nodes()[static_cast<std::size_t>(node)];
    nodes.push_back({{"node", node}, {"token", capture.piece(row.token)}});
  }
  const StepFacts facts = facts_of_step(capture, found.step);
  return {{"step", found.step},
          {"why", match_text(facts, found.nodes.front())},
          {"nodes", std::move(nodes)}};
}

int run_find(const FindOptions& options) {
  if (options.where.empty() == options.text.empty())
    throw Error(ErrorCode::kInvalidArgument,
                "find: expected a condition, such as 'accepted >= 1 and refused > 0', or --text "
                "TEXT; found " +
                    std::string(options.where.empty() ? "neither" : "both"));
  std::optional<StepCondition> where;
  if (!options.where.empty()) try {
      where.emplace(options.where);
    } catch (const Error& error) {
      throw Error(ErrorCode::kInvalidArgument, options.where + ": " + error.what());
    }
  const std::vector<std::string> paths = captures_at(options.path);
  const bool several = paths.size() != 1 || paths.front() != options.path;
  ordered_json all = ordered_json::array();
  std::int64_t steps = 0, found_steps = 0;
  for (const std::string& path : paths) {
    const auto capture = capture::Capture::open(path);
    std::pair<std::int32_t, std::int32_t> range = {0, capture->last_step()};
    if (!options.steps.empty()) range = parse_steps(options.steps, *capture);
    const std::int32_t last_whole = std::min(range.second, last_whole_step(*capture));
    steps += std::max(0, last_whole - range.first + 1);
    const std::string name = several ? fs::path(path).filename().string() : "";
    for (const Found& found : found_in(*capture, options, where, range)) {
      ++found_steps;
      if (options.as_json) {
        all.push_back(found_json(*capture, found));
        if (several) all.back()["capture"] = name;
        continue;
      }
      std::cout << (several ? name + " " : "") << "step " << found.step << "  "
                << match_text(facts_of_step(*capture, found.step), found.nodes.front());
      if (found.nodes.size() > 1)
        std::cout << " (and " << found.nodes.size() - 1 << " more of this step)";
      std::cout << "\n";
    }
  }
  if (options.as_json)
    std::cout << dump_json(all, 2) << "\n";
  else
    std::cout << found_steps << " of " << counted(steps, "step") << "\n";
  return 0;
}

}  // namespace

void add_find_command(CLI::App& root, CommandLine& line) {
  auto options = std::make_shared<FindOptions>();
  CLI::App* command = root.add_subcommand(
      "find", "the steps for which a condition is true, or where a text stands (docs/find.md)");
  command->add_option("PATH", options->path, ".tscap file, or the folder of a study")
      ->required()
      ->check(file_name());
  command->add_option(
      "CONDITION", options->where,
      "over a step and the nodes it decided: 'verdict = \"rejected\" and depth >= 2'");
  command->add_option("--text", options->text,
                      "a text of the run or of its drafts, across tokens too");
  command->add_option("--steps", options->steps, "A:B: these steps alone");
  command->add_flag("--json", options->as_json, "as JSON, with every node");
  command->callback([options, &line] { line.action = [options] { return run_find(*options); }; });
}

}  // namespace triescope::app
