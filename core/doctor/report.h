// A diagnosis for people and for programs.
#pragma once

#include <string>

#include "core/doctor/doctor.h"

namespace triescope::doctor {

// Where a finding is: "step 3, row 1, node 5"; "" = it is about no place.
std::string place_text(const Finding& finding);
// The same for `triescope RUN --open`: "step/3/node/5"; "" = it names neither.
std::string place_link(const Finding& finding);

// Its text as a sentence that begins a line.
std::string sentence_text(const Finding& finding);
// How often and since when: "5 times in 5 steps, first at step 3", "3 times in this step"; "" = once.
std::string times_text(const FindingGroup& group);

// `title` begins it. `path`: the capture that the places are in, for the line that says how to look at the
// first one; "" = no such line.
std::string report_text(const Diagnosis& diagnosis, const std::string& title,
                        const std::string& path = "");
// {"findings": [{"code", "count", "first": {"step", "node", "row", "slot"}, "text", …}]}: docs/cli.md.
std::string report_json(const Diagnosis& diagnosis);

}  // namespace triescope::doctor
