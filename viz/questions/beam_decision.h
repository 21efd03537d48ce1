// BeamDecision: what one step of beam search chooses from, and what it chooses: the candidates of all
// beams in one list by Σ log p, with the line of the cut. Known from the forward on, before the accept
// phase has decided; then it follows the rules of core/accept/beam.h (4, 6 and 8) over what was
// recorded. Pure: the same capture and cursor give the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// What a step decides, by what it works with.
enum class DecisionKind : std::uint8_t {
  kDraw,    // one token after a row: drawn, or the best
  kBeams,   // the best continuations of all beams
  kDrafts,  // which drafts pass
};
// The run keeps several texts side by side and cuts them: beam search, at any step of it.
bool searches_beams(const capture::Capture& capture);
DecisionKind decision_kind(const capture::Capture& capture, std::int32_t step);
// The step whose decision a cursor shows: its own once its forward has run, else the one before; -1 =
// none yet.
std::int32_t decision_step(const capture::Capture& capture, capture::Tick cursor);

// The node that a candidate of `parent` became by the cursor; -1 = none. A draft that was not
// accepted does not count, unless it is the drafter's own candidate (`whose`).
std::int32_t child_of(const capture::Capture& capture, std::int32_t parent, std::int32_t token,
                      capture::Tick cursor, capture::Whose whose = capture::Whose::kTarget);

struct BeamChoice {
  enum class Fate : std::uint8_t {
    kNext,       // not decided yet: will go on, as far as the recorded rules say
    kFinishing,  // not decided yet: will finish
    kKept,
    kFinished,
    kPruned,   // among the best, then dropped: by a pruning rule, or better sequences are finished
    kOut,      // below the cut
    kLateEnd,  // ends the text, but is not among the best of the search's width: may not finish
  };
  std::int32_t parent = 0, token = 0;
  std::int32_t child = -1;  // its node, once it has one
  float logprob = 0;        // log p of the token, as the search sees it
  float score = 0;          // Σ log p of the path with the token
  Fate fate = Fate::kOut;
  // Above the cut: Σ log p above the best candidate left out; below it: below the last that goes
  // on (where none does, the last that finishes).
  // NaN where there is none.
  float gap = 0;
  bool chosen() const { return fate != Fate::kOut && fate != Fate::kLateEnd; }
};

struct BeamDecision {
  std::int32_t step = -1;  // -1: nothing to show
  bool decided = false;
  std::int32_t width = 0;           // of the search
  std::vector<BeamChoice> choices;  // best Σ log p first; ties: the better parent, the lower token
  std::size_t cut = 0;              // how many lie above the line
  // From here on candidates may be missing between those listed: only the best of each beam's row are
  // recorded.
  std::size_t complete = 0;
};

BeamDecision beam_decision(const capture::Capture& capture, capture::Tick cursor);

}  // namespace triescope::viz
