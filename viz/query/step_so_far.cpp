#include "viz/query/step_so_far.h"

#include <algorithm>
#include <set>

#include "core/base/counted.h"
#include "viz/query/step_drafts.h"
#include "viz/query/verdict_kinds.h"

namespace triescope::viz {

using capture::Verdict;

StepSoFar step_so_far(const capture::Capture& capture, std::int32_t step, capture::Tick cursor) {
  StepSoFar found;
  if (step < 0) return found;
  found.decided = has_decided(step, cursor);
  // Without a tree there are only the figures, which are written as the step ends.
  if (capture.nodes().empty()) {
    const auto row = capture.step(step);
    found.decided = row && has_finished(step, cursor);
    if (found.decided)
      found.drafted = row->drafted, found.accepted = row->accepted, found.emitted = row->emitted;
    return found;
  }
  std::set<std::int32_t> withdrawn;
  for (const capture::VerdictRow& row : capture.verdicts(step)) {
    if (row.tick >= cursor) break;
    found.accepted += row.verdict == Verdict::kAccepted;
    found.emitted += becomes_text(row.verdict);
    if (row.verdict == Verdict::kWithdrawn) withdrawn.insert(row.node);
  }
  found.withdrawn = static_cast<std::int32_t>(withdrawn.size());
  for (const StepDraft& draft : step_drafts(capture, step, cursor))
    found.drafted += !withdrawn.contains(draft.node);
  // Beams have no verdict that tells this.
  if (found.decided && found.emitted == 0) found.emitted = 1;
  return found;
}

std::string drafts_text(const StepSoFar& step) {
  if (step.drafted == 0) return "";
  return step.decided
             ? "accepted " + std::to_string(step.accepted) + " of " + std::to_string(step.drafted)
             : counted(step.drafted, "draft");
}

}  // namespace triescope::viz
