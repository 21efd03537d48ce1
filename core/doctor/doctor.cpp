#include "core/doctor/doctor.h"

#include <iterator>

#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

struct Family {
  const char* name;
  void (*check)(const RunView& run, std::vector<Finding>& out);
};
constexpr Family kFamilies[] = {
    {"masks", check_mask},      {"positions", check_positions},
    {"KV slots", check_slots},  {"acceptance", check_acceptance},
    {"text", check_text},       {"beams", check_beams},
    {"padding", check_padding}, {"acceptance by level", check_acceptance_shape}};

}  // namespace

std::string checked_families() {
  std::string names;
  for (const Family& family : kFamilies)
    names += (names.empty() ? "" : ", ") + std::string(family.name);
  return names;
}

Diagnosis diagnose(const capture::Capture& capture, const Progress& progress) {
  const RunView run(capture);
  std::vector<Finding> findings;
  double done = 0;
  for (const Family& family : kFamilies) {
    if (progress && !progress(done / std::size(kFamilies))) break;
    family.check(run, findings);
    ++done;
  }
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
