// BeamTable: the candidates of all beams as one table by Σ log p, with a line for the cut between
// those that go on and the best that do not. The finished hypotheses stand below. Draws only the
// rows in sight.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/query/beam_decision.h"

namespace triescope::viz {

class BeamTable {
 public:
  static constexpr float kRowEm = 1.5f;

  void clear() { shown_ = {}; }  // nothing is drawn: the mouse meets nothing
  // `lit` marks the choices that have just changed; empty = none.
  void draw(Canvas& canvas, Rect area, const BeamDecision& decision, const std::vector<char>& lit,
            const Scene& scene);
  void scroll(const Input& in, const BeamDecision& decision);
  void input(const Input& in, const BeamDecision& decision, const Scene& scene,
             Reaction& reaction) const;
  // The number of rows in a picture of everything.
  static std::size_t rows(const BeamDecision& decision, const Scene& scene);

 private:
  float scroll_ = 0;
  struct {
    Rect area;
    float row = 0;
    std::size_t first = 0, last = 0;  // choices
    std::vector<Rect> finished;       // from finished_hypotheses(), as drawn
  } shown_;
};

// "will go on", "below the cut", …
std::string fate_text(BeamChoice::Fate fate);
// Σ log p of a finished hypothesis; NaN = not recorded.
float sum_of(const capture::SequenceRow& row, const Scene& scene);
// The hypotheses finished before the cursor, best final score first.
std::vector<capture::SequenceRow> finished_hypotheses(const Scene& scene);

}  // namespace triescope::viz
