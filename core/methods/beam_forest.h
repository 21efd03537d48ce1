// The drafter of speculative beam search: a forest below the live beams. The guide searches level by level, by
// the beam's score + log q along the drafts: a level has the beams that it keeps, and the best of what it would
// drop. The next level begins with all of these. So a guide that says the target's own log p misses no level.
//
//   fixed width    `draft_width` drafts a level (0: twice the beams)
//   dynamic width  of these, the kept ones and what lies at most `draft_margin` (in nats) below the last of
//                  them: a level on which the guide is sure is narrow, and the forward has fewer rows
//
// No draft ends a text: an EOS is the target's to find, and costs no row.
#pragma once

#include <memory>
#include <vector>

#include "core/method/method.h"
#include "core/methods/beam_guide.h"

namespace triescope {

std::unique_ptr<Drafter> make_beam_forest(const RunContext& run, std::unique_ptr<BeamGuide> guide);
// draft_levels, draft_width, dynamic_width, draft_margin, max_matching_ngram_size.
std::vector<Parameter> beam_forest_parameters();
// How many drafts a level has at most.
int beam_forest_width(const Settings& settings);

}  // namespace triescope
