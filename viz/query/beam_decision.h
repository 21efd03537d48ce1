// BeamDecision: what one step of beam search chooses from, and what it chooses: the candidates of
// all beams in one list by Σ log p, with the line of the cut. It is known once the forward has run.
// Before the accept phase has decided, it follows the rules of core/verify/beam.h (4, 6 and 8) on
// what was recorded. Pure: the same capture and cursor give the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/capture/capture.h"

namespace triescope::viz {

// Kinds of decision that a step makes.
enum class DecisionKind : std::uint8_t {
  kDraw,    // one token after a row: drawn, or the best
  kBeams,   // the best continuations of all beams
  kDrafts,  // which drafts pass
};
// Whether the run keeps several texts side by side and cuts them: beam search, at any step of it.
bool searches_beams(const capture::Capture& capture);
DecisionKind decision_kind(const capture::Capture& capture, std::int32_t step);
// The step whose decision a cursor shows: its own step once its forward has run, else the one
// before; -1 = none yet.
std::int32_t decision_step(const capture::Capture& capture, capture::Tick cursor);

// The node that a candidate of `parent` became by the cursor; -1 = none. A draft that was not
// accepted does not count, unless it is the drafter's own candidate (`whose`).
std::int32_t child_of(const capture::Capture& capture, std::int32_t parent, std::int32_t token,
                      capture::Tick cursor, capture::Whose whose = capture::Whose::kTarget);

struct BeamChoice {
  enum class Fate : std::uint8_t {
    kNext,       // undecided: it will go on, as far as the recorded rules tell
    kFinishing,  // undecided: it will finish
    kKept,
    kFinished,
    // among the best, then dropped: by a pruning rule, or because better sequences are finished
    kPruned,
    kOut,      // below the cut
    kLateEnd,  // ends the text, but is not among the best of the search's width: it may not finish
  };
  std::int32_t parent = 0, token = 0;
  std::int32_t child = -1;  // its node, once it has one
  float logprob = 0;        // log p of the token, as the search sees it
  float score = 0;          // Σ log p of the path with the token
  Fate fate = Fate::kOut;
  // Above the cut: how much its Σ log p exceeds the best candidate that was left out. Below the
  // cut: how much it falls short of the last one that goes on (if none does, of the last that
  // finishes). NaN if there is none.
  float gap = 0;
  bool chosen() const { return fate != Fate::kOut && fate != Fate::kLateEnd; }
};

struct BeamDecision {
  std::int32_t step = -1;  // -1: nothing to show
  bool decided = false;
  std::int32_t width = 0;  // the search's
  // best Σ log p first; of equal ones the better parent first, then the lower token
  std::vector<BeamChoice> choices;
  std::size_t cut = 0;  // number of choices above the line
  // From here on candidates may be missing in between: only the best of each beam's row are
  // recorded.
  std::size_t complete = 0;
};

BeamDecision beam_decision(const capture::Capture& capture, capture::Tick cursor);

}  // namespace triescope::viz
