#include "viz/handout/pane_plan.h"

#include <algorithm>
#include <map>

#include "viz/query/beam_decision.h"

namespace triescope::viz {

std::vector<std::string> handout_panels(const capture::Capture& capture) {
  if (capture.nodes().size() < 2) return {"memory", "timeline"};
  const auto steps = capture.steps();
  const auto decides = [&](DecisionKind kind) {
    return std::any_of(steps.begin(), steps.end(), [&](const capture::StepRow& row) {
      return decision_kind(capture, row.step) == kind;
    });
  };
  if (decides(DecisionKind::kDrafts)) return {"trie", "text", "verdict", "mask", "kv", "drafts"};
  if (decides(DecisionKind::kBeams)) return {"trie", "text", "verdict", "kv", "memory"};
  return {"trie", "text", "verdict", "candidates"};
}

PaneShape pane_shape(const std::string& panel) {
  static const std::map<std::string, PaneShape> kShapes = {
      {"trie", {.head_width = 32}},
      {"text", {.width = 27, .flows = true}},
      {"narration", {.width = 27, .flows = true}},
      {"inspector", {.width = 27, .flows = true}},
      {"log", {.width = 27, .flows = true}},
      {"doctor", {.width = 36, .flows = true}},
      {"verdict", {.width = 36, .height = 36}},
      {"candidates", {.width = 30}},
      {"positions", {.width = 34}},
      {"kv", {.width = 30}},
      {"drafts", {.width = 34}},
      {"memory", {.width = 36, .height = 19}},
      {"timeline", {.width = 36}},
  };
  const auto found = kShapes.find(panel);
  return found == kShapes.end() ? PaneShape{} : found->second;
}

}  // namespace triescope::viz
