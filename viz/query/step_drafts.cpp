#include "viz/query/step_drafts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "viz/query/verdict_kinds.h"

namespace triescope::viz {
namespace {

using capture::Capture;
using capture::NodeRow;
using capture::Whose;

bool is_proposed(const Capture& capture, const NodeRow& draft, std::int32_t step,
                 capture::Tick cursor) {
  for (const Whose whose : {Whose::kDraft, Whose::kHead})
    for (const capture::CandidateRow& row : capture.candidates(draft.parent, cursor, whose))
      if (row.chosen && row.token == draft.token &&
          row.tick == capture::make_tick(step, capture::Phase::kDraft))
        return true;
  return false;
}

std::set<std::int32_t> nodes_of(const Capture& capture, std::int32_t step, capture::Tick cursor) {
  const auto first = capture.nodes_at(capture::make_tick(step, capture::Phase::kDraft)).size();
  const auto end =
      capture.nodes_at(std::min(cursor, capture::make_tick(step + 1, capture::Phase::kDraft)));
  std::set<std::int32_t> nodes;
  for (std::size_t i = first; i < end.size(); ++i)
    if (capture::is_draft(end[i])) nodes.insert(end[i].node);
  // Paths from earlier steps: the forward and the verdicts name them.
  const auto found = [&](std::int32_t node) {
    if (node > 0 && static_cast<std::size_t>(node) < first &&
        capture::is_draft(capture.nodes()[static_cast<std::size_t>(node)]))
      nodes.insert(node);
  };
  if (cursor > capture::make_tick(step, capture::Phase::kForward))
    for (const capture::InputRow& row : capture.inputs(step)) found(row.node);
  for (const capture::VerdictRow& row : capture.verdicts(step))
    if (row.tick < cursor && judges_a_draft(row.verdict)) found(row.node);
  // Those that a drafter's own rows of this step say were proposed again.
  std::vector<std::int32_t> above;
  for (const capture::FrontierRow& row : capture.frontier(step - 1)) above.push_back(row.node);
  while (!above.empty()) {
    const std::int32_t parent = above.back();
    above.pop_back();
    for (const std::int32_t child : capture.children(parent)) {
      const NodeRow& row = capture.nodes()[static_cast<std::size_t>(child)];
      if (row.tick >= cursor || !capture::is_draft(row) ||
          !(nodes.contains(child) || is_proposed(capture, row, step, cursor)))
        continue;
      nodes.insert(child);
      above.push_back(child);
    }
  }
  // A node that was text already is not a draft, whoever had proposed it.
  for (const capture::FrontierRow& row : capture.frontier(step - 1)) nodes.erase(row.node);
  return nodes;
}

float logprob_to_the_drafter(const Capture& capture, const NodeRow& draft, capture::Tick cursor) {
  for (const Whose whose : {Whose::kDraft, Whose::kHead})
    for (const capture::CandidateRow& row : capture.candidates(draft.parent, cursor, whose))
      if (row.token == draft.token) return row.logprob;
  return std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

std::vector<StepDraft> step_drafts(const Capture& capture, std::int32_t step,
                                   capture::Tick cursor) {
  std::vector<StepDraft> drafts;
  std::map<std::int32_t, std::size_t> at;
  cursor = std::min(cursor, capture::make_tick(step + 1, capture::Phase::kDraft));
  for (const std::int32_t node : nodes_of(capture, step, cursor)) {
    const NodeRow& row = capture.nodes()[static_cast<std::size_t>(node)];
    StepDraft draft{.node = node, .frontier = row.parent};
    if (const auto parent = at.find(row.parent); parent != at.end()) {
      const StepDraft& above = drafts[parent->second];
      draft.frontier = above.frontier;
      draft.level = above.level + 1;
      draft.score = above.score;
    }
    draft.score += logprob_to_the_drafter(capture, row, cursor);
    at[node] = drafts.size();
    drafts.push_back(draft);
  }
  return drafts;
}

}  // namespace triescope::viz
