// The accept phase of beams, or of texts with the drafts below them.
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

// A recorder may give a beam's end in its own words, without a code. The run's kind decides then.
bool are_of_beams(const Story& story, std::span<const VerdictRow> verdicts) {
  const auto ends = [](const VerdictRow& row) { return row.verdict == Verdict::kFinished; };
  return (story.capture.run().kind == capture::RunKind::kBeams &&
          std::ranges::all_of(verdicts, ends)) ||
         std::ranges::any_of(verdicts, is_of_beams);
}

}  // namespace

void tell_accept(Story& story) {
  const auto verdicts = verdicts_of(story, capture::Phase::kAccept);
  if (verdicts.empty()) return story.say("accept.unrecorded");
  are_of_beams(story, verdicts) ? tell_beams(story, verdicts) : tell_texts(story, verdicts);
}

void tell_decision(Story& story) {
  const auto verdicts = verdicts_of(story, capture::Phase::kAccept);
  if (verdicts.empty()) return;
  are_of_beams(story, verdicts) ? tell_beam_decision(story, verdicts)
                                : tell_text_decision(story, verdicts);
}

}  // namespace triescope::viz
