// The proposals of each level of a step's drafts, beside what came: level 1 guesses the token after
// the frontier, level 2 the one after that. A level is one of several heads, a round of drafting (a
// draft model, or a head that is asked repeatedly), or a token of a phrase that was found.
#pragma once

#include <cstdint>
#include <vector>

#include "core/capture/capture.h"
#include "viz/query/step_drafts.h"

namespace triescope::viz {

enum class Guess : std::uint8_t {
  kUnknown,    // no token has come there before the cursor
  kCame,       // a draft of this level that the target verified
  kWithdrawn,  // a withdrawn draft: the target added the token itself
  kElsewhere,  // the level proposed the token, but below other tokens than those that came
  kMissed,     // not proposed
};

struct DraftLevel {
  std::int32_t level = 1;
  std::int32_t depth = 0;  // depth of its nodes
  std::vector<StepDraft> drafts =
      {};  // likeliest first; in the order of drafting where that is unknown
  std::vector<std::int32_t> withdrawn =
      {};                  // nodes of the drafts that the target never saw, ascending
  std::int32_t came = -1;  // the node that came there; -1 = none yet
  Guess guess = Guess::kUnknown;
  // place of the token that came among the level's different tokens, 0 = first
  std::int32_t place = -1;
};

struct DraftLevels {
  std::int32_t step = -1;
  std::vector<DraftLevel> levels =
      {};  // 1, 2, …; a level lies below the nodes of the one before it
};

// The drafts of `step` as known at `cursor`, compared with `text` (the text_at() of some moment).
DraftLevels draft_levels(const capture::Capture& capture, std::int32_t step, capture::Tick cursor,
                         const std::vector<std::int32_t>& text);

}  // namespace triescope::viz
