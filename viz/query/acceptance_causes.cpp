#include "viz/query/acceptance_causes.h"

#include <algorithm>
#include <cmath>

namespace triescope::viz {

std::vector<DraftFailure> draft_failures(const capture::Capture& capture, AcceptanceBy by,
                                         capture::Tick cursor, StepRange range) {
  const DraftCauses causes(capture);
  std::vector<DraftFailure> all;
  const capture::Tick end = std::min(cursor, capture.end_tick());
  for (std::int32_t step = 0; capture::make_tick(step, capture::Phase::kAccept) < end; ++step) {
    if (!is_within(range, step)) continue;
    const auto failures = is_of_places(by) ? causes.places(step, end) : causes.drafts(step, end);
    all.insert(all.end(), failures.begin(), failures.end());
  }
  return all;
}
Acceptance acceptance_by_cause(const capture::Capture& capture, AcceptanceBy by,
                               capture::Tick cursor, StepRange range) {
  Acceptance all;
  for (int i = 0; i < kDraftCauseCount; ++i) {
    const auto cause = static_cast<DraftCause>(i);
    if (is_of_places(by) && is_of_drafts_alone(cause)) continue;
    all.groups.push_back({.label = words_of(cause), .order = static_cast<double>(i)});
  }
  const std::vector<DraftFailure> failures = draft_failures(capture, by, cursor, range);
  for (const DraftFailure& failure : failures) {
    const auto group =
        std::find_if(all.groups.begin(), all.groups.end(), [&](const AcceptanceGroup& one) {
          return one.order == static_cast<double>(failure.cause);
        });
    ++group->accepted;
    group->cases.push_back({failure.step, failure.node, false, failure.p});
    if (!std::isnan(failure.p)) group->sum_p += static_cast<double>(failure.p), ++group->with_p;
  }
  if (failures.empty()) all.groups.clear();
  for (AcceptanceGroup& group : all.groups) group.n = static_cast<std::int64_t>(failures.size());
  return all;
}

}  // namespace triescope::viz
