// The kinds of verdicts on drafts and texts.
#pragma once

#include "core/capture/records.h"

namespace triescope::viz {

// Whether it judges a draft as a draft.
constexpr bool judges_a_draft(capture::Verdict verdict) {
  return verdict == capture::Verdict::kAccepted || verdict == capture::Verdict::kRejected ||
         verdict == capture::Verdict::kWithdrawn;
}

// Whether the target chose the token itself.
constexpr bool is_targets_own(capture::Verdict verdict) {
  return verdict == capture::Verdict::kBonus || verdict == capture::Verdict::kCorrected ||
         verdict == capture::Verdict::kEmitted;
}

// Whether the verdict makes the node part of a text.
constexpr bool becomes_text(capture::Verdict verdict) {
  return verdict == capture::Verdict::kAccepted || is_targets_own(verdict);
}

}  // namespace triescope::viz
