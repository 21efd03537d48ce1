// A step's figures as far as a cursor has seen them: nothing of a later phase. They are counted in
// the rows of the phases before the cursor, so that a run that is stepped by phases, a replay and a
// picture say the same. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "core/capture/capture.h"

namespace triescope::viz {

struct StepSoFar {
  std::int32_t drafted = 0;    // drafts for the target to verify
  std::int32_t withdrawn = 0;  // proposed, and left out of the forward
  bool decided = false;        // its accept phase has passed; before that the rest is 0
  std::int32_t accepted = 0;   // drafts
  std::int32_t emitted = 0;    // tokens that became text, the target's own included; beams: 1
};

// Whether a cursor has seen the decision of `step`'s accept phase.
constexpr bool has_decided(std::int32_t step, capture::Tick cursor) {
  return cursor > capture::make_tick(step, capture::Phase::kAccept);
}

// Whether a cursor has seen all of a step.
constexpr bool has_finished(std::int32_t step, capture::Tick cursor) {
  return cursor > capture::make_tick(step, capture::Phase::kObserve);
}

StepSoFar step_so_far(const capture::Capture& capture, std::int32_t step, capture::Tick cursor);

// "6 drafts", "accepted 1 of 6"; "" if there are none.
std::string drafts_text(const StepSoFar& step);

}  // namespace triescope::viz
