// The checks that need the capture alone, one family a file. Each adds what it finds to `out`, in any
// order; rows that a capture lacks are not checked, and are no finding.
#pragma once

#include <vector>

#include "core/doctor/finding.h"
#include "core/doctor/run_view.h"

namespace triescope::doctor {

void check_mask(const RunView& run, std::vector<Finding>& out);
void check_positions(const RunView& run, std::vector<Finding>& out);
void check_slots(const RunView& run, std::vector<Finding>& out);
void check_acceptance(const RunView& run, std::vector<Finding>& out);
void check_text(const RunView& run, std::vector<Finding>& out);
void check_beams(const RunView& run, std::vector<Finding>& out);
void check_padding(const RunView& run, std::vector<Finding>& out);
void check_acceptance_shape(const RunView& run, std::vector<Finding>& out);

}  // namespace triescope::doctor
