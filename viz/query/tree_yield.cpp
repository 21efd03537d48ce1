#include "viz/query/tree_yield.h"

#include <algorithm>
#include <map>
#include <set>

#include "viz/query/draft_levels.h"
#include "viz/query/leaves.h"
#include "viz/query/step_drafts.h"
#include "viz/query/step_range.h"
#include "viz/query/verdict_kinds.h"

namespace triescope::viz {
namespace {

using Places = std::map<RankPath, TreePlaceYield>;

// The text's nodes at the cursor; the last one has no token behind it yet.
struct Text {
  explicit Text(std::vector<std::int32_t> path)
      : last(path.empty() ? 0 : path.back()), nodes(path.begin(), path.end()) {
    nodes.insert(0);
  }
  bool has(std::int32_t node) const { return nodes.contains(node); }
  bool goes_on(std::int32_t node) const { return has(node) && node != last; }

  std::int32_t last;
  std::set<std::int32_t> nodes;
};

void add_step(const capture::Capture& capture, std::int32_t step, const Text& text,
              Places& places) {
  const capture::Tick accept = capture::make_tick(step, capture::Phase::kAccept);
  std::map<std::int32_t, bool> judged;  // by node: accepted
  for (const capture::VerdictRow& row : capture.verdicts(step))
    if (row.tick == accept &&
        (row.verdict == capture::Verdict::kAccepted || row.verdict == capture::Verdict::kRejected))
      judged[row.node] = row.verdict == capture::Verdict::kAccepted;
  const std::vector<StepDraft> drafts =
      step_drafts(capture, step, capture::make_tick(step, capture::Phase::kCommit));
  for (const auto& [node, path] : rank_paths(capture, drafts)) {
    TreePlaceYield& place = places[path];
    place.path = path;
    const auto verdict = judged.find(node);
    if (verdict != judged.end()) {
      ++place.sent;
      place.accepted += verdict->second;
    }
    const std::int32_t parent = capture.nodes()[static_cast<std::size_t>(node)].parent;
    if (!text.goes_on(parent)) continue;
    ++place.reached;
    // A draft that was refused and then drawn again is another node.
    place.came += verdict != judged.end() ? verdict->second : text.has(node);
  }
}

}  // namespace

TreeYield tree_yield(const capture::Capture& capture, capture::Tick cursor, StepRange range) {
  const Text text(text_at(capture, cursor));
  Places places;
  TreeYield yield;
  const capture::Tick end = std::min(cursor, capture.end_tick());
  for (std::int32_t step = 0; capture::make_tick(step, capture::Phase::kAccept) < end; ++step) {
    if (!is_within(range, step)) continue;
    const auto row = capture.step(step);
    yield.steps += row && row->drafted > 0;
    add_step(capture, step, text, places);
  }
  for (auto& [path, place] : places) yield.places.push_back(std::move(place));
  std::stable_sort(yield.places.begin(), yield.places.end(),
                   [](const TreePlaceYield& a, const TreePlaceYield& b) {
                     return stands_before(a.path, b.path);
                   });
  return yield;
}

void add_tree_yield(TreeYield& sum, const TreeYield& more) {
  sum.steps += more.steps;
  for (const TreePlaceYield& place : more.places) {
    auto found = std::lower_bound(sum.places.begin(), sum.places.end(), place,
                                  [](const TreePlaceYield& a, const TreePlaceYield& b) {
                                    return stands_before(a.path, b.path);
                                  });
    if (found == sum.places.end() || found->path != place.path) {
      sum.places.insert(found, place);
      continue;
    }
    found->sent += place.sent;
    found->accepted += place.accepted;
    found->reached += place.reached;
    found->came += place.came;
  }
}

std::vector<BestTreeNode> best_tree(const TreeYield& yield, std::size_t nodes) {
  std::map<RankPath, double> comes_true = {{{}, 1.0}};  // places are parents first
  std::vector<BestTreeNode> all;
  for (const TreePlaceYield& place : yield.places) {
    const auto above = comes_true.find(RankPath(place.path.begin(), place.path.end() - 1));
    const double product = above == comes_true.end() ? 0 : above->second * place.share();
    comes_true[place.path] = product;
    if (product > 0) all.push_back({.path = place.path, .comes_true = product});
  }
  // A product is at most its parent's, so the largest n are a tree. Of equal ones the parent stands
  // first.
  std::stable_sort(all.begin(), all.end(), [](const BestTreeNode& a, const BestTreeNode& b) {
    return a.comes_true > b.comes_true;
  });
  if (all.size() > nodes) all.resize(nodes);
  double tokens = 1;
  for (BestTreeNode& node : all) node.tokens_per_forward = tokens += node.comes_true;
  return all;
}

}  // namespace triescope::viz
