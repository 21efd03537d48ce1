// The chart of a mixture's steps: how many different experts a layer reads for the step's rows, beside what
// one row reads and what rows that choose freely would read; on the right, the bytes of weights that makes.
#pragma once

#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/axis.h"
#include "viz/query/expert_use.h"

namespace triescope::viz {

class ExpertChart {
 public:
  void draw(Canvas& canvas, Rect area, const std::vector<ExpertStep>& steps,
            const MixtureSize& size, const Scene& scene);
  // Over a bar: its figures; a click goes there.
  void input(const Input& in, const std::vector<ExpertStep>& steps, const MixtureSize& size,
             Reaction& reaction) const;
  void clear() { plot_ = {}; }

 private:
  Rect plot_;  // as drawn
  AxisScale x_;
};

// "5 rows: 3.4 different experts a layer instead of 2.0", "a forward of 45 MB instead of 31 MB (× 1.45)".
std::vector<std::string> expert_step_lines(const ExpertStep& step, const MixtureSize& size);

}  // namespace triescope::viz
