// The doctor: holds a capture, our own or another program's, to the rules that decoding follows, and
// says where it breaks them. Needs no model. docs/doctor.md has what each code means.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/capture/capture.h"
#include "core/doctor/finding.h"

namespace triescope::doctor {

struct Diagnosis {
  std::vector<FindingGroup> groups;      // gravest first
  std::vector<std::string> not_checked;  // "mask: no rows in seen"
};

// Is told how much of the work is done, 0 to 1; false: it ends early, and what was found is incomplete.
using Progress = std::function<bool(double done)>;

// Runs every check. The capture may still grow; what it holds now is checked.
Diagnosis diagnose(const capture::Capture& capture, const Progress& progress = {});

// The things that diagnose() looks at, for people: "masks, positions, ...".
std::string checked_families();

}  // namespace triescope::doctor
