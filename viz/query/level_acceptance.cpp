#include "viz/query/level_acceptance.h"

#include <cmath>
#include <map>
#include <set>

namespace triescope::viz {

using capture::Verdict;

std::vector<LevelAcceptance> level_acceptance(const capture::Capture& capture, std::int32_t step,
                                              capture::Tick cursor) {
  struct Judged {
    std::int32_t node, level;
    bool accepted;
  };
  const capture::Tick accept = capture::make_tick(step, capture::Phase::kAccept);
  if (cursor <= accept) return {};
  std::map<std::int32_t, Judged> judged;  // by node: parents come first
  for (const capture::VerdictRow& row : capture.verdicts(step))
    if (row.tick == accept &&
        (row.verdict == Verdict::kAccepted || row.verdict == Verdict::kRejected) &&
        capture::is_draft(capture.nodes()[static_cast<std::size_t>(row.node)]))
      judged[row.node] = {row.node, 1, row.verdict == Verdict::kAccepted};
  std::map<std::int32_t, LevelAcceptance> levels;
  std::set<std::int32_t> reached;  // by node
  for (auto& [node, draft] : judged) {
    const std::int32_t parent = capture.nodes()[static_cast<std::size_t>(node)].parent;
    const auto above = judged.find(parent);
    if (above != judged.end()) draft.level = above->second.level + 1;
    if (above != judged.end() && !above->second.accepted) continue;
    LevelAcceptance& level = levels[draft.level];
    level.level = draft.level;
    level.reached += reached.insert(parent).second;
    level.accepted += draft.accepted;
  }
  std::vector<LevelAcceptance> all;
  for (const auto& [number, level] : levels) all.push_back(level);
  return all;
}

ShareInterval wilson_interval(std::int64_t successes, std::int64_t n) {
  if (n <= 0) return {};
  constexpr double kZ = 1.959963984540054;
  const auto count = static_cast<double>(n);
  const double share = static_cast<double>(successes) / count, z2 = kZ * kZ / count;
  const double middle = share + z2 / 2,
               half = kZ * std::sqrt(share * (1 - share) / count + z2 / (4 * count));
  // The ends of 0 … 1 are exact, because rounding would leave 5e-15.
  return {successes == 0 ? 0 : (middle - half) / (1 + z2),
          successes == n ? 1 : (middle + half) / (1 + z2)};
}

}  // namespace triescope::viz
