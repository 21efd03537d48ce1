#include "viz/query/changes.h"

#include <map>
#include <utility>

#include "viz/query/leaves.h"

namespace triescope::viz {

std::vector<char> changed_nodes(const capture::Capture& capture, capture::Tick from,
                                capture::Tick to) {
  const std::vector<capture::NodeState> before = capture.states_at(from),
                                        after = capture.states_at(to);
  std::vector<char> changed(after.size(), 1);
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i)
    changed[i] = before[i] != after[i];
  return changed;
}

std::unordered_set<std::int32_t> nodes_in_text(const capture::Capture& capture,
                                               capture::Tick cursor) {
  std::unordered_set<std::int32_t> nodes;
  for (const Leaf& leaf : leaves_at(capture, cursor))
    for (const std::int32_t node : capture.path_to(leaf.node)) nodes.insert(node);
  return nodes;
}

std::vector<char> changed_choices(const BeamDecision& before, const BeamDecision& now) {
  std::vector<char> changed(now.choices.size(), 1);
  if (before.step != now.step) return changed;
  std::map<std::pair<std::int32_t, std::int32_t>, BeamChoice::Fate> fates;
  for (const BeamChoice& choice : before.choices)
    fates.emplace(std::pair(choice.parent, choice.token), choice.fate);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const BeamChoice& choice = now.choices[i];
    const auto found = fates.find({choice.parent, choice.token});
    changed[i] = found == fates.end() || found->second != choice.fate;
  }
  return changed;
}

std::vector<char> changed_draws(const DrawDecision& before, const DrawDecision& now) {
  const bool same_row = before.step == now.step && before.node == now.node;
  std::vector<char> changed(now.tokens.size(), same_row ? 0 : 1);
  if (same_row && before.token != now.token)
    for (std::size_t i = 0; i < changed.size(); ++i) changed[i] = now.tokens[i].token == now.token;
  return changed;
}

}  // namespace triescope::viz
