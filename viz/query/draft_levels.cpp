#include "viz/query/draft_levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "viz/query/leaves.h"

namespace triescope::viz {
namespace {

using capture::Capture;
using capture::NodeRow;

const NodeRow& node_of(const Capture& capture, std::int32_t node) {
  return capture.nodes()[static_cast<std::size_t>(node)];
}

void compare(const Capture& capture, const std::vector<std::int32_t>& text, DraftLevel& level) {
  if (level.depth < 1 || static_cast<std::size_t>(level.depth) > text.size()) return;
  level.came = text[static_cast<std::size_t>(level.depth) - 1];
  const std::int32_t token = node_of(capture, level.came).token;
  level.guess = Guess::kMissed;
  std::vector<std::int32_t> tokens;
  for (const StepDraft& draft : level.drafts) {
    const std::int32_t proposed = node_of(capture, draft.node).token;
    if (std::find(tokens.begin(), tokens.end(), proposed) != tokens.end()) continue;
    if (proposed == token) level.place = static_cast<std::int32_t>(tokens.size());
    tokens.push_back(proposed);
  }
  if (level.place < 0) return;
  const bool is_draft =
      std::any_of(level.drafts.begin(), level.drafts.end(),
                  [&](const StepDraft& draft) { return draft.node == level.came; });
  level.guess = !is_draft ? Guess::kElsewhere
                : std::binary_search(level.withdrawn.begin(), level.withdrawn.end(), level.came)
                    ? Guess::kWithdrawn
                    : Guess::kCame;
}

}  // namespace

DraftLevels draft_levels(const Capture& capture, std::int32_t step, capture::Tick cursor,
                         const std::vector<std::int32_t>& text) {
  DraftLevels out{.step = step};
  std::set<std::int32_t> withdrawn;
  for (const capture::VerdictRow& row : capture.verdicts(step))
    if (row.tick < cursor && row.verdict == capture::Verdict::kWithdrawn)
      withdrawn.insert(row.node);
  std::map<std::int32_t, DraftLevel> levels;
  for (const StepDraft& draft : step_drafts(capture, step, cursor)) {
    DraftLevel& level = levels[draft.level];
    level.level = draft.level;
    level.depth = node_of(capture, draft.node).depth;
    level.drafts.push_back(draft);
    if (withdrawn.contains(draft.node)) level.withdrawn.push_back(draft.node);
  }
  for (auto& [number, level] : levels) {
    std::stable_sort(level.drafts.begin(), level.drafts.end(), is_likelier);
    compare(capture, text, level);
    out.levels.push_back(std::move(level));
  }
  return out;
}

}  // namespace triescope::viz
