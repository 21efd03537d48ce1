#include "viz/query/draft_places.h"

#include <cmath>
#include <map>
#include <utility>

#include "viz/query/step_so_far.h"

namespace triescope::viz {

using capture::Verdict;

std::vector<DraftPlace> draft_places(const capture::Capture& capture, std::int32_t step,
                                     capture::Tick cursor) {
  struct Judged {
    std::int32_t level = 1;
    bool accepted = false;
  };
  if (!has_decided(step, cursor)) return {};
  const capture::Tick accept = capture::make_tick(step, capture::Phase::kAccept);
  std::map<std::int32_t, Judged> judged;  // by node: parents come first
  for (const capture::VerdictRow& row : capture.verdicts(step))
    if (row.tick == accept &&
        (row.verdict == Verdict::kAccepted || row.verdict == Verdict::kRejected) &&
        capture::is_draft(capture.nodes()[static_cast<std::size_t>(row.node)]))
      judged[row.node].accepted = row.verdict == Verdict::kAccepted;
  std::map<std::pair<std::int32_t, std::int32_t>, DraftPlace> places;  // by level and parent
  for (auto& [node, draft] : judged) {
    const std::int32_t parent = capture.nodes()[static_cast<std::size_t>(node)].parent;
    const auto above = judged.find(parent);
    if (above != judged.end()) draft.level = above->second.level + 1;
    if (above != judged.end() && !above->second.accepted) continue;
    DraftPlace& place = places[{draft.level, parent}];
    place.parent = parent;
    place.level = draft.level;
    place.drafts.push_back(node);
    if (draft.accepted) place.accepted = node;
  }
  std::vector<DraftPlace> all;
  for (auto& [key, place] : places) all.push_back(std::move(place));
  return all;
}

std::vector<LevelAcceptance> level_acceptance(const capture::Capture& capture, std::int32_t step,
                                              capture::Tick cursor) {
  std::vector<LevelAcceptance> levels;
  for (const DraftPlace& place : draft_places(capture, step, cursor)) {
    if (levels.empty() || levels.back().level != place.level)
      levels.push_back({.level = place.level});
    ++levels.back().reached;
    levels.back().accepted += place.accepted >= 0;
  }
  return levels;
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
