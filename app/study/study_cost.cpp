#include "app/study/study_cost.h"

#include <algorithm>

#include "app/study/study_figures.h"
#include "app/study/study_variants.h"
#include "core/base/error.h"
#include "core/capture/capture.h"

namespace triescope::app {
namespace {

struct MethodFacts {
  std::string name;
  std::int64_t runs = 0;
  viz::SpeculationFacts facts;
};

// The mean speed-up of a method's rows in the table.
std::optional<viz::MeasuredSpeedup> measured_speedup(const std::vector<StudyRow>& groups,
                                                     const std::string& name) {
  for (const StudyRow& group : groups) {
    if (group.at("name") != name || !group.contains("speedup") || !group["speedup"].is_number())
      continue;
    const double mean = group["speedup"].get<double>();
    const nlohmann::json half = group.value("speedup_ci", nlohmann::json());
    const double each = half.is_number() ? half.get<double>() : 0;
    return viz::MeasuredSpeedup{mean, mean - each, mean + each};
  }
  return std::nullopt;
}

}  // namespace

StudyCost study_cost(const std::string& folder, const std::vector<StudyRow>& runs,
                     const StudyFilter& filter, const viz::CostChoice& choice) {
  StudyCost cost;
  StudySelection meant(runs, filter);
  const StudyVariants variants(meant.rows);
  std::vector<MethodFacts> methods;
  viz::ForwardTimes times;  // of all methods
  for (const StudyRow& row : runs) {
    if (!has_tree(row)) continue;
    const auto capture = capture::Capture::open(capture_path(folder, row.at("capture")));
    viz::add_times(times, viz::forward_times(*capture, capture->end_tick()));
    if (!cost.row_costs) cost.row_costs = viz::recorded_row_costs(*capture);
    if (row.at("repeat") != 1 || !meant.has(row)) continue;
    auto facts = viz::speculation_facts(*capture, capture->end_tick());
    if (!facts || facts->drafting == 0) continue;
    const std::string name = variants.of(row);
    const auto method = std::find_if(methods.begin(), methods.end(),
                                     [&](const MethodFacts& one) { return one.name == name; });
    if (method == methods.end()) {
      methods.push_back({.name = name, .runs = 1, .facts = std::move(*facts)});
      continue;
    }
    ++method->runs;
    viz::add_speculation(method->facts, *facts);
  }
  if (methods.empty())
    throw Error(ErrorCode::kInvalidArgument,
                folder +
                    ": expected runs that draft and captures with their tree; found "
                    "none. Add a drafting method, and do not set captures to \"off\" or \"steps\"");
  // One ruler for all: what the study's forwards took, unless other costs are asked for.
  const auto here = viz::measured_forwards(times);
  // A speed-up measured here does not belong beside costs of another machine.
  const bool is_here = choice.from == viz::CostsFrom::kRun ||
                       choice.from == viz::CostsFrom::kModel ||
                       choice.from == viz::CostsFrom::kMeasured;
  for (StudyRow& row : meant.rows) row["name"] = variants.of(row);
  const std::vector<StudyRow> groups = grouped_rows(meant.rows, {"name"});
  for (MethodFacts& method : methods) {
    const bool beams =
        method.facts.is_of_beams();  // a ratio over greedy decoding says nothing of them
    cost.series.push_back(
        {.name = method.name,
         .model = viz::cost_model(std::move(method.facts), choice, cost.row_costs, here),
         .measured = is_here && !beams ? measured_speedup(groups, method.name) : std::nullopt,
         .runs = method.runs});
  }
  return cost;
}

std::string first_capture(const std::string& folder, const std::vector<StudyRow>& runs) {
  for (const StudyRow& row : runs)
    if (row.at("status") == "done" && row.at("capture").is_string())
      return capture_path(folder, row.at("capture"));
  throw Error(ErrorCode::kInvalidArgument, folder + ": expected runs with captures; found none");
}

}  // namespace triescope::app
