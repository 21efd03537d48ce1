#include "viz/panels/tree_rows.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/counted.h"
#include "viz/text/number_text.h"

namespace triescope::viz {

std::string tree_yield_csv(const TreeYield& yield, const std::vector<BestTreeNode>& best) {
  std::ostringstream out;
  out << "path,tree,sent,accepted,earned,reached,came,share,best,tokens_per_forward\n";
  for (const TreePlaceYield& place : yield.places) {
    out << rank_text(place.path) << ',' << csv_field(tree_text(place.path)) << ',' << place.sent
        << ',' << place.accepted << ',' << (place.sent ? csv_double(place.earned()) : "") << ','
        << place.reached << ',' << place.came << ','
        << (place.reached ? csv_double(place.share()) : "") << ',';
    const auto chosen = std::ranges::find(best, place.path, &BestTreeNode::path);
    if (chosen != best.end())
      out << chosen - best.begin() + 1 << ',' << csv_double(chosen->tokens_per_forward);
    else
      out << ',';
    out << '\n';
  }
  return out.str();
}

std::string best_tree_text(const TreeYield& yield) {
  std::int64_t sent = 0, accepted = 0;
  for (const TreePlaceYield& place : yield.places) sent += place.sent, accepted += place.accepted;
  if (yield.steps == 0) return "";
  const auto steps = static_cast<double>(yield.steps);
  const std::vector<BestTreeNode> best =
      best_tree(yield, static_cast<std::size_t>(std::lround(static_cast<double>(sent) / steps)));
  if (best.empty()) return "";
  constexpr std::size_t kNamed = 6;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, best.size()); ++i)
    names += (i ? ", " : "") + rank_text(best[i].path);
  return "Best tree of " + counted(static_cast<std::int64_t>(best.size()), "draft") + ": " + names +
         (best.size() > kNamed ? ", …" : "") + ": " +
         number_text(best.back().tokens_per_forward, 2) + " tokens a forward; those sent gave " +
         number_text(1 + static_cast<double>(accepted) / steps, 2);
}

std::string tree_setting(const std::vector<BestTreeNode>& best) {
  std::string text;
  for (const BestTreeNode& node : best) text += (text.empty() ? "" : ";") + tree_text(node.path);
  return text;
}

}  // namespace triescope::viz
