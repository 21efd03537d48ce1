#include "app/cli/acceptance_tree.h"

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "viz/panels/tree_rows.h"
#include "viz/text/number_text.h"

namespace triescope::app {
namespace {

using nlohmann::ordered_json;

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
    std::cout << tree_yield_json(yield, best).dump(2) << "\n";
  else if (format == TreeFormat::kCsv)
    std::cout << viz::tree_yield_csv(yield, best);
  else
    print_text(yield, best);
}

}  // namespace triescope::app
