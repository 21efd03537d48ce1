#include "app/session/first_drafts.h"

#include <algorithm>

namespace triescope::app {

FirstDrafts first_drafts(std::span<const capture::NodeRow> nodes,
                         const std::function<bool(const capture::NodeRow&)>& counts) {
  FirstDrafts drafts;
  for (const capture::NodeRow& node : nodes) {
    if (!capture::is_draft(node) || !counts(node) || node.parent < 0) continue;
    const capture::NodeRow& parent = nodes[static_cast<std::size_t>(node.parent)];
    // A draft below a draft of the same step is of a deeper level.
    if (capture::is_draft(parent) && parent.tick == node.tick) continue;
    std::vector<std::int32_t> text;
    for (std::int32_t at = node.parent; at > 0; at = nodes[static_cast<std::size_t>(at)].parent)
      text.push_back(nodes[static_cast<std::size_t>(at)].token);
    std::ranges::reverse(text);
    drafts[text].push_back(node.token);
  }
  return drafts;
}

Sameness sameness(const FirstDrafts& a, const FirstDrafts& b) {
  Sameness same;
  std::size_t compared = 0, equal = 0;
  for (const auto& [text, drafts] : a) {
    const auto found = b.find(text);
    if (found == b.end()) continue;
    ++same.places;
    const std::size_t count = std::min(drafts.size(), found->second.size());
    compared += count;
    for (std::size_t i = 0; i < count; ++i)
      equal += static_cast<std::size_t>(std::ranges::count(
          found->second.begin(), found->second.begin() + static_cast<std::ptrdiff_t>(count),
          drafts[i]));
  }
  if (compared > 0) same.share = static_cast<double>(equal) / static_cast<double>(compared);
  return same;
}

}  // namespace triescope::app
