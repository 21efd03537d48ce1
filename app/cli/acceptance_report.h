// What `triescope acceptance` prints: the groups of a run or of a study, as text, JSON and a chart.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "viz/panels/bar_picture.h"
#include "viz/query/acceptance.h"
#include "viz/query/tree_yield.h"

namespace triescope::app {

enum class TreeFormat { kText, kJson, kCsv };

struct AcceptanceOptions {
  std::string path, by = "depth", steps, group, filter, output, size;
  std::size_t best_tree = 0;  // 0 = not asked for
  bool as_json = false, as_csv = false, failures = false, quiet = false;

  TreeFormat tree_format() const {
    return as_json ? TreeFormat::kJson : as_csv ? TreeFormat::kCsv : TreeFormat::kText;
  }
};

// {"group", "n", "accepted", "share", "low", "high", "mean_p"}
nlohmann::ordered_json group_json(const viz::AcceptanceGroup& group);
void print_groups(viz::AcceptanceBy by, const viz::Acceptance& acceptance);

// A group of bars for each group, a bar for each series; rings are the target's mean p.
struct AcceptanceSeries {
  std::string name;
  const viz::Acceptance* groups;
};
viz::BarChart acceptance_bars(viz::AcceptanceBy by, const std::vector<AcceptanceSeries>& series);

// The part that `--best-tree N` adds: what each place of the drafting tree earned, and `best`, the tree of N drafts
// that would have earned the most (best_tree() of the yield).
nlohmann::ordered_json tree_yield_json(const viz::TreeYield& yield,
                                       const std::vector<viz::BestTreeNode>& best);
void print_tree_yield(const viz::TreeYield& yield, const std::vector<viz::BestTreeNode>& best,
                      TreeFormat format);

// Reports acceptance over the runs of a study's folder. Returns the exit code.
int acceptance_of_study(const AcceptanceOptions& options, viz::AcceptanceBy by);
// Writes the chart to options.output, in the format of its ending.
void write_acceptance_chart(const AcceptanceOptions& options, const viz::BarChart& chart,
                            const std::vector<std::pair<std::string, std::string>>& facts,
                            const std::string& created);

}  // namespace triescope::app
