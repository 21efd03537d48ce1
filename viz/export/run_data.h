// A run as data, for a notebook: JSON lines, one a step. Fields of a line:
//   step, rows        the step, rows of the target's forward
//   run               in the first line alone: how the run was made (model, method, settings, seed,
//                     versions, prompt text and ids, when it was recorded, whether a window drew
//                     while it was decoded: timed_while_drawing)
//   drafts            those of this step, parents first: path (token ids below `frontier`, itself
//                     last), frontier (the node that they hang from), node, source, p (the
//                     target's probability), q (the one it was proposed with), score (the drafter's
//                     cumulative log-probability, where the capture has it), verdict, reason,
//                     text (it became text: as an accepted draft, or a withdrawn one that the
//                     target then chose itself)
//   accepted          drafts accepted
//   emitted           token ids that became text; beam search: the best beam's newest
//   frontier          live paths after the step, best first: node, token, score
//   sequences         finished or returned in this step: rank (-1 = not returned), tokens, score,
//                     finish
//   memory            the target's KV in tokens: live, garbage, reserved; draft_memory,
//                     head_memory: a draft model's or a head's, where they have one
//   time_us           microseconds of each phase
// null stands for what the capture does not know. It depends on what was recorded: without the
// tree (Level::kSteps) drafts, emitted and frontier are empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/log.h"
#include "core/capture/capture.h"
#include "viz/query/step_range.h"

namespace triescope::viz {

// The line of a step, without its newline. `with_run` adds the field `run`.
std::string step_line(const capture::Capture& capture, std::int32_t step, bool with_run);

// Writes all lines, or those of the steps first to last. Written whole or not at all (WholeFile).
// Errors: kIoError.
void export_run_data(const capture::Capture& capture, const std::string& path, StepRange range,
                     const ProgressSink& progress = {});

}  // namespace triescope::viz
