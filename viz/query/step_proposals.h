// All drafts that a step's drafter proposed, those that were sent and those that it withdrew, and
// which of them other settings would have sent. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "viz/query/rejudge_settings.h"
#include "viz/query/step_drafts.h"

namespace triescope::viz {

// Whether the run's drafter withdrew any: then the likeliest by Σ log q were sent.
bool ranks_drafts(const capture::Capture& capture);

struct StepProposals {
  // ranked: the run's drafter sends the likeliest by Σ log q (ranks_drafts).
  StepProposals(const capture::Capture& capture, std::int32_t step, bool ranked);

  std::int32_t frontier = -1;          // the node from which they hang; -1 = none, or several texts
  std::vector<StepDraft> drafts = {};  // parents first
  std::map<std::int32_t, RankPath> paths = {};  // by node
  std::map<std::int32_t, std::int32_t> parents = {};
  std::set<std::int32_t> sent = {};  // those that the target saw
  bool is_ranked = false;

  // Those that the settings would have sent. nullopt: that depends on what the drafter gave them,
  // which was not recorded.
  std::optional<std::set<std::int32_t>> to_send(const RejudgeSettings& settings) const;
};

}  // namespace triescope::viz
