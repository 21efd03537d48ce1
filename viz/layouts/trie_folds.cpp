#include "viz/layouts/trie_folds.h"

#include <algorithm>

namespace triescope::viz {
namespace {

using capture::NodeState;

constexpr std::size_t kManyNodes = 300;  // kAuto: from here on old dead branches are left out
// kAuto: from kManyUnverified on only some of them are drawn,
constexpr std::ptrdiff_t kManyUnverifiedOfStep = 16;  // the same of a section
constexpr std::int32_t kUnverifiedBelow = 1;  // so many below each parent, those of the step shown
constexpr std::int32_t kDeadSteps = 6;        // how long a dead branch stays in sight
constexpr std::int32_t kManyColumns = 90;     // kAuto: from here on stretches become runs
constexpr std::int32_t kMinRun = 8;           // a shorter stretch is not worth a fold
constexpr std::int32_t kGrowingEnd = 16;      // the newest columns are never folded

}  // namespace

std::vector<TrieItem> fold_trie(std::span<const capture::NodeRow> nodes,
                                std::span<const NodeState> states, std::int32_t shown_step,
                                const FoldOptions& options) {
  const std::size_t count = nodes.size();
  std::vector<TrieItem> items;
  if (count == 0) return items;
  const auto index = [](std::int32_t node) { return static_cast<std::size_t>(node); };
  if (options.mode == FoldMode::kNone && options.closed.empty() && options.unverified) {
    items.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto node = static_cast<std::int32_t>(i);
      items.push_back({.node = node, .parent = i == 0 ? -1 : nodes[i].parent, .last = node});
    }
    return items;
  }

  // Size of every subtree, and the last step that added to it.
  std::vector<std::int32_t> below(count, 0), last_step(count, 0);
  std::int32_t depth = 0;
  for (std::size_t i = count; i-- > 0;) {
    last_step[i] = std::max(last_step[i], capture::step_of(nodes[i].tick));
    depth = std::max(depth, nodes[i].depth);
    if (i == 0) break;
    const auto parent = index(nodes[i].parent);
    below[parent] += below[i] + 1;
    last_step[parent] = std::max(last_step[parent], last_step[i]);
  }

  const bool folds_dead =
      options.mode == FoldMode::kAll || (options.mode == FoldMode::kAuto && count >= kManyNodes);
  const std::int32_t keep = options.mode == FoldMode::kAll ? 0 : kDeadSteps;
  const bool folds_unverified = options.mode == FoldMode::kAll ||
                                (options.mode == FoldMode::kAuto &&
                                 std::ranges::count_if(states, is_unverified) >= kManyUnverified);
  std::vector<char> hidden(count, 0);
  std::vector<std::int32_t> hidden_dead(count, 0), hidden_other(count, 0), shown_children(count, 0),
      unverified_below(count, 0);
  for (std::size_t i = 1; i < count; ++i) {
    const auto parent = index(nodes[i].parent);
    if (hidden[parent]) {
      hidden[i] = 1;
      continue;
    }
    const bool closed = options.closed.count(nodes[i].parent) != 0;
    const bool old = folds_dead && is_dead(states[i]) && last_step[i] + keep < shown_step &&
                     options.opened.count(nodes[i].parent) == 0;
    const bool gone = !options.unverified && is_unverified(states[i]);
    const bool unverified = folds_unverified && is_unverified(states[i]) &&
                            options.opened.count(nodes[i].parent) == 0 &&
                            (capture::step_of(nodes[i].tick) < shown_step ||
                             unverified_below[parent]++ >= kUnverifiedBelow);
    if (closed || old || unverified || gone) {
      hidden[i] = 1;
      (is_dead(states[i]) ? hidden_dead : hidden_other)[parent] += below[i] + 1;
      continue;
    }
    ++shown_children[parent];
  }

  // Stretches of depths in which every shown node has exactly one shown child.
  std::vector<std::int32_t> run_end(static_cast<std::size_t>(depth) + 1, -1);  // by first depth
  const bool folds_runs =
      options.mode == FoldMode::kAll || (options.mode == FoldMode::kAuto && depth > kManyColumns);
  if (folds_runs) {
    std::vector<char> plain(static_cast<std::size_t>(depth) + 2, 1);
    for (std::size_t i = 0; i < count; ++i)
      if (!hidden[i] && (shown_children[i] != 1 || hidden_other[i] > 0 || i == 0))
        plain[index(nodes[i].depth)] = 0;
    for (std::int32_t from = 1; from <= depth;) {
      std::int32_t to = from;
      while (to <= depth && plain[index(to)]) ++to;
      // [from, to) are plain: the first keeps its place, so that one sees where the run comes from.
      const std::int32_t first = from + 1, last = std::min(to - 1, depth - kGrowingEnd);
      if (last - first + 1 >= kMinRun) run_end[index(first)] = last;
      from = to + 1;
    }
  }

  // A stretch is opened for all its paths: columns stay positions.
  for (const std::int32_t node : options.opened)
    if (node >= 0 && index(node) < count) run_end[index(nodes[index(node)].depth)] = -1;

  std::vector<std::int32_t> item_of(count, -1);
  items.reserve(folds_dead ? count / 4 : count);
  for (std::size_t i = 0; i < count; ++i) {
    if (hidden[i]) continue;
    const auto node = static_cast<std::int32_t>(i);
    const std::int32_t parent = i == 0 ? -1 : item_of[index(nodes[i].parent)];
    // A run goes on: its first node's item stands for this one too.
    if (parent >= 0) {
      TrieItem& above = items[static_cast<std::size_t>(parent)];
      const std::int32_t first = nodes[index(above.node)].depth;
      if (first <= depth && run_end[index(first)] >= nodes[i].depth) {
        ++above.run;
        above.last = node;
        above.hidden_dead += hidden_dead[i];
        item_of[i] = parent;
        continue;
      }
    }
    item_of[i] = static_cast<std::int32_t>(items.size());
    items.push_back({node, parent, 1, node, hidden_dead[i], hidden_other[i]});
  }
  return items;
}

std::vector<TrieItem> section_of_trie(std::span<const capture::NodeRow> nodes,
                                      std::span<const NodeState> states,
                                      std::pair<std::int32_t, std::int32_t> steps) {
  const auto index = [](std::int32_t node) { return static_cast<std::size_t>(node); };
  const auto step_of = [&](std::size_t i) { return capture::step_of(nodes[i].tick); };
  std::int32_t first = steps.first;
  const std::int32_t last = steps.second;
  std::int32_t newest = -1;  // that hung something, up to the last
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (step_of(i) <= last) newest = std::max(newest, step_of(i));
  first = std::min(first, newest);

  // By node: 0 = left out, 1 = the way to what is shown, 2 = shown.
  std::vector<char> kind(nodes.size(), 0);
  std::int32_t shown_from = INT32_MAX;  // depth
  const auto is_asked = [&](std::size_t i) { return step_of(i) >= first && step_of(i) <= last; };
  std::ptrdiff_t unverified = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    unverified += is_asked(i) && is_unverified(states[i]);
  std::vector<char> hidden(nodes.size(), 0);
  std::vector<std::int32_t> unverified_below(nodes.size(), 0);
  for (std::size_t i = 1; unverified >= kManyUnverifiedOfStep && i < nodes.size(); ++i)
    hidden[i] = hidden[index(nodes[i].parent)] ||
                (is_asked(i) && is_unverified(states[i]) &&
                 unverified_below[index(nodes[i].parent)]++ >= kUnverifiedBelow);
  for (std::size_t i = nodes.size(); i-- > 1;) {
    if (is_asked(i) && !hidden[i]) kind[i] = 2;
    if (!kind[i]) continue;
    if (kind[i] == 2) shown_from = std::min(shown_from, nodes[i].depth);
    char& parent = kind[index(nodes[i].parent)];
    parent = std::max<char>(parent, 1);
  }
  // Depths at which a branch begins on the way. What is shown hangs from nodes that are drawn themselves.
  const std::int32_t way = std::max(0, shown_from == INT32_MAX ? 0 : shown_from - 1);
  std::vector<std::int32_t> children(nodes.size(), 0);
  std::vector<char> branches(index(way) + 1, 0);
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (kind[i] && nodes[i].depth <= way && ++children[index(nodes[i].parent)] > 1)
      branches[index(nodes[index(nodes[i].parent)].depth)] = 1;

  std::vector<TrieItem> items;
  std::vector<std::int32_t> item_of(nodes.size(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0 && !kind[i]) continue;
    const auto node = static_cast<std::int32_t>(i);
    const std::int32_t parent = i == 0 ? -1 : item_of[index(nodes[i].parent)];
    const std::int32_t depth = nodes[i].depth;
    if (depth > 1 && depth < way && !branches[index(depth - 1)]) {
      TrieItem& above = items[index(parent)];
      ++above.run;
      above.last = node;
      item_of[i] = parent;
      continue;
    }
    item_of[i] = static_cast<std::int32_t>(items.size());
    items.push_back({.node = node, .parent = parent, .last = node});
  }
  return items;
}

}  // namespace triescope::viz
