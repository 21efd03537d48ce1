#include "core/doctor/doctor.h"

#include "core/doctor/checks.h"

namespace triescope::doctor {

Diagnosis diagnose(const capture::Capture& capture) {
  const RunView run(capture);
  std::vector<Finding> findings;
  for (const auto check : {check_mask, check_positions, check_slots, check_acceptance, check_text,
                           check_beams, check_padding, check_acceptance_shape})
    check(run, findings);
  Diagnosis diagnosis{.groups = grouped(findings), .not_checked = {}};
  const auto needs = [&](const char* family, const char* table) {
    if (capture.rows_in(table) == 0)
      diagnosis.not_checked.push_back(std::string(family) + ": no rows in " + table);
  };
  needs("masks", "seen");
  needs("positions", "input");
  needs("slots", "slot");
  needs("acceptance", "verdict");
  needs("argmax and beams", "candidate");
  return diagnosis;
}

}  // namespace triescope::doctor
