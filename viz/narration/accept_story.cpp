// The accept phase: of beams, or of texts with the drafts below them.
#include <algorithm>

#include "viz/narration/story.h"

namespace triescope::viz {
namespace {

using capture::Reason;
using capture::Verdict;
using capture::VerdictRow;

bool is_of_beams(const VerdictRow& row) {
  return row.verdict == Verdict::kKept || row.verdict == Verdict::kPruned ||
         row.reason == Reason::kBeamEos || row.reason == Reason::kBeamMaxTokens;
}

}  // namespace

void tell_accept(Story& story) {
  const auto verdicts = verdicts_of(story);
  if (verdicts.empty()) return story.say("accept.unrecorded");
  // In captures of schema 1 a finished beam's reason is no code.
  const bool only_ends = std::all_of(verdicts.begin(), verdicts.end(), [](const VerdictRow& row) {
    return row.verdict == Verdict::kFinished;
  });
  if (only_ends || std::any_of(verdicts.begin(), verdicts.end(), is_of_beams))
    tell_beams(story, verdicts);
  else
    tell_texts(story, verdicts);
}

}  // namespace triescope::viz
