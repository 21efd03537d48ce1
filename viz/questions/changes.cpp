#include "viz/questions/changes.h"

#include "viz/questions/leaves.h"

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

}  // namespace triescope::viz
