// A diagnosis for people and for programs.
#pragma once

#include <string>

#include "core/doctor/doctor.h"

namespace triescope::doctor {

std::string report_text(const Diagnosis& diagnosis, const std::string& path);
// {"findings": [{"code", "count", "first": {"step", "node", "row", "slot"}, "text", …}]}: docs/cli.md.
std::string report_json(const Diagnosis& diagnosis);

}  // namespace triescope::doctor
