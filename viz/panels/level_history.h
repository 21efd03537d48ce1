// LevelHistory: how well each level of drafts guessed, over the text: a column a position of the
// text, a row a level, in each cell the place that the level had given the token that came there.
// Beside them each level's shares over the steps in range. Works for runs that grow: what came is
// compared once.
#pragma once

#include <cstdint>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/look/scene.h"
#include "viz/questions/draft_levels.h"

namespace triescope::viz {

struct LevelGuess {
  std::int32_t step = 0, level = 1, depth = 0;
  std::int32_t came = -1;  // the node that came there, by the end of the capture; -1 = none yet
  Guess guess = Guess::kUnknown;
  std::int32_t place = -1;
};

struct LevelShares {
  std::int32_t level = 1;
  std::int32_t guesses = 0;  // whose token has come
  std::int32_t first = 0;    // of them: the level's first guess
  std::int32_t any = 0;      // of them: proposed at all
  std::int32_t used = 0;     // of them: verified by the target, and came
};

class LevelHistory {
 public:
  // By step, then level; of the whole capture.
  const std::vector<LevelGuess>& guesses(const capture::Capture& capture);
  std::vector<LevelShares> shares(const Scene& scene);  // of the steps in range

  void clear() { cells_ = {}; }  // nothing is drawn: the mouse meets nothing
  float height_em(const Scene& scene);
  // `step` is the one whose drafts stand above: its cells are framed.
  void draw(Canvas& canvas, Rect area, std::int32_t step, const Scene& scene);
  void input(const Input& in, const Scene& scene, Reaction& reaction);

 private:
  const capture::Capture* of_ = nullptr;
  std::int64_t steps_ = -1, verdicts_ = -1, sequences_ = -1;
  std::vector<std::int32_t> text_;  // its nodes, that the guesses are compared with
  std::vector<LevelGuess> guesses_;
  struct {
    Rect area;
    float width = 0, height = 0;
    std::int32_t first_depth = 1;
  } cells_;
};

// "the 3rd of its guesses", "proposed below other tokens", …
std::string guess_text(Guess guess, std::int32_t place);
// "1st", "2nd", "3rd", "4th", … of a place counted from 0.
std::string ordinal_text(std::int32_t place);

}  // namespace triescope::viz
