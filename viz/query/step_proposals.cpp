#include "viz/query/step_proposals.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {

bool ranks_drafts(const capture::Capture& capture) {
  for (std::int32_t step = 0; step <= capture.last_step(); ++step)
    for (const capture::VerdictRow& row : capture.verdicts(step))
      if (row.verdict == capture::Verdict::kWithdrawn) return true;
  return false;
}

StepProposals::StepProposals(const capture::Capture& capture, std::int32_t step, bool ranked)
    : is_ranked(ranked) {
  const auto leaves = capture.frontier(step - 1);
  if (leaves.size() == 1) frontier = leaves.front().node;
  drafts = step_drafts(capture, step, capture::make_tick(step, capture::Phase::kCommit));
  paths = rank_paths(capture, drafts);
  std::set<std::int32_t> withdrawn;
  for (const capture::VerdictRow& row : capture.verdicts(step))
    if (row.verdict == capture::Verdict::kWithdrawn) withdrawn.insert(row.node);
  for (const StepDraft& draft : drafts) {
    parents[draft.node] = capture.nodes()[static_cast<std::size_t>(draft.node)].parent;
    if (!withdrawn.contains(draft.node)) sent.insert(draft.node);
  }
}

std::optional<std::set<std::int32_t>> StepProposals::to_send(
    const RejudgeSettings& settings) const {
  if (!settings.narrows()) return sent;
  std::vector<StepDraft> allowed;
  std::set<std::int32_t> open = {frontier};  // nodes below which drafts may hang
  std::int32_t level = 0;
  const bool needs_scores = is_ranked || settings.width;
  if (needs_scores &&
      std::ranges::any_of(drafts, [](const StepDraft& draft) { return std::isnan(draft.score); }))
    return std::nullopt;
  std::vector<StepDraft> by_level = drafts;
  std::ranges::stable_sort(by_level, {}, &StepDraft::level);
  for (std::size_t i = 0; i < by_level.size();) {
    level = by_level[i].level;
    std::vector<StepDraft> here;
    for (; i < by_level.size() && by_level[i].level == level; ++i) {
      const RankPath& path = paths.at(by_level[i].node);
      if (open.contains(parents.at(by_level[i].node)) &&
          (!settings.depth || level <= *settings.depth) &&
          (!settings.rank || path.back() < *settings.rank) &&
          (settings.tree.empty() || std::ranges::find(settings.tree, path) != settings.tree.end()))
        here.push_back(by_level[i]);
    }
    allowed.insert(allowed.end(), here.begin(), here.end());
    if (settings.width && here.size() > static_cast<std::size_t>(*settings.width)) {
      std::ranges::stable_sort(here, is_likelier);
      here.resize(static_cast<std::size_t>(*settings.width));
    }
    for (const StepDraft& draft : here) open.insert(draft.node);
  }
  std::size_t most = allowed.size();
  if (is_ranked) {
    most = sent.size();
    std::ranges::stable_sort(allowed, {}, &StepDraft::node);
    std::ranges::stable_sort(allowed, is_likelier);
  } else {
    std::erase_if(allowed, [&](const StepDraft& draft) { return !sent.contains(draft.node); });
    std::ranges::stable_sort(allowed, {}, &StepDraft::node);
  }
  if (settings.drafts) most = static_cast<std::size_t>(*settings.drafts);
  std::set<std::int32_t> chosen;
  for (const StepDraft& draft : allowed)
    if (chosen.size() < most &&
        (parents.at(draft.node) == frontier || chosen.contains(parents.at(draft.node))))
      chosen.insert(draft.node);
  return chosen;
}

}  // namespace triescope::viz
