// A drafter's own view of the tokens that a step decided: the probability it gave each, its place,
// and what became of it before the target saw anything. Only from the capture's rows: the best
// tokens of a draft head's or a draft model's rows; lookups have none. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "core/capture/capture.h"
#include "core/capture/records.h"

namespace triescope::viz {

struct DrafterView {
  bool has_row = false;  // this step has the drafter's row of the node's parent
  capture::Whose whose = capture::Whose::kHead;
  float q = std::numeric_limits<float>::quiet_NaN();  // the token's in that row
  std::int32_t rank = -1;     // its place there, 0 = best; -1 = not among the recorded ones
  std::int32_t listed = 0;    // how many of the row's tokens were recorded
  std::int32_t proposed = 0;  // how many of them it proposed
  // The size of its vocabulary if the token is outside it; else 0.
  std::int32_t unknown_of = 0;
  bool is_draft = false;      // it was proposed in this step
  bool is_withdrawn = false;  // it was then left out of the forward
  // The sum of log q over its path below the frontier; NaN = not a draft, or not recorded.
  float score = std::numeric_limits<float>::quiet_NaN();
  // The least such sum among the drafts that were sent, if no withdrawn draft has more: the ranking
  // then withdrew them. Else NaN.
  float least_sent = std::numeric_limits<float>::quiet_NaN();
  // A near tie of the target, where explained_views() looked for one (draft_causes.h): the refused draft's
  // p over that of the token that came, and the draft. Both views have it. NaN and -1 = none.
  float tie = std::numeric_limits<float>::quiet_NaN();
  std::int32_t tied = -1;
};

// The tokens that a draft head can propose, where it has a vocabulary of its own and the capture
// knows it: what is outside was never in reach.
class DraftVocabulary {
 public:
  // Reads the run's model_json, "draft": "vocabulary" (core/session/model_json.h). Without it, every
  // token is in reach.
  explicit DraftVocabulary(const capture::RunInfo& run);

  bool has(std::int32_t token) const;
  std::int32_t size() const { return size_; }  // 0 = not known to be limited

 private:
  std::string bits_;
  std::int32_t size_ = 0;
};

// By node, for those about which the step's verdicts before the cursor say something.
// `vocabulary`: of the capture's run.
std::map<std::int32_t, DrafterView> drafter_views(const capture::Capture& capture,
                                                  std::int32_t step, capture::Tick cursor,
                                                  const DraftVocabulary& vocabulary);
std::map<std::int32_t, DrafterView> drafter_views(const capture::Capture& capture,
                                                  std::int32_t step, capture::Tick cursor);

// The drafter's word for itself: "the head", "the draft model".
std::string drafter_name(capture::Whose whose);

}  // namespace triescope::viz
