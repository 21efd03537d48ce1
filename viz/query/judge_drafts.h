// A step's drafts judged again by a rule of core/verify, as far as what was recorded decides it.
// Pure.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "viz/query/judged_text.h"
#include "viz/query/step_proposals.h"

namespace triescope::viz {

enum class NotKnown : std::uint8_t {
  kNothing = 0,   // it is known
  kTargetRow,     // the rule needs more of a target's row than was recorded
  kDrafterRow,    // which drafts are sent depends on a drafter's row that was not recorded
  kDraw,          // the rule needs random numbers that were never drawn
  kSeveralTexts,  // the step went on from several texts, or from none
};
const char* words_of(NotKnown why);  // "it needs …": after "could not be known: "

struct JudgedDrafts {
  NotKnown not_known = NotKnown::kNothing;
  std::vector<std::int32_t> path = {};  // the accepted drafts, top down
  std::int32_t tokens = 0;              // these, and the target's own token after them
  // The text is the recorded one up to and with the target's own token.
  bool same_text = false;
};

// sent: the drafts that the target sees. recorded: what the run was decoded with.
JudgedDrafts judge_drafts(const JudgedText& text, const StepProposals& step, std::int32_t number,
                          const std::set<std::int32_t>& sent, const RejudgeSettings& settings,
                          const RejudgeSettings& recorded);

}  // namespace triescope::viz
