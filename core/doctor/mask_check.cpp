// Masks: what a row really attended to (`seen`, by slots) against what its path says.
#include <array>
#include <string>

#include "core/capture/row_faults.h"
#include "core/doctor/checks.h"

namespace triescope::doctor {
namespace {

using namespace capture;

constexpr std::array<const char*, kSightFaultKinds> kSightFaultNames = {
    "a slot is seen that nothing was written to",
    "a row sees what lies before its window",
    "a row sees what comes after it",
    "stale KV is seen: that of a node that was refused or freed",
    "a row sees its sibling",
    "a row sees another branch",
    "a row does not see itself",
    "a row does not see all of the prompt",
    "a row does not see an ancestor"};

std::string sight_text(const RunView& run, const InputRow& row, const SightFault& fault) {
  const std::string slot = "slot " + std::to_string(fault.slot);
  if (is_missing(fault.kind))
    return "does not attend to " +
           (fault.kind == SightFaultKind::kNotItself ? std::string("itself")
                                                     : run.name(fault.occupant)) +
           (fault.slot >= 0 ? " in " + slot : std::string());
  if (fault.kind == SightFaultKind::kUnwritten)
    return "attends to " + slot + ", which nothing was written to";
  const std::string who = "attends to " + slot + ", which holds " + run.name(fault.occupant) + ", ";
  const std::string relation = sight_fault_text(run.capture, row.node, fault);
  if (fault.kind == SightFaultKind::kBeforeWindow)
    return who +
           std::to_string(run.capture.position_of(row.node) -
                          run.capture.position_of(fault.occupant)) +
           " positions before it; the window is " + std::to_string(run.window);
  if (fault.kind == SightFaultKind::kStale) return who + "which was " + relation;
  return who + (fault.kind == SightFaultKind::kBranch ? "which is on another branch: " : "") +
         relation;
}

}  // namespace

void check_mask(const RunView& run, std::vector<Finding>& out) {
  // A mask that is wrong is wrong in many places: of each fault the first in a row, among so many.
  constexpr std::size_t kMostOfRow = 1024;
  const RowFaults& faults = run.capture.row_faults();
  for (const Whose whose : run.capture.owners()) {
    RowSights sights(run.capture, whose);
    for (const std::int32_t step : faults.sight_steps(whose))
      for (const InputRow& row : run.capture.inputs(step, whose)) {
        std::array<bool, kSightFaultKinds> told{};
        for (const SightFault& fault : sights.faults(row, kMostOfRow)) {
          const auto kind = static_cast<std::size_t>(fault.kind);
          if (told[kind]) continue;
          told[kind] = true;
          out.push_back(
              {.code = is_missing(fault.kind) ? Code::kMaskMissing : Code::kMaskExtra,
               .step = row.step,
               .node = row.node,
               .row = row.row,
               .slot = fault.slot,
               .whose = row.whose,
               .kind = kSightFaultNames[kind],
               .text = "the row of " + run.name(row.node) + " " + sight_text(run, row, fault),
               .sure = Sure::kCertain});
        }
      }
  }
}

}  // namespace triescope::doctor
