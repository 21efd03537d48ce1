// What recorded drafts are judged again by: a rule, and which of the drafts that were proposed the
// target would have seen. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/rank_paths.h"

namespace triescope::viz {

struct RejudgeSettings {
  std::string verify;  // "greedy", "top_k", …; "" = the run does not say: the recorded text stands
  double typical_epsilon = 0.09, typical_delta = 0.3;
  int accept_top_k = 1;
  // Upper limits: drafts a step, levels, ranks below a node, and nodes of a level with drafts below
  // them. Nothing that was not proposed comes in.
  std::optional<int> drafts = {}, depth = {}, rank = {}, width = {};
  std::vector<RankPath> tree = {};  // these places alone; none = all

  bool narrows() const { return drafts || depth || rank || width || !tree.empty(); }
  bool same_rule(const RejudgeSettings& other) const;
};

// Those that the run was decoded with; nothing is narrowed.
RejudgeSettings recorded_settings(const capture::Capture& capture);

// Changes one. Names: the run's own parameters (verify, typical_epsilon, typical_delta,
// accept_top_k, tree, and those that bound its drafts: num_draft, draft_tokens, draft_levels,
// draft_top_k, …), or for every method: drafts, depth, rank. Error{kInvalidArgument}: an unknown
// name, a value that is no such number, a rule that does not go with the run's drafts.
void set_rejudge(RejudgeSettings& settings, const capture::Capture& capture,
                 const std::string& name, const std::string& value);

// Whether the drafts were drawn at random (q < 1), and so judged by ratios.
bool has_drawn_drafts(const capture::Capture& capture);
// The rules that go with them.
std::vector<std::string> rejudge_rules(const capture::Capture& capture);

}  // namespace triescope::viz
