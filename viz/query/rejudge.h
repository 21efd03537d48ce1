// A run's recorded drafts judged again, without decoding: by another rule, or with some of them left
// out. Each step is judged where it stands; and from the first one on the run is followed as long as
// the text stays the same and the next step is one that was recorded. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/query/judge_drafts.h"
#include "viz/query/rejudge_settings.h"

namespace triescope::viz {

struct RejudgedStep {
  std::int32_t step = 0;
  std::int32_t position = 0;  // tokens of the text before it
  std::int32_t sent = 0, recorded_sent = 0;
  std::int32_t accepted = 0, recorded_accepted = 0;
  std::int32_t tokens = 0, recorded_tokens = 0;  // of the text, the target's own included
  NotKnown not_known = NotKnown::kNothing;       // then `accepted` and `tokens` are 0
  bool same_text = false;
  bool followed = false;  // the run with these settings gets here, and the step is known
};

// Why the run could be followed no further.
enum class FollowEnd : std::uint8_t {
  kTextEnds,    // to its end
  kNotKnown,    // RejudgedStep::not_known of the step there
  kNotDrafted,  // it goes on from a place at which no recorded step drafted
  kOtherText,   // the text parts there
};

struct Rejudged {
  std::vector<RejudgedStep> steps = {};  // those that verify drafts or could have, prefill not
  // Over the steps that are known, each where it stands.
  std::int64_t known = 0, tokens = 0, sent = 0, accepted = 0;
  std::int64_t recorded_tokens = 0, recorded_sent = 0, recorded_accepted = 0;  // over all steps
  // From the first step on.
  std::int64_t followed = 0, followed_tokens = 0;
  FollowEnd end = FollowEnd::kTextEnds;
  std::int32_t end_step = -1;  // kNotKnown, kOtherText: that step; kNotDrafted: the last followed
  std::int32_t end_position = 0;  // tokens of the text that it reached

  double tokens_per_forward() const { return ratio(tokens, known); }
  double recorded_tokens_per_forward() const {
    return ratio(recorded_tokens, static_cast<std::int64_t>(steps.size()));
  }
  double followed_tokens_per_forward() const { return ratio(followed_tokens, followed); }
  static double ratio(std::int64_t a, std::int64_t b) {
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0;
  }
};

// Judges the steps again that are finished before the cursor. Error{kInvalidArgument}: the run keeps several
// texts (beams), so its drafts are not judged by such rules.
Rejudged rejudge(const capture::Capture& capture, const RejudgeSettings& settings,
                 capture::Tick cursor);

// "followed to the end of the text", "followed up to step 12, which could not be known: …".
std::string follow_text(const Rejudged& rejudged);
// Header line and a row a step: step,position,recorded_sent,recorded_accepted,recorded_tokens,sent,
// accepted,tokens,same_text,followed,not_known.
std::string rejudged_csv(const Rejudged& rejudged);

}  // namespace triescope::viz
