// LevelHistory: how well each level of drafts guessed, over the text. Each position of the text has
// a column and each level a row; a cell holds the place that the level gave the token that came.
// Beside them stand each level's shares over the steps in range. Everything counts only what the
// cursor has seen. In a run that grows, each guess is compared once.
#pragma once

#include <cstdint>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/draft_levels.h"
#include "viz/query/draft_places.h"
#include "viz/text/number_text.h"

namespace triescope::viz {

struct LevelGuess {
  std::int32_t step = 0, level = 1, depth = 0;
  std::int32_t came = -1;  // node that came there by the end of the capture; -1 = none yet
  Guess guess = Guess::kUnknown;
  std::int32_t place = -1;
};

struct LevelShares {
  std::int32_t level = 1;
  std::int32_t guesses = 0;  // guesses whose token has come
  std::int32_t first = 0;    // of these: the level's first guess came
  std::int32_t any = 0;      // of these: the token was proposed at all
  std::int32_t used = 0;     // of these: the target verified it, and it came
  // These count only cases where the level before had been accepted (LevelAcceptance).
  std::int32_t reached = 0, accepted = 0;
};

class LevelHistory {
 public:
  // All guesses of the capture, by step, then level.
  const std::vector<LevelGuess>& guesses(const capture::Capture& capture);
  // The guesses of the steps in range that the cursor has seen. A token that came later is not
  // known yet.
  std::vector<LevelGuess> seen(const Scene& scene);
  std::vector<LevelShares> shares(const Scene& scene);  // shares of seen()

  void clear() { cells_ = {}, body_ = {}; }     // nothing is drawn: the mouse meets nothing
  int levels(const capture::Capture& capture);  // of the step that has most
  float height_em(const Scene& scene);          // in which every level of the run has its row
  // `step` is the one whose drafts stand above: its cells are framed.
  void draw(Canvas& canvas, Rect area, std::int32_t step, const Scene& scene);
  void input(const Input& in, const Scene& scene, Reaction& reaction);

 private:
  struct Tally {
    std::int32_t step;
    LevelAcceptance level;
  };
  const std::vector<std::int32_t>& seen_text(const Scene& scene);

  const capture::Capture* of_ = nullptr;
  std::int64_t steps_ = -1, verdicts_ = -1, sequences_ = -1;
  std::vector<std::int32_t> text_;  // nodes of the text that the guesses are compared with
  std::vector<LevelGuess> guesses_;
  std::vector<Tally> tallies_;  // of all finished steps, in order
  capture::Tick seen_at_ = -1;
  std::vector<std::int32_t> seen_text_;  // the text's nodes at seen_at_
  float scroll_ = 0;                     // levels out of sight above
  Rect body_;                            // of the rows; takes the wheel
  std::int32_t levels_ = 0;
  struct {
    Rect area;
    float width = 0, height = 0;
    std::int32_t first_depth = 1, first_level = 1;
  } cells_;
};

// "the 3rd of its guesses", "proposed below other tokens", …
std::string guess_text(Guess guess, std::int32_t place);

}  // namespace triescope::viz
