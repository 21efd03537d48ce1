// DrawDecision: how one token is chosen after one row: the best tokens with their probability at
// every stage that the run's settings switch on, and the draw. Only from what the capture holds:
// stages may be missing. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

struct DrawToken {
  std::int32_t token = 0;
  std::vector<float>
      p;  // [0]: the model's; [1 + i]: after stages[i]. 0 = cut away, NaN = not recorded
  float q = std::numeric_limits<float>::quiet_NaN();  // from which drafts below the node were drawn
  // in the distribution from which the token was drawn
  float drawn_p = std::numeric_limits<float>::quiet_NaN();
  float at = std::numeric_limits<float>::quiet_NaN();  // StageRow::at
};

struct DrawDecision {
  std::int32_t step = -1;  // -1: nothing to show
  std::int32_t node = 0;   // the node whose row it is
  bool decided = false;
  std::int32_t token = -1, child = -1;  // the choice; -1 = not yet
  float u = -1;                         // -1 = none
  bool gumbel = false;                  // whether DrawToken::at are Gumbel scores
  bool from_rest = false;               // drawn from what drafts left, not from the last stage
  std::vector<capture::Stage> stages;   // in their order; without kProposal and kDrawn
  std::vector<DrawToken> tokens;        // by p at the last stage, then by the model's, best first
};

// The decision on the text's newest token in the step whose decision the cursor shows. `node`:
// another node of that step's forward; -1 = the frontier's best.
DrawDecision draw_decision(const capture::Capture& capture, capture::Tick cursor,
                           std::int32_t node = -1);

}  // namespace triescope::viz
