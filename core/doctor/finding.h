// What the doctor finds: one place where a run broke a rule, and the same fault over all its steps.
// docs/doctor.md has a section a code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/capture/records.h"

namespace triescope::doctor {

// Gravest first, causes before what follows from them: findings are listed in this order.
enum class Code : std::uint8_t {
  kMaskExtra = 0,
  kMaskMissing,
  kSlotClobbered,
  kSlotLost,
  kSlotDouble,
  kPositionDepth,
  kLogitsCause,
  kLogitsRow,
  kAcceptGreedy,
  kAcceptChain,
  kAcceptTree,
  kAcceptQ,
  kTextLost,
  kTextTwice,
  kTextEos,
  kTextLength,
  kTextGreedy,
  kBeamCut,
  kBeamOrder,
  kBeamEos,
  kBeamScore,
  kPadding,
  kPositionOffset,
  kAcceptanceShape,
};
inline constexpr int kCodeCount = static_cast<int>(Code::kAcceptanceShape) + 1;
const char* to_string(Code code);  // "mask.extra", for programs
const char* rule_of(Code code);    // the rule that was broken, a sentence

enum class Sure : std::uint8_t {
  kCertain = 0,  // the rows contradict each other
  kLikely,       // they do, if the run is what it looks like
  kHint,         // worth a look
};
const char* to_string(Sure sure);  // "certain", "likely", "hint"

// -1 = it is about none.
struct Finding {
  Code code = Code::kMaskExtra;
  std::int32_t step = -1, node = -1, row = -1, slot = -1;
  capture::Whose whose = capture::Whose::kTarget;
  std::string kind = {};  // the fault in a few words, the same wherever it occurs: it groups
  std::string text = {};  // what is wrong here, with its numbers: a sentence
  Sure sure = Sure::kCertain;
};

// The same fault, over all steps.
struct FindingGroup {
  Finding first;
  std::int64_t count = 0;  // findings
  std::int32_t steps = 0;  // in how many steps
};

// Grouped by code, owner and kind. Gravest first, then by step and row.
std::vector<FindingGroup> grouped(std::span<const Finding> findings);

// `more` into groups that are in that order.
void add_groups(std::vector<FindingGroup>& groups, std::vector<FindingGroup> more);

}  // namespace triescope::doctor
