#include "app/cli/acceptance_report.h"

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "app/cli/commands.h"
#include "app/cli/output_file.h"
#include "app/session/result_json.h"
#include "app/session/text_tools.h"
#include "core/base/json_io.h"
#include "viz/export/export_picture.h"
#include "viz/export/file_ending.h"
#include "viz/panels/acceptance_rows.h"
#include "viz/panels/tree_rows.h"
#include "viz/query/acceptance_causes.h"
#include "viz/text/number_text.h"

namespace triescope::app {

using nlohmann::ordered_json;
using viz::Acceptance;
using viz::AcceptanceBy;
using viz::AcceptanceGroup;

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

viz::BarChart acceptance_bars(AcceptanceBy by, const std::vector<AcceptanceSeries>& series) {
  viz::BarChart chart;
  chart.name = "acceptance-by-" + std::string(to_string(by));
  bool has_p = false;
  for (const AcceptanceSeries& one : series)
    if (!one.groups->groups.empty()) chart.series.push_back(one.name);
  Acceptance all;  // has all labels, in their order
  for (const AcceptanceSeries& one : series) viz::add_acceptance(all, *one.groups);
  for (const AcceptanceGroup& group : all.groups) {
    if (is_of_causes(by) && group.accepted == 0) continue;
    chart.groups.push_back(group.label);
    auto& bars = chart.values.emplace_back(chart.series.size());
    for (const AcceptanceSeries& one : series)
      for (const AcceptanceGroup& of_it : one.groups->groups) {
        if (of_it.label != group.label || of_it.n == 0) continue;
        const viz::ShareInterval interval = of_it.interval();
        viz::BarValue& bar = bars[place_of(chart.series, one.name)].emplace(viz::BarValue{
            .mean = of_it.share(), .low = interval.low, .high = interval.high, .n = of_it.n});
        if (of_it.with_p) bar.ring = of_it.sum_p / static_cast<double>(of_it.with_p);
        has_p = has_p || of_it.with_p;
      }
  }
  chart.title = viz::acceptance_headline(by) + "; share and 95 % interval" +
                (has_p ? ", ring: the target's mean p" : "");
  return chart;
}

void write_acceptance_chart(const AcceptanceOptions& options, const viz::BarChart& chart,
                            const std::vector<std::pair<std::string, std::string>>& facts,
                            const std::string& created) {
  const viz::ExportOptions picture = picture_options(options.output, options.size);
  const auto bars = viz::make_bar_picture(chart);
  OutputFile file(options.output);
  viz::export_picture(*bars, facts, created, file.path(), picture);
  file.finish(options.quiet);
}

namespace {

void print_text(const viz::TreeYield& yield, const std::vector<viz::BestTreeNode>& best) {
  const auto percent = [](double share) { return viz::number_text(100 * share, 1) + " %"; };
  std::size_t width = 4;
  for (const viz::TreePlaceYield& place : yield.places)
    width = std::max(width, viz::rank_text(place.path).size());
  const auto name = std::setw(static_cast<int>(width));
  std::cout << "what each place of the tree earned, in " << yield.steps << " steps with drafts\n"
            << "  " << std::left << name << "path"
            << "  tokens a row           came true after what is above it\n";
  for (const viz::TreePlaceYield& place : yield.places) {
    const std::string earned = place.sent ? viz::number_text(place.earned(), 3) + "  (" +
                                                std::to_string(place.accepted) + " of " +
                                                std::to_string(place.sent) + ")"
                                          : "never sent";
    std::cout << "  " << name << viz::rank_text(place.path) << "  " << std::setw(21) << earned
              << "  "
              << (place.reached ? percent(place.share()) + "  (" + std::to_string(place.came) +
                                      " of " + std::to_string(place.reached) + ")"
                                : "never reached")
              << "\n";
  }
  std::cout << std::right;
  if (best.empty()) {
    std::cout << "  no draft came true\n";
    return;
  }
  std::cout << "best tree of " << best.size() << ": "
            << viz::number_text(best.back().tokens_per_forward, 3)
            << " tokens a forward\n  tree=" << viz::tree_setting(best) << "\n";
}

}  // namespace

ordered_json tree_yield_json(const viz::TreeYield& yield,
                             const std::vector<viz::BestTreeNode>& best) {
  ordered_json places = ordered_json::array(), nodes = ordered_json::array();
  const auto share = [](bool known, double value) {
    return known ? ordered_json(value) : ordered_json(nullptr);
  };
  for (const viz::TreePlaceYield& place : yield.places)
    places.push_back({{"path", viz::rank_text(place.path)},
                      {"sent", place.sent},
                      {"accepted", place.accepted},
                      {"earned", share(place.sent > 0, place.earned())},
                      {"reached", place.reached},
                      {"came", place.came},
                      {"share", share(place.reached > 0, place.share())}});
  for (const viz::BestTreeNode& node : best)
    nodes.push_back({{"path", viz::rank_text(node.path)},
                     {"comes_true", node.comes_true},
                     {"tokens_per_forward", node.tokens_per_forward}});
  return {{"steps", yield.steps},
          {"places", places},
          {"best_tree", nodes},
          {"tree", viz::tree_setting(best)}};
}

void print_tree_yield(const viz::TreeYield& yield, const std::vector<viz::BestTreeNode>& best,
                      TreeFormat format) {
  if (format == TreeFormat::kJson)
    std::cout << dump_json(tree_yield_json(yield, best), 2) << "\n";
  else if (format == TreeFormat::kCsv)
    std::cout << viz::tree_yield_csv(yield, best);
  else
    print_text(yield, best);
}

}  // namespace triescope::app
