#include "viz/query/draft_places.h"
#include "viz/query/step_so_far.h"

#include <map>
#include <utility>

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

}  // namespace triescope::viz
