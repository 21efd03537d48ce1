// VerdictHistory: the yield of a run's steps, below the verdicts of one of them: accepted drafts
// by step and as a histogram. For beams it is the margin: the smallest score gap between a kept
// beam and the best that was cut. It covers the scene's range as far as the cursor has seen it: an
// undecided step has its place, but no bar.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "viz/canvas/canvas.h"
#include "viz/draw/scene.h"
#include "viz/layouts/axis.h"

namespace triescope::viz {

class VerdictHistory {
 public:
  void clear();                  // nothing is drawn: the mouse meets nothing
  bool any(const Scene& scene);  // true if there is a chart to draw
  // Bars on the left, the histogram beside them, in the lowest `height` px of `area`.
  void draw(Canvas& canvas, Rect area, float height, const Scene& scene);
  void input(const Input& in, const Scene& scene, Reaction& reaction);

  // The parts can also be drawn as charts of their own.
  static bool is_of_drafts(const Scene& scene);  // true: drafts; false: margins
  struct StepValue {
    std::int32_t step = 0;
    float value = 0;
  };
  const std::vector<StepValue>& values_of(const Scene& scene);
  // The number of steps by accepted drafts, or by tenths of the margin.
  std::map<std::int32_t, int> histogram_of(const Scene& scene);
  void draw_bars(Canvas& canvas, Rect area, const Scene& scene);
  void draw_histogram(Canvas& canvas, Rect area, const Scene& scene);

 private:
  struct Chart {
    Rect area;
    AxisScale x;
  };

  const std::vector<StepValue>& all_values(const Scene& scene);
  // The values of the other run, whose axes this one shares; none where it counts something else.
  const std::vector<StepValue>& values_beside(const Scene& scene);
  std::optional<capture::Tick> next_with(const Scene& scene, std::int32_t bin);
  std::int32_t current_bin(const Scene& scene);

  const capture::Capture* values_for_ = nullptr;
  std::int64_t values_steps_ = -1, values_verdicts_ = -1;
  std::vector<StepValue> values_, seen_;
  std::unique_ptr<VerdictHistory> beside_;
  Chart bars_, histogram_;
};

}  // namespace triescope::viz
